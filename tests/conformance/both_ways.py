#!/usr/bin/env python3
"""The fast paths and the general paths give the same verdicts. While a trace is written every event takes the general
path of the recognizer, rules about pairs are followed in slices, no slice shares the events of others, and all partial matches are kept;
a .dpel log is read by a fast path that JSON Lines do not have.

    both_ways.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference, then one closing line."""
import json
import random
import subprocess
import sys

from cases import Cases, options, read, replay, write, write_log

RULES = """sync mutex(m): unlock(m) ; lock(m).exit
expect file(f): open(f) ; (read(f) + write(f))* ; close(f)
expect files(f): (open(f) ; (read(f) + write(f))* ; close(f))*
expect order: (open + close + read + write + lock.exit + unlock)*
expect begins: (open ; close?)*
expect strict: (open(_) ; read(_)* ; close(_))*
detect race(f): write(f) & (read(f) + write^(f))
detect pair: open(_) & close(_)
detect after(f): close(f) ; read(f) observing open(f)
detect both(f): read(f) & close(f)
detect after_two: (open(_) & close(_)) ; read(_)
detect after_alike: (read(_) & read^(_)) ; write(_)
detect after_three: (open(_) & close(_) & read(_)) ; write(_) ; read(_)
detect after_two_beside: ((open(_) & read(_)) ; write(_)) & close(_)
detect after_either: ((open(_) & close(_)) ; read(_)) + close(_) ; read(_)
detect since(f): open(_) ; close(f)
detect undisturbed(f): open(f) ; close(f) without unlock(_)
detect steps(f): (open(_) & lock(_).exit) ; read(f) ; write(f)
detect two(f, g): open(_) ; read(f) ; write(g)
detect ended(f): unlock(_) ; read(f) observing close(f) ends
detect itself(f): read(_) ; (read(f) & write(f))
detect choice(f): (open(_) + close(f)) ; (read(f) & write(f))
""".replace("close?", "(close + read)")


def make_log(dice, path):
    """Threads that share files, sometimes with locks; some events are missing, some texts are long, no rule has notes."""
    threads, files = dice.randint(1, 5), dice.randint(1, 8)
    numbers, named, lines = [0] * threads, dice.random() < 0.3, []
    for time in range(dice.randint(5, 120)):
        thread, file = dice.randrange(threads), dice.randrange(files)
        names = dice.choice((["open"], ["read", "write"], ["close"], ["lock.exit", "read", "unlock"], ["note"]))
        for name in names:
            value = (f"file-{file}" + "x" * 70 * (file % 3 == 0)) if named else file
            event = {"event": name, "thread": thread, "seq": numbers[thread], "time": 100 * time, "args": [value]}
            numbers[thread] += 1
            if dice.random() > 0.01:
                lines.append(event)
    write_log(path, lines)


def verdicts(dpe, spec, log, *more):
    run, lines = replay(dpe, spec, log, "--all", *more)
    if run.returncode not in (0, 1, 3):
        return [f"status {run.returncode}: {run.stderr[:300]}"]
    return sorted(json.dumps([v.get(key) for key in ("rule", "verdict", "event", "params", "expected", "reason", "messages")])
                  for v in lines if v.get("type") == "verdict")


def main():
    args, total = options(__doc__, count=60), 0
    with Cases(args) as cases:
        spec, plain, binary = (f"{cases.folder}/{name}" for name in ("r.dpe", "l.jsonl", "l.dpel"))
        write(spec, RULES)
        for number in range(args.count):
            make_log(random.Random(args.seed * 1000003 + number), plain)
            subprocess.run([args.dpe, "convert", plain, binary], check=False, capture_output=True)
            fast, general = verdicts(args.dpe, spec, binary), verdicts(args.dpe, spec, plain, "--trace=/dev/null")
            total += len(fast)
            cases.judge([sorted(set(fast) ^ set(general))[:4]] if fast != general or not fast and number == 0 else [], number)
    cases.require(total > 10 * args.count, f"only {total} verdicts")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
