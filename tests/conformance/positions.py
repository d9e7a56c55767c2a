#!/usr/bin/env python3
"""`detect` rules whose conditions name earlier positions: their fields, that they precede the event, and conditions that
hold without them; compared with a search in this file through all sets of events.

    positions.py [--dpe ./dpe] [--seed N] [--count N]

Which events belong to a slice depends here on the partial matches that are kept. So a match must be reported if no
event whose name and arguments fit lies within it, and may be if no event lies within it that fits without a condition.
Prints each difference and a closing line with the seed, which reproduces it.
"""
import collections
import itertools
import json
import random
import sys

from cases import Cases, options, replay, write, write_log

OPERATORS = {"seq": " ; ", "par": " & ", "alt": " + "}


def conditions(rng, p, least):
    """Text, and whether it holds: of the event at position p, None without it, and of the own event."""
    own = [(f".args[0] != ${p}.args[0]", lambda a, b: a and a["args"][0] != b["args"][0]),
           (f"${p}.tid = .tid", lambda a, b: a and a["thread"] == b["thread"]),
           (f".time - ${p}.time > {least}", lambda a, b: a and b["time"] - a["time"] > least),
           (f"${p}.args[1] + 1 == .args[1]", lambda a, b: a and a["args"][1] + 1 == b["args"][1]),
           (f"v || ${p}.args[1] > 1", lambda a, b: b["vars"]["v"] or a and a["args"][1] > 1),
           (f"!(v && ${p}.args[1] > 1)", lambda a, b: not b["vars"]["v"] or a and a["args"][1] <= 1),
           (f"${p}.args[1] > 1 ? 0 : 1", lambda a, b: not (a and a["args"][1] > 1))]
    return rng.choice(own)


class Event:
    """One of a rule: `at` says which argument binds which variable."""

    def __init__(self, rng, name, carets, variables, before):
        self.name, self.at, self.condition, self.other = name, {}, None, None
        arguments = [v if rng.random() < 0.7 else "_" for v in variables] + ["_"] * (2 - len(variables))
        self.at = {v: i for i, v in enumerate(arguments) if v != "_"}
        self.text = f"{name}{'^' * carets}({', '.join(arguments)})"
        if before and rng.random() < 0.7:
            self.other = rng.randrange(before)
            words, self.condition = conditions(rng, self.other + 1, rng.randint(1, 40))
            self.text = f"({self.text} [{words}])"

    def fits(self, message, bound):
        return message["event"] == self.name and all(bound.get(v) == message["args"][i] for v, i in self.at.items())


def expression(rng, leaves):
    if len(leaves) == 1:
        return leaves[0]
    k = rng.randint(1, len(leaves) - 1)
    return rng.choice([*OPERATORS]), expression(rng, leaves[:k]), expression(rng, leaves[k:])


def written(e, events):
    return events[e].text if isinstance(e, int) else f"({written(e[1], events)}{OPERATORS[e[0]]}{written(e[2], events)})"


def language(e):
    """(positions, order) of each behaviour."""
    if isinstance(e, int):
        return [(frozenset([e]), frozenset())]
    left, right = language(e[1]), language(e[2])
    if e[0] == "alt":
        return left + right
    return [(p | q, r | s | (frozenset(itertools.product(p, q)) if e[0] == "seq" else frozenset()))
            for p, r in left for q, s in right]


class Reference:
    def __init__(self, e, events, log):
        self.events, self.log = events, log
        self.past = [set() for _ in log]
        for i, message in enumerate(log):
            for j in range(i):
                if f"e{j}" in message["pred"] or log[j]["thread"] == message["thread"]:
                    self.past[i] |= self.past[j] | {j}
        self.must, self.may = collections.defaultdict(set), collections.defaultdict(set)
        for positions, order in language(e):
            names = sorted(positions)
            for chosen in itertools.permutations(range(len(log)), len(names)):
                self.judge(dict(zip(names, chosen)), order)

    def judge(self, at, order):
        bound = {v: self.log[i]["args"][k] for p, i in at.items() for v, k in self.events[p].at.items()}
        if not all(self.events[p].fits(self.log[i], bound) for p, i in at.items()):
            return
        if any((at[p] in self.past[at[q]]) != ((p, q) in order) for p in at for q in at):
            return
        if not all(self.holds(p, at) for p in at):
            return
        inside = [self.log[k] for k in range(len(self.log)) if k not in at.values() and self.past[k] & {*at.values()} and
                  any(k in self.past[i] for i in at.values())]
        key = f"e{max(at.values())}", json.dumps(bound, sort_keys=True)
        if not any(e.fits(m, bound) and not e.condition for m in inside for e in self.events):
            self.may[key].add(frozenset(f"e{i}" for i in at.values()))
        if not any(e.fits(m, bound) for m in inside for e in self.events):
            self.must[key].add(frozenset(at.values()))

    def holds(self, p, at):
        event, other = self.events[p], at.get(self.events[p].other)
        precedes = other is not None and other in self.past[at[p]]
        return not event.condition or event.condition(self.log[other] if precedes else None, self.log[at[p]])


def draw(rng):
    """(expression, its events, a log)"""
    count, names, carets = rng.choice([2, 2, 3, 3, 4]), rng.choice(["a", "ab", "abcd", "abcd"]), collections.Counter()
    variables, events = rng.choice([["x"], ["x"], [], ["x", "y"]]), []
    for i in range(count):
        name = names[i % len(names)]
        events.append(Event(rng, name, carets[name], variables, i))
        carets[name] += 1
    log, seen = [], collections.Counter()
    for i in range(rng.randint(2, 7)):
        thread = rng.randint(1, 3)
        log.append({"event": rng.choice(events).name, "args": [rng.randint(1, 2), rng.randint(1, 3)], "thread": thread,
                    "seq": seen[thread], "time": 100 + 10 * i, "id": f"e{i}", "vars": {"v": rng.randint(0, 1)},
                    "pred": [f"e{j}" for j in range(i) if rng.random() < 0.25]})
        seen[thread] += 1
    return expression(rng, list(range(count))), events, log


def differences(dpe, rng, folder):
    e, events, log = draw(rng)
    reference, spec = Reference(e, events, log), f"detect D: {written(e, events)}\n"
    write(f"{folder}/s.dpe", spec)
    write_log(f"{folder}/l.jsonl", log)
    run, lines = replay(dpe, f"{folder}/s.dpe", f"{folder}/l.jsonl", "--all", "--allow-unobserved")
    case = spec + "".join(json.dumps(m) + "\n" for m in log)
    if run.returncode not in (0, 1):
        yield f"{case}{run.stderr}"
    got = {(v["event"], json.dumps(v["params"], sort_keys=True)): frozenset(v["events"]) for v in lines if v["type"] == "verdict"}
    for key, members in got.items():
        if members not in reference.may[key]:
            yield f"{case}{key}: {sorted(members)} is no match"
    for key in reference.must.keys() - got.keys():
        yield f"{case}{key}: no match, but {reference.must[key]}"


def main():
    args = options(__doc__, count=100)
    with Cases(args) as cases:
        for number in range(args.count):
            cases.judge(list(differences(args.dpe, random.Random(f"{args.seed} {number}"), cases.folder)), number)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
