#!/usr/bin/env python3
"""joined.py --dpe ./dpe --tiny build-tiny/dpe: random logs and rules whose values no event binds together;
the command of `make TINY=1` joins only few of them. Its conclusive verdicts are those of the usual command,
and where some are missing, the rule is inconclusive."""
import random
import sys

from cases import Cases, options, replay, write, write_log

RULES = ["a(x) ; b(y)", "a(x) ; (b(y) + c(x, y))", "(a(x) + b(y))*", "a(x) ; b(y) ; d(z)", "a(x) ; c(y, z)",
         "a(x) ; b(y) ; c(x, y)", "a(x) & b(y)", "(a(x) + b(y))* ; d(z)", "a(x) ; b(y) observing d(x) ends",
         "a(x) ; b(y) observing d(_) ends"]
ARGUMENTS = {"a": 1, "b": 1, "c": 2, "d": 1}


def random_log(dice):
    values, threads, seq = dice.randint(2, 8), dice.randint(1, 3), [0] * 3
    for _ in range(dice.randint(4, 60)):
        name, thread = dice.choice("aabbcd"), dice.randrange(threads)
        args = [dice.randrange(values) for _ in range(ARGUMENTS[name])]
        yield {"event": name, "thread": thread + 1, "seq": seq[thread], "args": args}
        seq[thread] += 1


def verdicts(dpe, spec, log):
    """The conclusive verdicts, and whether there are others. A violation may be noticed at different events."""
    run, lines = replay(dpe, spec, log, "--all")
    assert run.returncode in (0, 1, 3), (run.returncode, run.stderr)
    certain, doubt = set(), False
    for verdict in lines:
        if verdict["type"] != "verdict":
            continue
        kind = {"violated": "failed", "incomplete": "failed"}.get(verdict["verdict"], verdict["verdict"])
        doubt |= kind == "inconclusive"
        if kind != "inconclusive":
            certain.add((kind, kind == "match" and verdict["event"], str(verdict.get("params"))))
    return certain, doubt


def main():
    args = options(__doc__, count=300, tiny="build-tiny/dpe")
    dice, refused, whole = random.Random(args.seed), 0, 0
    with Cases(args) as cases:
        spec, log = f"{cases.folder}/j.dpe", f"{cases.folder}/j.jsonl"
        for number in range(args.count):
            rule = dice.choice(["detect", "expect"]) + " r(x, y, z): " + dice.choice(RULES)
            for unused in "zyx":
                if unused not in rule.split(":", 1)[1].replace("observing", ""):
                    rule = rule.replace(f", {unused})", ")").replace(f", {unused},", ",")
            write_log(log, random_log(dice))
            write(spec, rule + "\n")
            usual, doubt = verdicts(args.dpe, spec, log)
            few, some = verdicts(args.tiny, spec, log)
            refused, whole = refused + some, whole + (few == usual)
            bad = doubt or few - usual or (usual - few and not some)
            cases.judge([f"only with few: {sorted(few - usual)}, missing: {sorted(usual - few)}"] if bad else [], number, rule)
    cases.require(min(refused, whole) > args.count // 10, f"{refused} inconclusive, {whole} the same")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
