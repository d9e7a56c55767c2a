#!/usr/bin/env python3
"""The fast paths and the general paths give the same verdicts. While a trace is written every event takes the general
path of the recognizer, rules about pairs are followed in slices, no slice shares the events of others, and all partial matches are kept;
a .dpel log is read by a fast path that JSON Lines do not have.

    both_ways.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference, then one closing line."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

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
    """Threads that share files, sometimes with locks; some events are missing, some texts are long."""
    threads, files = dice.randint(1, 5), dice.randint(1, 8)
    numbers, named, lines = [0] * threads, dice.random() < 0.3, []
    for time in range(dice.randint(5, 120)):
        thread, file = dice.randrange(threads), dice.randrange(files)
        names = dice.choice((["open"], ["read", "write"], ["close"], ["lock.exit", "read", "unlock"]))
        for name in names:
            value = (f"file-{file}" + "x" * 70 * (file % 3 == 0)) if named else file
            event = {"event": name, "thread": thread, "seq": numbers[thread], "time": 100 * time, "args": [value]}
            numbers[thread] += 1
            if dice.random() > 0.01:
                lines.append(json.dumps(event) + "\n")
    with open(path, "w") as log:
        log.writelines(lines)


def verdicts(dpe, folder, log, *options):
    run = subprocess.run([dpe, "replay", "--all", "--format=json", *options, "-s", f"{folder}/r.dpe", log], capture_output=True, text=True)
    if run.returncode not in (0, 1, 3):
        return [f"status {run.returncode}: {run.stderr[:300]}"]
    reported = (json.loads(line) for line in run.stdout.splitlines())
    return sorted(json.dumps([v.get(key) for key in ("rule", "verdict", "event", "params", "expected", "reason", "messages")])
                  for v in reported if v.get("type") == "verdict")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dpe", default="./dpe")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    args = parser.parse_args()
    failed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/r.dpe", "w") as rules:
            rules.write(RULES)
        for number in range(args.count):
            make_log(random.Random(args.seed * 1000003 + number), f"{folder}/l.jsonl")
            subprocess.run([args.dpe, "convert", f"{folder}/l.jsonl", f"{folder}/l.dpel"], check=False, capture_output=True)
            fast = verdicts(args.dpe, folder, f"{folder}/l.dpel")
            general = verdicts(args.dpe, folder, f"{folder}/l.jsonl", "--trace=/dev/null")
            total += len(fast)
            if fast != general or not fast and number == 0:
                failed += 1
                print(f"# seed {args.seed}, log {number}: {sorted(set(fast) ^ set(general))[:4]}")
    if total <= 10 * args.count:
        failed += 1
        print(f"# only {total} verdicts")
    print(f"{args.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
