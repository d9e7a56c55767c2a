#!/usr/bin/env python3
"""joined.py --dpe ./dpe --tiny build-tiny/dpe: random logs and rules whose values no event binds together;
the command of `make TINY=1` joins only few of them. Its conclusive verdicts are those of the usual command,
and where some are missing, the rule is inconclusive."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

RULES = ["a(x) ; b(y)", "a(x) ; (b(y) + c(x, y))", "(a(x) + b(y))*", "a(x) ; b(y) ; d(z)", "a(x) ; c(y, z)",
         "a(x) ; b(y) ; c(x, y)", "a(x) & b(y)", "(a(x) + b(y))* ; d(z)", "a(x) ; b(y) observing d(x) ends",
         "a(x) ; b(y) observing d(_) ends"]
ARGUMENTS = {"a": 1, "b": 1, "c": 2, "d": 1}


def write_log(path, dice):
    values, threads, seq = dice.randint(2, 8), dice.randint(1, 3), [0] * 3
    with open(path, "w") as log:
        for _ in range(dice.randint(4, 60)):
            name, thread = dice.choice("aabbcd"), dice.randrange(threads)
            args = [dice.randrange(values) for _ in range(ARGUMENTS[name])]
            log.write(json.dumps({"event": name, "thread": thread + 1, "seq": seq[thread], "args": args}) + "\n")
            seq[thread] += 1


def verdicts(dpe, spec, log):
    """The conclusive verdicts, and whether there are others. A violation may be noticed at different events."""
    run = subprocess.run([dpe, "replay", "--format=json", "--all", "-s", spec, log], capture_output=True, text=True)
    assert run.returncode in (0, 1, 3), (run.returncode, run.stderr)
    certain, doubt = set(), False
    for verdict in map(json.loads, run.stdout.splitlines()):
        if verdict["type"] != "verdict":
            continue
        kind = {"violated": "failed", "incomplete": "failed"}.get(verdict["verdict"], verdict["verdict"])
        doubt |= kind == "inconclusive"
        if kind != "inconclusive":
            certain.add((kind, kind == "match" and verdict["event"], str(verdict.get("params"))))
    return certain, doubt


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dpe", default="./dpe")
    parser.add_argument("--tiny", default="build-tiny/dpe")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    if not os.path.exists(arguments.tiny) and os.environ.get("DPE_LIVE") != "require":
        print(f"ok - combinations of values # skip {arguments.tiny} was not built: make TINY=1")
        return 0
    dice, wrong, refused, whole = random.Random(arguments.seed), [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        spec, log = os.path.join(folder, "j.dpe"), os.path.join(folder, "j.jsonl")
        for number in range(arguments.count):
            rule = dice.choice(["detect", "expect"]) + " r(x, y, z): " + dice.choice(RULES)
            for unused in "zyx":
                if unused not in rule.split(":", 1)[1].replace("observing", ""):
                    rule = rule.replace(f", {unused})", ")").replace(f", {unused},", ",")
            write_log(log, dice)
            with open(spec, "w") as f:
                f.write(rule + "\n")
            usual, doubt = verdicts(arguments.dpe, spec, log)
            few, some = verdicts(arguments.tiny, spec, log)
            refused, whole = refused + some, whole + (few == usual)
            if doubt or few - usual or (usual - few and not some):
                wrong.append((number, rule, sorted(few - usual), sorted(usual - few), open(log).read()))
    for number, rule, more, less, text in wrong[:3]:
        print(f"# {number}: {rule}\n#   only with few: {more}\n#   missing: {less}\n# " + text.replace("\n", "\n# "))
    good = not wrong and refused > arguments.count // 10 and whole > arguments.count // 10
    print(f"{'ok' if good else 'not ok'} - combinations of values: {refused} inconclusive, {whole} the same, {len(wrong)} wrong")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
