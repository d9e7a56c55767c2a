#!/usr/bin/env python3
"""DPE → net (PNML) → DPE: the way back must mean the same.

    roundtrip.py [--dpe ./dpe] [--seed N] [--count N] [--engine pa|net|auto]

Draws vectors from dpe_oracle.py, writes the net of each safe expression, turns that into an
expression, and holds it against what the reference semantics say of the first one. A net that
dpe refuses as too large, or whose expression cannot be followed in ten seconds, is counted; more
than one in twenty is a failure, and so is any other error.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dpe_oracle as oracle
import run

run.SECONDS = 10
TOO_LARGE = ("too many", "more than")


def command(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def translate(dpe, expression, folder):
    """The expression that comes back, or None where the net is too large."""
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
    return "\n".join(line for line in rule.split("\n") if not line.startswith("//"))


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


def main(argv):
    options = dict(zip(argv[1::2], argv[2::2]))
    dpe, engine = options.get("--dpe", "./dpe"), options.get("--engine", "auto")
    seed, count = int(options.get("--seed", 1)), int(options.get("--count", 100))
    passed = failed = large = 0
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for vector in oracle.vectors(seed, count):
            try:
                wrong = check(dpe, engine, vector, folder)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                wrong = [f"{type(error).__name__}: {error}"]
            large += wrong is None
            passed, failed = passed + (wrong == []), failed + bool(wrong)
            for what in wrong or []:
                print(json.dumps(vector), what)
    if large * 20 > count:
        print(f"{large} of {count} were too large")
        failed += 1
    print(f"{large} too large")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
