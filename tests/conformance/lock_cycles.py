#!/usr/bin/env python3
"""check_order reports every cycle of acquisitions, whatever their order in the log; for damaged logs it
reports no cycle that did not occur, and is never conclusive where one is missing.

    lock_cycles.py [--dpe DPE] [--count N] [--seed S]

Makes random executions of threads that take locks, exclusive and shared, and create and join each
other, and send to each other through objects; enumerates all cycles from the definition, and compares. An
inconclusive rule, or a cycle that is reported as one of several at its places, may leave some out. Prints TAP
lines; exits 1 if one is missing or should not be there.
"""
import random
import sys

import damage
from cases import Cases, options, replay, write

SPEC = """
expect locks(x, T): (lock(x) by T { check_order(T, x); hold(T, x); }
 + shared(x) by T { check_order(T, x); share(T, x); }
 + unlock(x) by T { unhold(T, x); })*
expect threads(p, T): (create(p) by T { creates(T, p); } + start(p) by T { begins(T, p); }
 + quit(p) by T { ended(T); } + join(p) by T { joined(T, p); })*
expect channels(x, T): (send(x) by T { sends(T, x); } + receive(x) by T { receives(T, x); }
 + open(x) by T { unordered(x); } + reset(x) by T { forget(x); })*
"""


def random_log(rng):
    """Messages as they happened: (event, thread, argument). Nobody takes a lock that is held."""
    locks, most, log = rng.randint(3, 5), rng.randint(2, 6), []
    held, ended, born = {t: {} for t in range(rng.randint(1, 4))}, [], 10
    shares, sends = rng.random() < 0.3, rng.random() < 0.5
    for _ in range(rng.randint(10, 120)):
        thread = rng.choice(list(held))
        mine, choice = held[thread], rng.random()
        if choice < 0.04 and len(held) + len(ended) < most:
            log += [("create", thread, born), ("start", born, born)]
            held[born] = {}
            born += 1
        elif choice < 0.07 and thread >= 10 and not mine:
            log.append(("quit", thread, thread))
            del held[thread]
            ended.append(thread)
        elif choice < 0.1 and ended:
            log.append(("join", thread, ended.pop()))
        elif choice < 0.25 and sends:
            event = rng.choice(["send", "receive"] * 8 + ["open", "reset"])
            log.append((event, thread, rng.choice("xy")))
        elif choice < 0.65 and len(mine) < 3:
            lock, shared = rng.randrange(locks), shares and rng.random() < 0.5
            others = [h[lock] for h in held.values() if lock in h]
            if lock not in mine and (not others or shared and all(others)):
                mine[lock] = shared
                log.append(("shared" if shared else "lock", thread, lock))
        elif mine:
            lock = rng.choice(list(mine))
            del mine[lock]
            log.append(("unlock", thread, lock))
    return log


def acquisitions(log):
    """(thread, lock, held locks and whether shared, place, places that precede it): creation,
    joining and sends order threads, locks do not."""
    before, held, left, found = {}, {}, {}, []
    unordered = set()
    for place, (event, thread, argument) in enumerate(log):
        past = before.setdefault(thread, set())
        mine = held.setdefault(thread, {})
        if event in ("start", "join"):
            past |= left.get(argument, set())
        if event in ("lock", "shared"):
            found.append((thread, argument, dict(mine), place, frozenset(past)))
            mine[argument] = event == "shared"
        elif event == "unlock":
            del mine[argument]
        elif event == "receive" and argument not in unordered:
            past |= left.get(argument, set())
        elif event in ("open", "reset"):
            left.pop(argument, None)
            (unordered.add if event == "open" else unordered.discard)(argument)
        past.add(place)
        if event == "send":
            left[argument] = left.get(argument, set()) | past
        if event in ("create", "quit"):
            left[argument] = set(past)
    return found


def compatible(a, b):
    if a[0] == b[0] or a[3] in b[4] or b[3] in a[4]:
        return False
    return all(a[2][lock] and b[2][lock] for lock in a[2].keys() & b[2].keys())


def canonical(locks):
    at = locks.index(min(locks))
    return tuple(locks[at:] + locks[:at])


def all_cycles(log):
    """Each cycle as its locks, each held by the thread that takes the next one."""
    found, by_thread = set(), {}
    for a in acquisitions(log):
        by_thread.setdefault(a[0], {}).setdefault((a[1], tuple(sorted(a[2].items()))), []).append(a)
    everything = [a for kinds in by_thread.values() for some in kinds.values() for a in some]

    def extend(path):
        last = path[-1]
        if len(path) > 1 and last[1] in path[0][2]:
            found.add(canonical([a[1] for a in path]))
        for a in everything:
            if last[1] in a[2] and all(a[1] != b[1] and compatible(a, b) for b in path):
                extend([*path, a])

    for a in everything:
        extend([a])
    return found


def messages(log):
    numbers = {}
    for time, (event, thread, argument) in enumerate(log):
        number = numbers[thread] = numbers.get(thread, -1) + 1
        yield {"event": event, "thread": thread, "seq": number, "time": time + 1, "args": [argument]}


def deadlocks_of(dpe, folder, text):
    path = f"{folder}/log.jsonl"
    write(path, text)
    run, lines = replay(dpe, f"{folder}/locks.dpe", path)
    if run.returncode not in (0, 1, 2, 3):
        sys.exit(run.stderr)
    return ([line for line in lines if line.get("kind") == "potential deadlock" and "reason" not in line],
            any("inconclusive" in (line.get("kind"), line.get("verdict")) or "reason" in line for line in lines),
            run.returncode)


def differences(dpe, folder, log, expected, kind, rng):
    deadlocks, inconclusive, status = deadlocks_of(dpe, folder, damage.damaged(rng, list(messages(log)), kind))
    found, more = set(), set()
    for deadlock in deadlocks:
        cycle = canonical([wait["object"] for wait in reversed(deadlock["waits"])])
        found.add(cycle)
        if deadlock.get("others"):
            more.add(frozenset(cycle))
    missing = {c for c in expected - found if not inconclusive and frozenset(c) not in more}
    if not status and expected:
        missing.add("status 0")
    return missing, found - expected, inconclusive


def main():
    args = options(__doc__, count=150)
    rng, cycles, doubts = random.Random(args.seed), 0, 0
    with Cases(args) as cases:
        write(f"{cases.folder}/locks.dpe", SPEC)
        for number in range(args.count):
            log = random_log(rng)
            expected = all_cycles(log)
            cycles += len(expected)
            for kind in damage.KINDS:
                missing, extra, inconclusive = differences(args.dpe, cases.folder, log, expected, kind, rng)
                doubts += inconclusive and kind in damage.COMPLETE
                cases.judge([f"missing {missing}, not there {extra}: {log}"] if missing or extra else [], number, kind)
    cases.require(cycles > args.count / 2 and doubts < args.count / 10, f"{cycles} cycles, {doubts} inconclusive")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
