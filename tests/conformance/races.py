#!/usr/bin/env python3
"""Races of random STD traces, compared with a happens-before checker that examines all pairs.

    races.py [--dpe DPE] [--rules FILE] [--count N] [--seed S]

For each trace, dpe must report exactly the accesses that race with an earlier one: both from the trace and
from a .dpel log of it. Prints TAP lines; exits 1 if they differ.
"""
import os
import random
import subprocess
import sys

from cases import Cases, options, replay


def random_trace(rng):
    """A valid execution as (thread, operation, object)."""
    locks = [f"L{i}" for i in range(rng.randint(1, 3))]
    variables = [f"V{i}" for i in range(rng.randint(1, 5))]
    holder, trace = {}, []
    running = [f"T{i}" for i in range(rng.randint(1, 3))]
    born, joinable = len(running), []
    for _ in range(rng.randint(5, 70)):
        thread = rng.choice(running)
        held = [lock for lock in locks if holder.get(lock) == thread]
        free = [lock for lock in locks if lock not in holder]
        choice = rng.random()
        if choice < 0.08 and born < 6:
            child, born = f"T{born}", born + 1
            trace.append((thread, "fork", child))
            running.append(child)
        elif choice < 0.14 and len(running) > 1 and not held:
            running.remove(thread)
            joinable.append(thread)
            continue
        elif choice < 0.24 and joinable:
            trace.append((thread, "join", joinable.pop(rng.randrange(len(joinable)))))
        elif choice < 0.40 and free:
            lock = rng.choice(free)
            holder[lock] = thread
            trace.append((thread, "acq", lock))
        elif choice < 0.58 and held:
            lock = rng.choice(held)
            del holder[lock]
            trace.append((thread, "rel", lock))
        else:
            trace.append((thread, rng.choice("rw"), rng.choice(variables)))
    return trace


def happens_before(trace):
    """For each event the bits of those before it."""
    last_of, last_rel, before = {}, {}, []
    for i, (thread, operation, what) in enumerate(trace):
        bits = 0
        sources = [last_of.get(thread)]
        if operation == "acq":
            sources.append(last_rel.get(what))
        if operation == "join":
            sources.append(last_of.get(what))
        for source in sources:
            if source is not None:
                bits |= before[source] | 1 << source
        before.append(bits)
        last_of[thread] = i
        if operation == "rel":
            last_rel[what] = i
        if operation == "fork":
            last_of[what] = i  # what the child does follows
    return before


def expected_races(trace):
    """(rule, variable, number of the access in the trace) of each that races with an earlier one."""
    before, found = happens_before(trace), set()
    accesses = [i for i, event in enumerate(trace) if event[1] in "rw"]
    for b in accesses:
        for a in accesses:
            kinds = {trace[a][1], trace[b][1]}
            if a >= b or trace[a][2] != trace[b][2] or kinds == {"r"} or before[b] >> a & 1:
                continue
            found.add(("write_write" if kinds == {"w"} else "read_write", trace[b][2], b))
    return found


def found_races(dpe, rules, path):
    ran, lines = replay(dpe, rules, path, "--all")
    found = set()
    for verdict in lines:
        if verdict["type"] != "verdict":
            continue
        by_id = {m["id"]: m for m in verdict["messages"]}
        found.add((verdict["rule"], verdict["params"]["x"], by_id[verdict["event"]]["loc"]))
    if ran.returncode != (1 if found else 0) or ran.stderr:
        return f"exit status {ran.returncode}: {ran.stderr}"
    return found


def check(dpe, rules, trace, folder):
    """What is wrong, or None."""
    path = os.path.join(folder, "trace.std")
    with open(path, "w", encoding="ascii") as to:
        for i, (thread, operation, what) in enumerate(trace):
            to.write(f"{thread}|{operation}({what})|{i}\n")
    binary = os.path.join(folder, "trace.dpel")
    subprocess.run([dpe, "convert", path, binary], check=True)
    wanted = expected_races(trace)
    for log in (path, binary):
        found = found_races(dpe, rules, log)
        if found != wanted:
            return f"{log}: found {found}, wanted {wanted}"
    return None


def main():
    args = options(__doc__, count=100, rules="dpe-lang/std/rapid.dpe")
    racy = 0
    with Cases(args) as cases:
        for number in range(args.count):
            trace = random_trace(random.Random(f"{args.seed}:{number}"))
            racy += bool(expected_races(trace))
            wrong = check(args.dpe, args.rules, trace, cases.folder)
            cases.judge([wrong] if wrong else [], f"trace {args.seed}:{number}", trace)
    print(f"{'not ok' if cases.failed else 'ok'} - the races of {args.count} random traces, {racy} of them racy")
    return 1 if cases.failed else 0


if __name__ == "__main__":
    sys.exit(main())
