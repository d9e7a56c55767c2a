#!/usr/bin/env python3
"""DPE → net (PNML) → DPE: the result must mean the same.

    roundtrip.py [--dpe ./dpe] [--seed N] [--count N] [--engine pa|net|auto] [--refused N]

Draws vectors from dpe_oracle.py, every second one of an expression with * and & within each other,
writes the net of each safe expression, translates that into an expression, and compares this with the
reference semantics of the first one. A net that dpe refuses, or whose expression cannot be
followed in 20 seconds of a processor, is counted; more than `--refused` (0) are a failure, and so is any other
error. An expression whose operands of & share no event has to come back with as many events as it
has without empty rounds (those of its net), or fewer.
"""
import json
import os
import re
import subprocess
import sys

import dpe_oracle as oracle
import limited
import run
from cases import Cases, options, reasons


run.SECONDS = 20
TOO_LARGE = ("not supported: ",)


def command(*words):
    return limited.run(words, 120)


def nested(rng, depth, names, unsafe=False):
    """Repetitions of independent operands, in which silent transitions fork and join."""
    if depth <= 0 or rng.random() < 0.1:
        return ("ev", rng.choice(names))
    kind = rng.choice(["star", "star", "par", "par", "seq", "alt"])
    if kind == "star":
        return ("star", nested(rng, depth - 0.5, names))
    return (kind, nested(rng, depth - 1, names), nested(rng, depth - 1, names))


def drawn(seed, count):
    """Vectors, alternately of both kinds."""
    plain = oracle.random_expr
    flat, deep = oracle.vectors(seed, (count + 1) // 2), oracle.vectors(seed, count // 2)
    for i in range(count):
        oracle.random_expr = nested if i % 2 else plain
        try:
            yield next(deep if i % 2 else flat)
        finally:
            oracle.random_expr = plain


def share(e):
    if e[0] == "par" and oracle.literals(e[1]) & oracle.literals(e[2]):
        return True
    return any(share(x) for x in e[1:] if isinstance(x, tuple))


def grows(expression, net, back):
    """Whether more events come back than the net has."""
    if share(oracle.parse(expression)):
        return False
    return len(re.findall(r"[a-z]\^*", back)) > len(re.findall("<transition id=[^>]*><name><text>[^<]", net))


def translate(dpe, expression, folder):
    """The expression that comes back, or None where the net is refused."""
    spec, net = os.path.join(folder, "r.dpe"), os.path.join(folder, "r.pnml")
    with open(spec, "w") as f:
        f.write(f"expect R: {expression}\n")
    out = command(dpe, "compile", "--emit=pnml", spec)
    if out.returncode:
        raise RuntimeError(out.stderr[:300])
    with open(net, "w") as f:
        f.write(out.stdout)
    back = command(dpe, "compile", net)
    if back.returncode == 2 and any(text in back.stderr for text in TOO_LARGE):
        return None
    if back.returncode:
        raise RuntimeError(back.stderr[:300])
    rule = back.stdout.split("expect R: ", 1)[1]
    rule = "\n".join(line for line in rule.split("\n") if not line.startswith("//"))
    if grows(expression, out.stdout, rule.split("observing")[0]):
        raise RuntimeError(f"longer: {rule[:300]}")
    return rule


def check(dpe, engine, vector, folder):
    back = translate(dpe, vector["dpe"], folder)
    if back is None:
        return None
    first = run.replay
    run.replay = lambda d, options, mode, _, *rest: first(d, options, mode, back, *rest)
    try:
        wrong = run.check(dpe, [f"--engine={engine}"], vector, None, folder)
    except subprocess.TimeoutExpired:
        return None
    finally:
        run.replay = first
    return [f"{w}, as {back[:300]}" for w in wrong]


def main():
    args, refused = options(__doc__, count=100, engine="auto", refused=0), 0
    with Cases(args) as cases:
        for vector in drawn(args.seed, args.count):
            wrong = reasons(check, args.dpe, args.engine, vector, cases.folder)
            if wrong is None:
                refused += 1
                print("refused", vector["dpe"])
            else:
                cases.judge(wrong, json.dumps(vector))
    print(f"{refused} refused")
    cases.require(refused <= args.refused, f"more than {args.refused} were refused")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
