#!/usr/bin/env python3
"""Random actions: variables of the specification, also for each value of the rules' variables, read and assigned in
conditions, in actions of events and of rules, printed and measured (figures, histograms, quantiles); compared
with an interpreter in this file.

    actions.py [--dpe ./dpe] [--seed N] [--count N]

The events of a log are totally ordered by predecessors, but its lines may be in another order; half of the
logs are
read from .dpel. Prints each difference and a closing line with the seed, which reproduces it.
"""
import collections
import json
import os
import random
import sys

import limited
from cases import Cases, options

DECLARED = {"n": "", "m": "q", "k": "qv", "t": "T", "w": "qvT"}  # each with the variables of rules that it depends on
SHARES = (500, 900, 990, 999)  # of a thousand
FREE = ("u", "s")  # declared by being assigned: not in conditions
ARGUMENTS = {"q": 0, "v": 1}


def whole(a, b, of):
    """C's division."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if of == "/" else a - quotient * b


BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "<": lambda a, b: int(a < b), ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b), "&&": lambda a, b: int(bool(a and b)), "||": lambda a, b: int(bool(a or b)),
    "^": lambda a, b: a ^ b, "&": lambda a, b: a & b, "|": lambda a, b: a | b,
}


class State:
    def __init__(self, initial):
        self.initial, self.values, self.lines = initial, {}, []
        self.measured = collections.defaultdict(list)

    def at(self, name, bound):
        return (name, *(bound[v] for v in DECLARED.get(name, "")))

    def get(self, name, bound):
        return self.values.get(self.at(name, bound), self.initial.get(name, 0))

    def set(self, name, bound, value):
        self.values[self.at(name, bound)] = value


class Moment:
    """Where an expression is evaluated: `bound` are the rule's variables, `events` the events at $1, $2, …; the
    last one is the current event."""

    def __init__(self, state, rule, bound, events):
        self.state, self.rule, self.bound, self.events = state, rule, bound, events


# ---------------------------------------------------------------- expressions and statements, as text and a function


def leaf(rng, names, positions):
    kind = rng.randrange(4)
    if kind == 0 or not names:
        number = rng.randint(0, 9)
        return str(number), lambda at: number
    if kind == 1 and positions:
        i, argument = rng.randrange(positions), rng.randrange(2)
        return f"${i + 1}.args[{argument}]", lambda at: at.events[i]["args"][argument]
    name = rng.choice(names)
    if name in ARGUMENTS or name == "T":
        return name, lambda at: at.bound[name]
    return name, lambda at: at.state.get(name, at.bound)


def expression(rng, depth, names, positions):
    if not depth or rng.random() < 0.2:
        return leaf(rng, names, positions)
    a, f = expression(rng, depth - 1, names, positions)
    kind = rng.randrange(8)
    if kind == 0:
        return f"(-({a}))", lambda at: -f(at)
    if kind == 1:
        return f"(!({a}))", lambda at: int(not f(at))
    if kind == 2:
        operator, divisor = rng.choice("/%"), rng.choice([-3, 2, 7])
        return f"({a}) {operator} ({divisor})", lambda at: whole(f(at), divisor, operator)
    b, g = expression(rng, depth - 1, names, positions)
    if kind == 3:
        c, h = expression(rng, depth - 1, names, positions)
        return f"(({a}) ? ({b}) : ({c}))", lambda at: g(at) if f(at) else h(at)
    operator = rng.choice(list(BINARY))
    return f"({a}) {operator} ({b})", lambda at: BINARY[operator](f(at), g(at))


def uncertain(rng, depth, names):
    """A condition of which parts may have no value: an operand of && and || may decide without the other one."""
    kind = rng.randrange(6) if depth else rng.randrange(2)
    if kind == 0:
        return ".args[9] > 1", lambda at: None
    if kind == 1:
        return expression(rng, 1, names, 0)
    a, f = uncertain(rng, depth - 1, names)
    if kind == 2:
        return f"!({a})", lambda at: None if f(at) is None else int(not f(at))
    b, g = uncertain(rng, depth - 1, names)
    if kind == 3:
        return f"(({a}) ? 1 : ({b}))", lambda at: 1 if f(at) else g(at)
    deciding = rng.random() < 0.5

    def decide(at):
        values = [None if v is None else bool(v) for v in (f(at), g(at))]
        return int(deciding) if deciding in values else None if None in values else int(not deciding)

    return f"({a}) {'||' if deciding else '&&'} ({b})", decide


def assignment(rng, names, targets, positions):
    name = rng.choice(targets)
    kind = rng.randrange(4)
    if kind == 0:
        step = rng.choice([1, -1])
        return f"{name}{'++' if step > 0 else '--'};", lambda at: at.state.set(
            name, at.bound, at.state.get(name, at.bound) + step)
    a, f = expression(rng, 2, names, positions)
    if kind == 1:
        operator = rng.choice("+-")
        return f"{name} {operator}= ({a}) % 100;", lambda at: at.state.set(
            name, at.bound, BINARY[operator](at.state.get(name, at.bound), whole(f(at), 100, "%")))
    return f"{name} = ({a}) % 1000;", lambda at: at.state.set(name, at.bound, whole(f(at), 1000, "%"))


def printing(rng, rule, names, positions):
    some = [expression(rng, 1, names, positions) for _ in range(rng.randint(1, 3))]
    texts, functions = [a for a, _ in some], [f for _, f in some]
    if rng.random() < 0.5:
        return f"print({', '.join(texts)});", lambda at: at.state.lines.append(
            (rule, " ".join(str(f(at)) for f in functions)))
    pattern = "-".join(rng.choice(["%d", "%4d", "%i"]) for _ in some)
    return f'printf("{pattern}", {", ".join(texts)});', lambda at: at.state.lines.append(
        (rule, pattern % tuple(f(at) for f in functions)))


def statement(rng, depth, rule, names, targets, positions):
    kind = rng.randrange(4)
    if kind == 0 and depth:
        a, f = expression(rng, 2, names, positions)
        b, g = block(rng, depth - 1, rule, names, targets, positions)
        c, h = block(rng, depth - 1, rule, names, targets, positions)
        if rng.random() < 0.4:
            return f"if ({a}) {b}", lambda at: f(at) and g(at)
        return f"if ({a}) {b} else {c}", lambda at: g(at) if f(at) else h(at)
    if kind == 1:
        return printing(rng, rule, names, positions)
    return assignment(rng, names, targets, positions)


def block(rng, depth, rule, names, targets, positions):
    some = [statement(rng, depth, rule, names, targets, positions) for _ in range(rng.randint(1, 3))]

    def run(at):
        for _, f in some:
            f(at)

    return "{ " + " ".join(a for a, _ in some) + " }", run


def spread(rng, text, function):
    """Values on both sides of 0."""
    factor, less = rng.choice([1, 7, 1000]), rng.choice([0, 10, 1500])
    return f"({text}) * {factor} - {less}", lambda at: function(at) * factor - less


def measuring(rng, rule, names, positions):
    """Each call measures separately."""
    calls = []
    for _ in range(rng.randint(1, 3)):
        kind, number = rng.choice(["count", "sum", "hist", "quantiles"]), len(calls)
        value = [] if kind == "count" else [spread(rng, *expression(rng, 1, names, positions))]
        keys = [leaf(rng, names, positions) for _ in range(rng.choice([0, 0, 1, 2]))]
        calls.append((kind, number, value, keys))

    def run(at):
        for kind, number, value, keys in calls:
            at.state.measured[rule, number, kind, " ".join(str(f(at)) for _, f in keys)].append(
                value[0][1](at) if value else None)

    return "{ " + " ".join(f"{kind}({', '.join(a for a, _ in value + keys)});"
                           for kind, _, value, keys in calls) + " }", run


# ---------------------------------------------------------------- rules


NOTHING = {"event": None}


class Clause:
    """An event that a rule observes besides, or that ends its slices; then it can bind fewer variables, and have a condition."""

    def __init__(self, rng, rule):
        self.name, self.rule = rng.choice("abcd"), rule
        self.ends = rule.kind == "star" or rng.random() < 0.6
        self.variables = "".join(v for v in rule.variables if not self.ends or rng.random() < 0.7)
        self.condition = None
        if self.ends and self.name not in rule.events and rng.random() < 0.4:
            self.condition = expression(rng, 2, rule.reads, 0)

    def text(self):
        args = ", ".join(v if v in self.variables else "_" for v in "qv")
        return f" observing {self.name}({args})" + (" by T" if "T" in self.variables else "") + \
            (f" [{self.condition[0]}]" if self.condition else "") + (" ends" if self.ends else "")

    def concerns(self, state, key, message):
        bound, of_message = dict(zip(self.rule.variables, key)), self.rule.bound_by(message)
        return all(bound[v] == of_message[v] for v in self.variables) and (
            not self.condition or self.condition[1](Moment(state, self.rule.name, bound, [message])))

    def take(self, state, message):
        latest = self.rule.latest
        if message["event"] != self.name:
            return
        for key in [k for k in latest if self.ends and self.concerns(state, k, message)]:
            del latest[key]
        key = tuple(self.rule.bound_by(message).values())
        if not self.ends and latest.get(key) is not message:
            latest[key] = NOTHING


class Rule:
    """`expect` of some events in any order, `detect` of one event or two, `measure` of one."""

    def __init__(self, rng, number):
        self.kind = rng.choice(["star", "one", "two", "measure"])
        self.name = f"R{number}"
        self.variables = rng.choice(["", "q", "v", "qv", "qT", "qvT"])
        known = [n for n, of in DECLARED.items() if set(of) <= set(self.variables)]
        self.reads = known + list(self.variables)
        self.targets = known + list(FREE)
        events = rng.sample("abc", {"star": rng.randint(1, 3), "two": 2}.get(self.kind, 1))
        self.events = {e: self.event(rng, e, i) for i, e in enumerate(events)}
        self.action = self.last_action(rng)
        self.latest = {}
        self.clause = Clause(rng, self) if rng.random() < 0.4 else None

    def event(self, rng, name, i):
        args = ", ".join(v if v in self.variables else "_" for v in "qv")
        text = f"{name}({args})" + (" by T" if "T" in self.variables else "")
        condition, action = None, None
        if rng.random() < 0.4:
            condition = uncertain(rng, 3, self.reads) if rng.random() < 0.4 else expression(rng, 2, self.reads, 0)
            text += f" [{condition[0]}]"
        if self.kind == "star" or self.kind == "two" and i == 0 and rng.random() < 0.7:
            positions = 0 if self.kind == "star" else 1
            action = block(rng, 2, self.name, self.reads + list(FREE), self.targets, positions)
            text += " " + action[0]
        return text, condition, action

    def last_action(self, rng):
        if self.kind == "star":
            return None
        positions = len(self.events)
        if self.kind == "measure":
            return measuring(rng, self.name, self.reads + list(FREE), positions)
        return block(rng, 2, self.name, self.reads + list(FREE), self.targets, positions)

    def text(self):
        mode = {"star": "expect", "measure": "measure"}.get(self.kind, "detect")
        events = [e[0] for e in self.events.values()]
        clause = self.clause.text() if self.clause else ""
        if self.kind == "star":
            return f"{mode} {self.name}: ({' + '.join(events)})*{clause}\n"
        return f"{mode} {self.name}: {' ; '.join(events)}{clause} {self.action[0]}\n"

    def bound_by(self, message):
        return {v: message["thread"] if v == "T" else message["args"][ARGUMENTS[v]] for v in self.variables}

    def take(self, state, message):
        self.follow(state, message)
        if self.clause:
            self.clause.take(state, message)

    def follow(self, state, message):
        if message["event"] not in self.events:
            return
        _, condition, action = self.events[message["event"]]
        bound = self.bound_by(message)
        if condition and not condition[1](Moment(state, self.name, bound, [message])):
            return
        key = tuple(bound.values())
        before, self.latest[key] = self.latest.get(key), message
        if action:
            action[1](Moment(state, self.name, bound, [message]))
        if self.kind == "star":
            return
        match = [message]
        if self.kind == "two":
            first, last = self.events
            if message["event"] != last or not before or before["event"] != first:
                return
            match = [before, message]
        self.action[1](Moment(state, self.name, bound, match))


def interpret(rules, initial, log):
    state = State(initial)
    for message in log:
        for rule in rules:
            rule.take(state, message)
    figures = {}
    for (rule, number, kind, key), values in state.measured.items():
        figure = {"count": len(values)}
        if kind != "count":
            figure |= {"sum": sum(values), "min": min(values), "max": max(values)}
        if kind == "hist":
            figure["buckets"] = sorted(collections.Counter(v and 1 << v.bit_length() - 1 for v in values if v >= 0).items())
            figure["negative"] = sum(v < 0 for v in values)
        if kind == "quantiles":
            figure["quantiles"] = [sorted(values)[-(-len(values) * share // 1000) - 1] for share in SHARES]
        figures[rule, kind, key] = sorted([*figures.get((rule, kind, key), []), sorted(figure.items())])
    return state.lines, figures


# ---------------------------------------------------------------- comparing


def draw_log(rng):
    log = [{"event": rng.choice("aabbccd"), "thread": rng.randint(1, 2), "id": f"e{i}",
            "args": [rng.randint(1, 2), rng.randint(1, 3)]} for i in range(rng.randint(1, 25))]
    for i, message in enumerate(log[1:]):
        message["pred"] = [f"e{i}"]
    for i, message in enumerate(log):
        message["seq"] = sum(m["thread"] == message["thread"] for m in log[:i])
    return log


def replay(dpe, rng, spec, log, folder):
    at = {n: os.path.join(folder, n) for n in ("a.dpe", "a.jsonl", "a.dpel")}
    lines = list(log)
    if rng.random() < 0.5:
        rng.shuffle(lines)
    with open(at["a.dpe"], "w") as f:
        f.write(spec)
    with open(at["a.jsonl"], "w") as f:
        f.writelines(json.dumps(m) + "\n" for m in lines)
    name = "a.jsonl"
    if rng.random() < 0.5:
        limited.run([dpe, "convert", at["a.jsonl"], at["a.dpel"]], 60)
        name = "a.dpel"
    run = limited.run([dpe, "replay", "--format=json", "-s", at["a.dpe"], at[name]], 60)
    if run.returncode not in (0, 1, 3):
        return run.stderr, {}
    printed, figures = [], {}
    for found in map(json.loads, run.stdout.splitlines()):
        if found["type"] == "print":
            printed.append((found["rule"], found["text"]))
        if found["type"] == "measurement" and found["count"]:
            figure = [(k, found[k]) for k in ("count", "sum", "min", "max") if k in found]
            if "buckets" in found:
                figure += [("buckets", [(b["from"], b["count"]) for b in found["buckets"]]),
                           ("negative", found.get("negative", 0))]
            if "quantiles" in found:
                figure.append(("quantiles", [found["quantiles"][str(share / 1000)] for share in SHARES]))
            key = found["rule"], found["call"], found.get("key", "")
            figures[key] = sorted([*figures.get(key, []), sorted(figure)])
    return printed, figures


def alike(want, got):
    """Quantiles are within 1.6 %."""
    if isinstance(want, dict):
        return want.keys() == got.keys() and all(alike(want[k], got[k]) for k in want)
    if not isinstance(want, (tuple, list)) or len(want) != len(got):
        return want == got
    if want[:1] == ("quantiles",):
        return all(abs(w - g) <= abs(w) * 0.016 for w, g in zip(want[1], got[1]))
    return all(map(alike, want, got))


def check(dpe, rng, folder):
    rules = [Rule(rng, i) for i in range(rng.randint(1, 5))]
    initial = {name: rng.randint(-2, 5) for name in DECLARED}
    spec = "".join(f"var {name}{f'({chr(44).join(of)})' if of else ''} = {initial[name]};\n"
                   for name, of in DECLARED.items()) + "".join(r.text() for r in rules)
    spec += "detect assign: never { " + " ".join(f"{name} = 0;" for name in FREE) + " }\n"
    log = draw_log(rng)
    want, got = interpret(rules, initial, log), replay(dpe, rng, spec, log, folder)
    return None if alike(want, got) else f"{spec}{json.dumps(log)}\n{got}\nnot {want}"


def main():
    args = options(__doc__, count=100)
    with Cases(args) as cases:
        for number in range(args.count):
            wrong = check(args.dpe, random.Random(f"{args.seed} {number}"), cases.folder)
            cases.judge([wrong] if wrong else [], number)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
