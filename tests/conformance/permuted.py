#!/usr/bin/env python3
"""Any permutation of a log gives the same verdicts.

    permuted.py [--dpe DPE] [--count N] [--messages N] [--seed S]
    permuted.py [--dpe DPE] --spec SPEC LOG.jsonl ...

Makes random executions of threads with locks, forks and joins, with the times of one clock and the
numbers of each thread, and replays them in their own order and in others. Or takes recorded logs.
Prints TAP lines; exits 1 where verdicts differ.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from cases import options, read, write

SPEC = """
sync last lock(l): rel(l) ; acq(l).exit
sync once begun(t): fork(t) ; begin by t
sync last ended(t): end by t ; join(t).exit
detect ww(x): w(x) & w^(x)
detect rw(x): r(x) & w(x)
detect rwr(x): r(x) ; w(x) ; r^(x)
expect locks(l): (acq(l).exit ; rel(l))*
expect thread(t): (r by t + w by t + acq.exit by t + rel by t)* observing begin by t
expect few(x): (r(x) ; w(x) + w^(x) ; r^(x) + r^^(x) & r^^^(x))*
"""


def random_log(rng, most):
    """Messages as they happened: (event, thread, argument)."""
    holder, running, born, ended, log = {}, [0], 1, [], []
    locks, variables = rng.randint(1, 6), rng.randint(1, 40)
    count = rng.randint(most // 4, most)
    while len(log) < count:
        thread = rng.choice(running)
        mine = [l for l, t in holder.items() if t == thread]
        choice = rng.random()
        if choice < 0.02 and born < 12:
            log.append(("fork", thread, born))
            log.append(("begin", born, None))
            running.append(born)
            born += 1
        elif choice < 0.03 and len(running) > 1 and not mine and thread:
            log.append(("end", thread, None))
            running.remove(thread)
            ended.append(thread)
        elif choice < 0.04 and ended:
            log.append(("join.exit", thread, ended.pop()))
        elif choice < 0.15:
            lock = rng.randrange(locks)
            if lock not in holder:
                holder[lock] = thread
                log.append(("acq.exit", thread, lock))
        elif choice < 0.3 and mine:
            lock = rng.choice(mine)
            del holder[lock]
            log.append(("rel", thread, lock))
        elif choice >= 0.3:
            log.append((rng.choice("rrw"), thread, rng.randrange(variables)))
    return log


def lines_of(rng, log):
    seq, lines, time = {}, [], 0
    for event, thread, argument in log:
        time += rng.randint(1, 3)
        message = {"event": event, "thread": thread, "seq": seq.get(thread, 0), "time": time}
        seq[thread] = message["seq"] + 1
        if argument is not None:
            message["args"] = [argument]
        lines.append(json.dumps(message))
    return lines


def permutations(rng, lines):
    yield lines[::-1]
    for _ in range(2):
        other = lines[:]
        rng.shuffle(other)
        yield other
    blocks = [lines[i:i + 100] for i in range(0, len(lines), 100)]
    rng.shuffle(blocks)
    yield [line for block in blocks for line in block]


# Places, which are others in each order: the messages themselves, with thread and number, follow.
PLACES = re.compile(r'"(?:event|id|before|events)":(?:\d+|\[[\d,]*\]),')


def verdicts(dpe, folder, spec, lines):
    path = f"{folder}/log.jsonl"
    write(path, "".join(line + "\n" for line in lines))
    run = subprocess.run([dpe, "replay", "--format=json", "--all", "--on-break=continue", "-s", spec, path],
                         capture_output=True, text=True)
    found = [PLACES.sub("", line) for line in run.stdout.splitlines() if '"place"' not in line]
    return run.returncode, run.stderr, sorted(found)


def compare(args, rng, folder, spec, lines, name):
    expected = verdicts(args.dpe, folder, spec, lines)
    good = expected[0] in (0, 1) and not expected[1] and bool(expected[2])
    for other in permutations(rng, lines):
        good &= verdicts(args.dpe, folder, spec, other) == expected
    print(f"{'ok' if good else 'not ok'} - {name}: {len(lines)} messages in 5 orders, {len(expected[2])} lines of verdicts")
    if not good:
        print("\n".join("#   " + line for line in expected[1].splitlines()[:10]))
    return good


def recorded(path):
    """The lines of a log without what says that they are in causal order, which a permutation is not."""
    for message in read(path):
        if not {"dpe_log", "dpe_lost"} & set(message):
            yield json.dumps({name: value for name, value in message.items() if name not in ("id", "pred", "stack")})


def main():
    args = options(__doc__, count=10, vectors="*", messages=10000, spec="")
    rng, good = random.Random(args.seed), True
    with tempfile.TemporaryDirectory() as folder:
        for path in args.vectors:
            good &= compare(args, rng, folder, args.spec, list(recorded(path)), os.path.basename(path))
        if args.vectors:
            return not good
        spec = f"{folder}/spec.dpe"
        write(spec, SPEC)
        for number in range(args.count):
            most = args.messages if number % 3 == 0 else args.messages // 20
            lines = lines_of(rng, random_log(rng, most))
            good &= compare(args, rng, folder, spec, lines, f"log {number}")
    return not good


if __name__ == "__main__":
    sys.exit(main())
