#!/usr/bin/env python3
"""Random numbers in all spellings: compared in conditions, with each other, with variables of the message and with literals, and
as values of a rule's variables; against exact fractions.

    numerals.py [--dpe ./dpe] [--seed N] [--count N]

Half of the logs are converted to .dpel first. Prints each difference and a closing line with the seed, which reproduces it.
"""
import collections
import json
import sys
from fractions import Fraction

import limited
from cases import Cases, options, write

NEAR = [0, 1, 2**53, 2**63, 2**64, 2**127, 2**128, 10**40]
PAIRS = 30
LITERALS = 6
COMPARED = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b}


def numeral(rng):
    whole = rng.choice([1, 1, -1]) * (rng.choice(NEAR) + rng.randint(-1, 1)) if rng.random() < 0.6 else rng.randint(-10, 10)
    kind = rng.randrange(5)
    if kind == 0:
        return f"{whole}.{rng.choice(['0', '00', '5', '25', '1000000000000000055'])}"
    if kind == 1:
        return f"{whole}e{rng.randint(0, 20)}"
    if kind == 2:
        return f"{rng.uniform(-10, 10)!r}"
    return str(whole)


def is_literal(text):
    return text.isdigit() and int(text) < 2**128 or not text.lstrip("-").isdigit()


def draw_rules(literals):
    """By name, each with its text and what makes (a, b) a match."""
    rules = {"same": ("(x): f(x, x, n)", lambda a, b: a == b)}
    for at, text in enumerate(literals):
        rules[f"argument{at}"] = f": f({text}, _, n)", lambda a, _, t=text: a == Fraction(t)
    for number, (operator, compare) in enumerate(COMPARED.items()):
        rules[f"fields{number}"] = f": f(_, _, n) [.args[0] {operator} .args[1]]", compare
        rules[f"values{number}"] = f"(x, y): f(x, y, n) [x {operator} y]", compare
        rules[f"variable{number}"] = f": f(_, _, n) [.args[1] {operator} a]", lambda a, b, c=compare: c(b, a)
        for at, text in enumerate(literals):
            rules[f"literal{number}_{at}"] = f": f(_, _, n) [.args[0] {operator} {text}]", lambda a, _, c=compare, t=text: c(a, Fraction(t))
    return rules


def check(dpe, rng, folder):
    pairs = [(numeral(rng), numeral(rng)) for _ in range(PAIRS)]
    pairs += [(a, a) for a, _ in pairs[:LITERALS]]
    rules = draw_rules([a for a, _ in pairs[:LITERALS] if is_literal(a)])
    spec, path = f"{folder}/n.dpe", f"{folder}/n.jsonl"
    write(spec, "".join(f"detect {name}{text}\n" for name, (text, _) in rules.items()))
    write(path, "".join(f'{{"event":"f","thread":1,"args":[{a},{b},{n}],"vars":{{"a":{a}}}}}\n' for n, (a, b) in enumerate(pairs)))
    if rng.random() < 0.5:
        limited.run([dpe, "convert", path, f"{folder}/n.dpel"], 60)
        path = f"{folder}/n.dpel"
    run = limited.run([dpe, "replay", "--format=json", "--allow-unobserved", "-s", spec, path], 60)
    if run.returncode not in (0, 1):
        return [run.stderr]
    found = collections.defaultdict(set)
    for line in map(json.loads, run.stdout.splitlines()):
        if line["type"] == "verdict":
            found[line["rule"]].add(line["params"]["n"])
    for name, (text, holds) in rules.items():
        wrong = found[name] ^ {n for n, (a, b) in enumerate(pairs) if holds(Fraction(a), Fraction(b))}
        if wrong:
            return [f"{text}: {[pairs[n] for n in wrong]}"]
    return []


def main():
    with Cases(options(__doc__, count=40)) as cases:
        cases.draw(check)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
