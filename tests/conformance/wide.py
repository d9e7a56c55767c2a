#!/usr/bin/env python3
"""Random expressions with many & between operands that share few events or none: every engine must give the
same verdict for long executions, and that of the reference semantics for short ones.

    wide.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import random
import string
import subprocess
import sys

import dpe_oracle as oracle
import run
from cases import Cases, options

ENGINES = ("pa", "net", "auto")
SHORT = 7  # events: as many as the reference semantics can handle
LONG = 40
SEARCHED = 24  # of longer ones, some rules followed as a whole have more partial matches than can be waited for


def expression(rng, depth, names):
    """The operands of & mostly have event names of their own."""
    if depth == 0 or len(names) < 2:
        return oracle.random_expr(rng, rng.choice([0, 1, 1, 2]), names)
    kind = rng.choices(["par", "seq", "alt", "star"], [5, 3, 1, 2])[0]
    if kind == "star":
        return ("star", expression(rng, depth - 1, names))
    if kind in ("seq", "alt") and rng.random() < 0.3:
        return (kind, expression(rng, depth - 1, names), expression(rng, depth - 1, names))
    rng.shuffle(names)
    at = rng.randrange(1, len(names))
    left, right = names[:at], names[at:]
    if rng.random() < 0.15:
        right = right + [left[0]]
    return (kind, expression(rng, depth - 1, left), expression(rng, depth - 1, right))


def execution(rng, e, names, most):
    """A behaviour of the expression, mutated in half of the cases; None if none was found by chance."""
    sample = oracle.sample(rng, e)
    if sample is None or not 2 <= len(sample[0]) <= most:
        return None
    labels, edges = [l.rstrip("^") for l in sample[0]], sample[1]
    for _ in range(rng.choice([0, 0, 1, 2])):
        labels, edges = oracle.mutate(rng, labels, edges, names + ["x"])
    try:
        p = oracle.Pomset(labels, edges)
    except ValueError:
        return None
    return oracle.reorder(p, oracle.linear_extension(rng, p))[0]


def messages_of(p):
    every = range(len(p.labels))
    return [{"id": f"e{i}", "event": p.labels[i], "pred": [f"e{j}" for j in p.immediate(i, every)]} for i in every]


def as_set(text):
    """"c after a and b": engines list predecessors in different orders."""
    event, _, preds = text.partition(" after ")
    return event, sorted(preds.split(" and "))


def verdicts(dpe, engine, mode, expr, messages, folder):
    """What is reported, in a form that can be compared."""
    got, status = run.replay(dpe, [f"--engine={engine}"], mode, expr, messages, folder)
    if mode == "detect":
        return [(v["verdict"], v.get("event")) for v in got], status
    return [(v["verdict"], v.get("event"), sorted(map(as_set, v.get("expected", [])))) for v in got], status


def differences(dpe, e, messages, folder):
    """Where operands synchronise, a net sees some violations later than automata do."""
    expr = oracle.show(e)
    for mode in ("expect", "detect") if len(messages) <= SEARCHED else ("expect",):
        reported = {}
        for engine in ENGINES:
            try:
                reported[engine] = verdicts(dpe, engine, mode, expr, messages, folder)
            except (RuntimeError, subprocess.TimeoutExpired) as failed:
                reported[engine] = str(failed)
        for engine in ENGINES[1:]:
            late = mode == "expect" and oracle.synchronises(e) and engine == "net"
            if reported[engine] != reported["pa"] and not late:
                yield f"{mode}: {engine} says {reported[engine]}, pa {reported['pa']}"


def against_reference(dpe, e, p, messages, folder):
    accepted, _ = oracle.expect(e, p)
    done = [f"e{i}" for i in oracle.detect(e, p)]
    got, _ = verdicts(dpe, "auto", "expect", oracle.show(e), messages, folder)
    if (got[0][0] == "satisfied") != accepted:
        yield f"expect: {got}, but accepted is {accepted}"
    got, _ = verdicts(dpe, "auto", "detect", oracle.show(e), messages, folder)
    if [event for _, event in got] != done:
        yield f"detect: {got}, but matches end at {done}"


def main():
    args = options(__doc__, count=100)
    rng = random.Random(args.seed)
    with Cases(args) as cases:
        while cases.passed + cases.failed < args.count:
            names = list(string.ascii_lowercase[: rng.choice([4, 6, 8, 10])])
            e = expression(rng, rng.choice([2, 3, 4]), list(names))
            p = execution(rng, e, names, rng.choice([SHORT, LONG]))
            if p is None:
                continue
            messages = messages_of(p)
            wrong = list(differences(args.dpe, e, messages, cases.folder))
            if len(p.labels) <= SHORT:
                wrong += against_reference(args.dpe, e, p, messages, cases.folder)
            cases.judge(wrong, oracle.show(e), json.dumps(messages))
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
