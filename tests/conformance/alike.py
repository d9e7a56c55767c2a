#!/usr/bin/env python3
"""Random `expect` rules with operands of & that differ in carets alone. Readings that are equal up to a swap
of such operands are followed once, unless an action names a position. The verdict must be the same with and
without such an action; short executions are compared with the reference semantics.

    alike.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import random
import subprocess
import sys

import dpe_oracle as oracle
import run
import wide
from cases import Cases, options

SHORT = 6  # events: as many as the reference semantics can handle
run.SECONDS = 10  # of a processor: without the reduction, a rule may take for ever


def renamed(e, cell, private):
    """The expression with the literals of one cell."""
    if e[0] == "ev":
        return ("ev", e[1] + "^" * cell) if e[1] in private else e
    return (e[0],) + tuple(renamed(x, cell, private) for x in e[1:])


def joined(kind, operands):
    e = operands[0]
    for other in operands[1:]:
        e = (kind, e, other)
    return e


def sequential(rng, depth, names):
    kind = rng.choice(["seq", "seq", "alt", "star"]) if depth else "ev"
    if kind == "ev":
        return ("ev", rng.choice(names))
    if kind == "star":
        return ("star", sequential(rng, depth - 1, names))
    return (kind, sequential(rng, depth - 1, names), sequential(rng, depth - 1, names))


def around(rng, name, cells, other):
    """An operand in which the events of one name of all cells are alternatives."""
    choice = joined("alt", [("ev", name + "^" * i) for i in rng.sample(range(cells), cells)])
    e = (("seq", choice, ("ev", other)) if rng.random() < 0.5 else ("seq", ("ev", other), choice))
    return ("star", e) if rng.random() < 0.8 else e


def path(rng, private, shared, cells):
    """An operand that repeats the operations of one cell, and knows which cell it is."""
    body = ("seq", ("ev", private[0]), sequential(rng, 2, private + shared))
    e = joined("alt", [renamed(body, i, private) for i in rng.sample(range(cells), cells)])
    return ("star", e) if rng.random() < 0.5 else e


def grid(rng, cells):
    """Permits and threads: each event belongs to one of either."""
    pair = lambda i, j: ("seq", ("ev", "a" + "^" * (i * 2 + j)), ("ev", "b" + "^" * (i * 2 + j)))
    rows = [("star", joined("alt", [pair(i, j) for j in range(2)])) for i in range(cells)]
    columns = [("star", joined("alt", [pair(i, j) for i in range(cells)])) for j in range(2)]
    return rows + columns


def operands(rng):
    cells = rng.choice([2, 2, 3, 3, 4])
    if rng.random() < 0.15:
        return grid(rng, min(cells, 3))
    private, shared = ["a", "b", "c"][: rng.choice([1, 2, 2, 3])], ["s", "t"][: rng.choice([0, 1, 1, 2])]
    cell = sequential(rng, rng.choice([1, 1, 2]), private + shared)
    if rng.random() < 0.7 and cell[0] != "star":
        cell = ("star", cell)
    all_ = [renamed(cell, i, private) for i in range(cells)]
    for other in ["x", "y"][: rng.choice([0, 1, 1, 2])]:
        all_.append(around(rng, rng.choice(private), cells, other))
    if rng.random() < 0.25:
        all_.append(path(rng, private, shared, cells))
    if rng.random() < 0.1:  # one that is not symmetric
        all_.append(sequential(rng, 1, ["a", "b^", "s"]))
    rng.shuffle(all_)
    return all_


def framed(rng, e):
    kind = rng.choice(["no"] * 6 + ["seq", "star", "alt"])
    if kind == "seq":
        return ("seq", ("seq", ("ev", "m"), e), ("ev", "n"))
    if kind == "star":
        return ("star", ("seq", e, ("ev", "m")))
    return ("alt", e, ("ev", "m")) if kind == "alt" else e


def nullable(e):
    if e[0] in ("seq", "alt"):
        return (all if e[0] == "seq" else any)(nullable(x) for x in e[1:])
    return e[0] == "star" or e == "nothing"


def after(e, literal):
    """What may follow the literal in a sequential expression: a list of remaining expressions."""
    if e == "nothing":
        return []
    if e[0] == "ev":
        return ["nothing"] if e[1] == literal else []
    if e[0] == "alt":
        return after(e[1], literal) + after(e[2], literal)
    if e[0] == "star":
        return [e if x == "nothing" else ("seq", x, e) for x in after(e[1], literal)]
    left = [e[2] if x == "nothing" else ("seq", x, e[2]) for x in after(e[1], literal)]
    return left + (after(e[2], literal) if nullable(e[1]) else [])


def walk(rng, parts, most):
    """A random execution of sequential operands of & that share events, and the order of its events."""
    literals = [oracle.literals(e) for e in parts]
    stand, last, labels, edges = list(parts), [None] * len(parts), [], []
    every = sorted(set().union(*literals))
    while len(labels) < most:
        able = [l for l in every
                if all(after(stand[i], l) for i in range(len(parts)) if l in literals[i])]
        if not able or (all(map(nullable, stand)) and rng.random() < 0.1):
            break
        literal, event = rng.choice(able), len(labels)
        labels.append(literal.rstrip("^"))
        for i in range(len(parts)):
            if literal in literals[i]:
                stand[i] = rng.choice(after(stand[i], literal))
                edges += [(last[i], event)] if last[i] is not None else []
                last[i] = event
    return labels, edges


def execution(rng, parts, e, framing):
    """An execution, mutated in half of the cases; None if none was found by chance."""
    most = rng.choice([SHORT, 12, 20])
    if framing:
        sample = oracle.sample(rng, e)
        if sample is None or len(sample[0]) > most:
            return None
        labels, edges = [l.rstrip("^") for l in sample[0]], sample[1]
    else:
        labels, edges = walk(rng, parts, most)
    if len(labels) < 2:
        return None
    for _ in range(rng.choice([0, 0, 1, 2])):
        labels, edges = oracle.mutate(rng, labels, edges, ["a", "b", "s", "x"])
    try:
        p = oracle.Pomset(labels, edges)
    except ValueError:
        return None
    return oracle.reorder(p, oracle.linear_extension(rng, p))[0]


def verdict(dpe, engine, expr, messages, folder):
    got, _ = run.replay(dpe, [f"--engine={engine}"], "expect", expr, messages, folder)
    return got[0]["verdict"], got[0].get("event"), got[0].get("expected", [])


def bare(expected):
    """What was expected, up to a swap of symmetric operands."""
    texts = (text.replace("^", "").replace(" first", "") for text in expected)
    return {(event, tuple(preds)) for event, preds in map(wide.as_set, texts)}


def differences(dpe, engine, e, p, messages, folder):
    """None where there is nothing to compare with."""
    expr, compared = oracle.show(e), False
    reported = verdict(dpe, engine, expr, messages, folder)
    if len(p.labels) <= SHORT:
        compared = True
        accepted, _ = oracle.expect(e, p)
        if (reported[0] == "satisfied") != accepted:
            return [f"{reported}, but accepted is {accepted}"]
    try:
        apart = verdict(dpe, "pa", f"({expr}) {{ print($1); }} else {{ print($1); }}", messages, folder)
    except subprocess.TimeoutExpired:
        return [] if compared else None
    except RuntimeError as failure:
        if "exit 3" not in str(failure):
            raise
        return [] if compared else None  # without the reduction it may have too many readings, which it reports
    if apart[:2] != reported[:2]:
        return [f"{reported}, but {apart} where positions are named"]
    if bare(reported[2]) != bare(apart[2]) or any(wide.as_set(x) not in map(wide.as_set, apart[2]) for x in reported[2]):
        return [f"expected {reported[2]}, and {apart[2]} where positions are named"]
    return []


def main():
    args = options(__doc__, count=100)
    rng, skipped = random.Random(args.seed), 0
    with Cases(args) as cases:
        while cases.passed + cases.failed < args.count:
            parts = operands(rng)
            e = joined("par", parts)
            whole = framed(rng, e)
            p = execution(rng, parts, whole, whole is not e)
            if p is None:
                continue
            messages = wide.messages_of(p)
            try:
                wrong = differences(args.dpe, "pa", whole, p, messages, cases.folder)
            except RuntimeError as failure:
                if "accepts nothing" in str(failure):
                    continue
                # As one automaton it may have too many readings as well, which it reports.
                wrong = None if "exit 3" in str(failure) else [str(failure)]
            except subprocess.TimeoutExpired:
                wrong = ["takes too long"]
            skipped += wrong is None
            if wrong is not None:
                cases.judge(wrong, oracle.show(whole), json.dumps(messages))
    cases.require(skipped <= args.count, f"{skipped} had nothing to compare with")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
