#!/usr/bin/env python3
"""Random `detect` and `expect` rules with events that belong to several slices, as the c of `a(x) ; c ; b(x)`. While a trace is
written no slice shares them, and each takes its own by the general path; with and without it the verdicts, and the events that
they name, must be the same.

    shared_events.py [--dpe ./dpe] [--seed N] [--count N]

Several rules share a log. Prints each difference and a closing line; the seed reproduces it."""
import random
import sys

from both_ways import verdicts
from cases import Cases, options, write, write_log

TOGETHER = 6  # rules of one specification
OWN = ("a{}(x)", "b{}(x)", "d{}(x)")
SHARED = ("c{}(_)", "e{}(_)", "a{}(_)")  # an a can be both


def expression(dice, depth):
    if not depth or dice.random() < 0.15:
        carets = dice.choice(("", "", "^", "^^"))
        return dice.choice(dice.choices((OWN, SHARED), (55, 45))[0]).format(carets)
    operator = dice.choices((";", "&", "+", "*"), (60, 15, 15, 10))[0]
    first = expression(dice, depth - 1)
    if operator == "*":
        return f"({first})*"
    return f"({first} {operator} {expression(dice, depth - 1)})"


def rule(dice, number):
    text = expression(dice, dice.randint(1, 3))
    while "x" not in text:
        text = expression(dice, dice.randint(1, 3))
    end = dice.choices(("", " observing f(_)", " observing g(x)", " observing g(x) ends", " observing f(_), g(x) ends"), (60, 10, 10, 10, 10))[0]
    return f"detect r{number}(x): {text}{end}\n"


def expected(dice, number):
    """Rounds, most of which any events of the log complete."""
    events = [f"{name}({dice.choice('xx_')}){dice.choice(('', '', ' by T'))}" for name in "abcde"]
    events[0] = "a(x) by T" if any("by" in event for event in events) else "a(x)"
    if dice.random() < 0.5:
        first = dice.randrange(4)
        events[first:first + 2] = [f"({events[first]}{dice.choice(('', '*', ' + ' + events[first + 1]))} ; {events[first + 1]})"]
    end = dice.choices(("", " observing f(_)", " observing g(x) ends", " observing g(_) ends"), (70, 10, 10, 10))[0]
    return f"expect e{number}: ({' + '.join(events)})*{end}\n"


def make_log(dice, path):
    """Threads that synchronise now and then, so that events are ordered, or independent."""
    threads, values, steps = dice.randint(1, 5), dice.randint(1, 5), dice.choice((10, 40, 150))
    numbers, held, lines = [0] * threads, 0, []
    locks, ends = dice.choice((0.05, 0.3, 0.6)), dice.choice((0, 0.1))
    for time in range(steps):
        thread = dice.randrange(threads)
        names = ["lock.exit", "unlock"] if dice.random() < locks else ["g"] if dice.random() < ends else [dice.choice("aabbccdef")]
        if names[0] == "lock.exit":
            names[1:1] = dice.choices("abcde", k=dice.randint(0, 2))
        lock = dice.randint(1, 2)
        for name in names:
            value = lock if "lock" in name else dice.randint(1, values)
            lines.append({"event": name, "thread": thread, "seq": numbers[thread], "time": 100 * time, "args": [value]})
            numbers[thread] += 1
    write_log(path, lines)


def main():
    args, refused, total = options(__doc__, count=60), 0, 0
    with Cases(args) as cases:
        spec, log = f"{cases.folder}/r.dpe", f"{cases.folder}/l.jsonl"
        for number in range(args.count):
            dice = random.Random(args.seed * 1000003 + number)
            rules = "".join(dice.choice((rule, rule, expected))(dice, i) for i in range(TOGETHER))
            write(spec, "sync mutex(m): unlock(m) ; lock(m).exit\n" + rules)
            make_log(dice, log)
            shared, apart = verdicts(args.dpe, spec, log), verdicts(args.dpe, spec, log, "--trace=/dev/null")
            total += len(shared)
            refused += any("accepts nothing" in verdict for verdict in shared)
            cases.judge([sorted(set(shared) ^ set(apart))[:4] or shared[:1]] if shared != apart else [], number, rules)
    cases.require(total > args.count and refused * 5 <= args.count, f"only {total} verdicts, {refused} specifications refused")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
