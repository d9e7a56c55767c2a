#!/usr/bin/env python3
"""Where no lock and no data could let events come in another order, `predict` finds what `detect` finds, slice by slice:
random rules whose events bind some of the variables, over random executions.

    as_detected.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import sys

import rules
from cases import Cases, options, replay, write, write_log
from patterns import draw


def expression(rng, depth, names):
    if not depth:
        return "ev", rng.choice(names)
    kind = rng.choices(["seq", "par", "alt"], [45, 15, 40])[0]
    return kind, expression(rng, depth - 1, names), expression(rng, depth - 1, names)


def draw_log(rng, patterns):
    log = []
    for _ in range(rng.randint(4, 9)):
        values = {"x": rng.randint(1, 2), "y": rng.randint(1, 2), "T": rng.randint(1, 3)}
        message = rng.choice(patterns).message(rng, values, [1, 2, 3])
        if message:
            preceding = [f"e{j}" for j in range(len(log)) if rng.random() < 0.25]
            log.append({**message, "id": f"e{len(log)}", "pred": preceding})
    return rules.numbered(log)


def check(dpe, rng, folder):
    """What differs, or None if there is no such rule."""
    variables = rng.choice(["x", "xT", "xy", "xy"])
    patterns = {c: draw(rng, variables, False) for c in "ABCD"[: rng.choice([2, 3, 4])]}
    for pattern in patterns.values():
        pattern.condition = None
    if len({p.text() for p in patterns.values()}) < len(patterns):
        return None
    watched = draw(rng, variables, False)
    watched.condition = None
    text = rules.Writer(rng, patterns, 0).text(expression(rng, 2, [*patterns]), whole=True)
    text += f" without {watched.text()}" if rng.random() < 0.3 else ""
    spec, log = f"detect D: {text}\npredict P: {text}\n", draw_log(rng, [*patterns.values(), watched])
    write(f"{folder}/s.dpe", spec)
    write_log(f"{folder}/l.jsonl", log)
    run, lines = replay(dpe, f"{folder}/s.dpe", f"{folder}/l.jsonl", "--all", "--allow-unobserved")
    if "matches nothing" in run.stderr:
        return None
    found = {"D": set(), "P": set()}
    for verdict in lines:
        if verdict["type"] == "verdict":
            found[verdict["rule"]].add((verdict["verdict"], verdict["event"], json.dumps(verdict["params"], sort_keys=True)))
    if run.returncode in (0, 1) and found["D"] == found["P"]:
        return []
    return [f"{spec}{json.dumps(log)}\n{sorted(found['D'] ^ found['P'])} {run.stderr}"]


def main():
    with Cases(options(__doc__, count=100)) as cases:
        cases.draw(check)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
