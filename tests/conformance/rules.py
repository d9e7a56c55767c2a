#!/usr/bin/env python3
"""Random rules with the features beyond plain expressions: arguments and variables of the rule, phases,
`by`, conditions, `observing`, `without` and `ends`, definitions with parameters and carets, control
variables. Every engine that applies is compared with the reference semantics, slice by slice.

    rules.py [--dpe ./dpe] [--seed N] [--count N]

Several rules share a log, some of whose events can be read as several of their patterns. Prints each
difference and a closing line with the seed, which reproduces it.
"""
import itertools
import json
import os
import random
import sys

import dpe_oracle as oracle
import limited
from cases import Cases, options
from patterns import Pattern, draw

TOGETHER = 6  # rules of one specification
MOST = 8      # events of a log
TELLS_AT_ONCE = ("violated", "match")

# ---------------------------------------------------------------- expressions with control variables
# As in dpe_oracle.py, and ('counted', e, name): as many rounds as each other of that name.


def literals(e):
    if e[0] == "ev":
        return frozenset([e[1]])
    return frozenset().union(*(literals(x) for x in e[1:] if isinstance(x, tuple)))


def controls(e):
    here = {e[2]} if e[0] == "counted" else set()
    return here.union(*(controls(x) for x in e[1:] if isinstance(x, tuple)))


def synchronises(e):
    here = e[0] == "par" and literals(e[1]) & literals(e[2])
    return bool(here) or any(synchronises(x) for x in e[1:] if isinstance(x, tuple))


oracle.literals = literals


class Language(oracle.Language):
    def __init__(self, p, reading, rounds):
        super().__init__(p, reading)
        self.rounds = rounds

    def _gen(self, e, a, prefix):
        if e[0] == "counted":
            return self.repeated(e[1], self.rounds[e[2]], a, prefix)
        return super()._gen(e, a, prefix)

    def repeated(self, e, times, a, prefix):
        if prefix and not a or not times and not a:
            yield frozenset()
        if not times:
            return
        if prefix:
            yield from self.gen(e, a, True)
        for first, second in self.splits(a):
            for r1 in self.gen(e, first):
                for r2 in self.repeated(e, times - 1, second, prefix):
                    yield self.series(first, second, r1, r2)


def may_be_empty(e):
    if e[0] in ("seq", "par", "alt"):
        return (any if e[0] == "alt" else all)(map(may_be_empty, e[1:]))
    return e[0] != "ev"


def expression(rng, depth, names, unsafe, control):
    if not depth or rng.random() < 0.2:
        return ("ev", rng.choice(names))
    parts = [expression(rng, depth - 1, names, unsafe, control) for _ in range(2)]
    kind = rng.choices(["seq", "par", "alt", "repeat"], [33, 27, 20, 20])[0]
    if kind != "repeat":
        return (kind, *parts)
    dice = rng.random()
    if control and dice < 0.5 and not may_be_empty(parts[0]):
        return ("counted", parts[0], rng.choice("nm"))
    return ("clos" if unsafe and dice < 0.75 else "star", parts[0])


def plain(e):
    """With `*` in place of `*n`, so that executions close to its behaviours can be drawn."""
    kind = "star" if e[0] == "counted" else e[0]
    return (kind, *(plain(x) for x in e[1:] if isinstance(x, tuple))) if e[0] != "ev" else e


class Writer:
    """The text of an expression, parts of it as definitions."""

    def __init__(self, rng, patterns, number):
        self.rng, self.patterns, self.number, self.definitions = rng, patterns, number, []

    def variables(self, e):
        return sorted(frozenset().union(*(self.patterns[l.rstrip("^")].variables for l in literals(e))))

    def define(self, e, stripped, names):
        """`names`: what variables are called here; `stripped`: carets that the use adds again."""
        fewest = min(len(l) - len(l.rstrip("^")) for l in literals(e)) - stripped
        carets, at = self.rng.randint(0, fewest), len(self.definitions)
        params = [v for v in self.variables(e) if v in names or self.rng.random() < 0.6]
        self.definitions.append(None)
        name, inner = f"d{self.number}_{at}", {v: f"p{at}{v}" for v in params}
        head = f"({', '.join(inner[v] for v in params)})" if params else ""
        use = f"({', '.join(names.get(v, v) for v in params)})" if params else ""
        self.definitions[at] = f"{name}{head} = {self.text(e, stripped + carets, inner, True)}\n"
        return name + "^" * carets + use

    def text(self, e, stripped=0, names={}, whole=False):
        if not whole and self.rng.random() < 0.12:
            return self.define(e, stripped, names)
        if e[0] == "ev":
            name = e[1].rstrip("^")
            return self.patterns[name].text("^" * (len(e[1]) - len(name) - stripped), names)
        parts = [self.text(x, stripped, names) for x in e[1:] if isinstance(x, tuple)]
        if len(parts) == 1:
            return f"({parts[0]})" + {"star": "*", "clos": "@"}.get(e[0], f"*{e[-1]}")
        operator = {"seq": ";", "alt": "+", "par": "&"}[e[0]]
        return f"({parts[0]}) {operator} ({parts[1]})"


# ---------------------------------------------------------------- logs


def numbered(log):
    counts = {}
    for message in log:
        message["seq"] = counts.get(message["thread"], 0)
        counts[message["thread"]] = message["seq"] + 1
    return log


def noise(rng):
    phase = rng.choice(["", "", ".enter", ".exit"])
    message = {"event": rng.choice("fgh") + phase, "thread": rng.randint(1, 3), "pred": [],
               "args": [rng.randint(1, 2) for _ in range(rng.choice([0, 1, 2, 2, 2, 2, 2, 3]))], "vars": {"v": rng.randint(0, 1)}}
    return {**message, "ret": rng.randint(0, 2)} if phase == ".exit" else message


def any_log(rng):
    log = [{**noise(rng), "id": f"e{i}"} for i in range(rng.randint(2, MOST))]
    for i, message in enumerate(log):
        message["pred"] = [f"e{j}" for j in range(i) if rng.random() < 0.25]
    return numbered(log)


def near_log(rng, e, patterns, variables):
    """A log that is nearly a behaviour, or None."""
    sample = oracle.sample(rng, plain(e))
    if sample is None or not 1 <= len(sample[0]) <= MOST - 1:
        return None
    p = oracle.Pomset(*sample)
    p, _ = oracle.reorder(p, oracle.linear_extension(rng, p))
    values, log = {v: rng.randint(1, 2) for v in variables}, []
    for i, label in enumerate(p.labels):
        # What precedes it in its thread must come before.
        threads = [t for t in range(1, 8) if all(log[j]["thread"] != t or p.before(j, i) for j in range(i))]
        message = patterns[label.rstrip("^")].message(rng, values, threads)
        if message is None:
            return None
        log.append({**message, "id": f"e{i}", "pred": [f"e{j}" for j in p.immediate(i, range(len(p.labels)))]})
    for i in range(rng.choice([0, 0, 1, 2])):
        log.insert(rng.randint(0, len(log)), {**noise(rng), "id": f"x{i}"})
    return numbered(log) if len(log) <= MOST else None


def order_of(log):
    at = {m["id"]: i for i, m in enumerate(log)}
    edges = [(at[w], i) for i, m in enumerate(log) for w in m["pred"]]
    edges += [(j, i) for i in range(len(log)) for j in range(i) if log[i]["thread"] == log[j]["thread"]]
    return oracle.Pomset([m["event"] for m in log], edges)


# ---------------------------------------------------------------- the reference


def is_part(a, b):
    return all(b.get(k) == v for k, v in a.items())


def key(values):
    return tuple(sorted(values.items()))


class Slice:
    """The events of one life of a slice, each with the literals that it can be."""

    def __init__(self, values, part=None):
        self.values = values
        self.events = dict(part.events) if part else {}
        self.violated, self.reported = (part.violated, part.reported) if part else (None, False)
        self.is_part = self.first = False


class Reference:
    """The verdicts of a rule over a log."""

    def __init__(self, e, patterns, observed, ends, log):
        self.e, self.log, self.p = e, log, order_of(log)
        names = sorted(literals(e))
        readings = [(l, patterns[l.rstrip("^")]) for l in names] + [(None, o) for o in observed]
        self.bindings = [[(l, b) for l, o in readings if (b := o.binding(m)) is not None] for m in log]
        self.ends = [[b for o in ends if (b := o.binding(m)) is not None] for m in log]
        self.live, self.matched = [], {}
        if not any(o.variables for o in [*ends, *(o for _, o in readings)]):
            self.live = [Slice({})]
            self.live[0].first = True

    def holds(self, members, choices, prefix=False, values=None):
        """`values`: what the members must bind together."""
        members, names = sorted(members), sorted(controls(self.e))
        want = self.p.relation(frozenset(members))
        for reading in itertools.product(*(choices[i] for i in members)):
            bound = {}
            for i, literal in zip(members, reading):
                bound |= next(b for l, b in self.bindings[i] if l == literal)
            if values is not None and bound != values:
                continue
            for rounds in itertools.product(range(len(members) + 2), repeat=len(names)):
                language = Language(self.p, dict(zip(members, reading)), dict(zip(names, rounds)))
                if want in language.gen(self.e, frozenset(members), prefix):
                    return True
        return False

    def begin(self, k):
        """Slices that begin with event k, each from the largest part of it that there was, if one is."""
        older, found = list(self.live), True
        while found:
            known = [s.values for s in self.live]
            found = [joined for _, b in self.bindings[k] for t in [{}] + known
                     if is_part({**t, **b}, {**b, **t}) and (joined := {**t, **b}) not in known]
            for values in found[:1]:
                parts = [s for s in older if is_part(s.values, values)]
                largest = max(parts, key=lambda s: len(s.values), default=None)
                unique = all(is_part(s.values, largest.values) for s in parts)
                self.live.append(Slice(values, largest if unique else None))
                for s in self.live:
                    s.is_part |= s.values != values and is_part(s.values, values)

    def take(self, k):
        """Event k: [(slice, whether it belongs to it, whether it ends it)], smaller ones first."""
        self.begin(k)
        for s in sorted(self.live, key=lambda s: len(s.values)):
            fit = [l for l, b in self.bindings[k] if is_part(b, s.values)]
            ends = any(is_part(b, s.values) for b in self.ends[k])
            if not fit and not ends:
                continue
            s.is_part = any(t is not s and is_part(s.values, t.values) for t in self.live)
            belongs = any(fit) or fit and not ends
            if belongs:
                s.events[k] = [l for l in fit if l]
            yield s, belongs, ends
        for b in self.ends[k]:
            self.live = [s for s in self.live if not is_part(b, s.values)]

    def judge(self, s):
        """At its end."""
        if s.violated is not None or s.is_part or not s.events and not s.first:
            return []
        return [("satisfied" if self.holds(s.events, s.events) else "incomplete", None, key(s.values))]

    def expect(self):
        """[(verdict, event, values)]. A slice that is a part of another has no verdict: slices that begin with its
        events have."""
        reported = []
        for k, message in enumerate(self.log):
            for s, belongs, ends in self.take(k):
                if belongs and s.violated is None and not self.holds(s.events, s.events, True):
                    s.violated = message["id"]
                if s.violated and not s.reported and not s.is_part:
                    reported.append(("violated", s.violated, key(s.values)))
                    s.reported = True
                if ends:
                    reported += self.judge(s)
        return reported + [verdict for s in self.live for verdict in self.judge(s)]

    def is_match(self, members, events, values):
        rest = [x for x in events if x not in members]
        return all(not any(self.p.before(i, x) for i in members) or
                   not any(self.p.before(x, i) for i in members) for x in rest) and \
            self.holds(members, events, values=values)

    def detect(self):
        reported = []
        for k, message in enumerate(self.log):
            for s, belongs, _ in self.take(k):
                before = [x for x in s.events if x != k]
                self.matched[message["id"], key(s.values)] = dict(s.events)
                if belongs and any(self.is_match({k, *c}, s.events, s.values) for r in range(len(before) + 1)
                                   for c in itertools.combinations(before, r)):
                    reported.append(("match", message["id"], key(s.values)))
        return reported


# ---------------------------------------------------------------- comparing


def replay(dpe, engine, spec, log, folder):
    """Verdicts by rule, or the output if there are none."""
    names = [os.path.join(folder, n) for n in ("r.dpe", "r.jsonl")]
    for name, text in zip(names, (spec, "".join(json.dumps(m) + "\n" for m in log))):
        with open(name, "w") as f:
            f.write(text)
    run = limited.run([dpe, "replay", "--format=json", "--allow-unobserved", f"--engine={engine}", "-s", *names], 60)
    if run.returncode not in (0, 1):
        return run.stderr
    reported = {}
    for verdict in map(json.loads, run.stdout.splitlines()):
        if verdict["type"] == "verdict":
            at = verdict["event"] if verdict["verdict"] in TELLS_AT_ONCE else None
            reported.setdefault(verdict["rule"], []).append(
                (verdict["verdict"], at, key(verdict["params"]), verdict.get("events")))
    return reported


def differences(mode, reference, got, sure):
    """`sure`: where operands synchronise, a violation may be reported earlier or later."""
    want = sorted(getattr(reference, mode)(), key=str)
    reported = sorted((v[:3] for v in got), key=str)
    if not sure:
        want, reported = ([v for v in all if v[0] == "satisfied"] for all in (want, reported))
    if want != reported:
        yield f"{mode}: {reported}, not {want}"
    at = {m["id"]: i for i, m in enumerate(reference.log)}
    for _, event, values, events in got if mode == "detect" else ():
        slice = reference.matched[event, values]
        if not reference.is_match({at[x] for x in events}, slice, dict(values)):
            yield f"{mode}: {events} is no match"


def draw_clauses(rng, variables, alike):
    """What a rule observes besides, what ends its slices, and both as text."""
    kinds = rng.choices([(), ("observing",), ("without",), ("ends",), ("without", "ends"), ("ends", "observing", "without")],
                        [50, 10, 10, 15, 10, 5])[0]
    observed, ends, text = [], [], ""
    for kind in kinds:
        some = [draw(rng, variables, alike and rng.random() < 0.5) for _ in range(rng.choice([1, 1, 2]))]
        (ends if kind == "ends" else observed).extend(some)
        text += " without " if kind == "without" else " observing "
        text += ", ".join(o.text() + (" ends" if kind == "ends" else "") for o in some)
    only_ends = {o.text() for o in ends}
    return [o for o in observed if o.text() not in only_ends], ends, text


def check(dpe, rng, folder):
    """(how many rules were held against the reference, [what differs])"""
    unsafe = rng.random() < 0.3
    engines = ("net", "auto") if unsafe else ("pa", "net", "auto")
    control = unsafe and rng.random() < 0.5
    variables = rng.choice(["", "x", "x", "T", "xT", "xy"])
    alike = rng.random() < 0.5
    patterns = {c: draw(rng, variables, alike) for c in "ABCD"[: rng.choice([2, 3, 4])]}
    if len({p.text() for p in patterns.values()}) < len(patterns):
        return 0, []
    names = [*patterns, *(c + "^" for c in patterns if rng.random() < 0.2)]
    if rng.random() < 0.15:
        names = [c + "^" for c in patterns]
    rules, log = [], None
    for number in range(TOGETHER):
        e = expression(rng, rng.choice([1, 2, 2, 3]), names, unsafe, control)
        log = log or (near_log(rng, e, patterns, variables) if rng.random() < 0.7 else any_log(rng))
        observed, ends, clauses = draw_clauses(rng, variables, alike)
        writer = Writer(rng, patterns, number)
        text = writer.text(e) + clauses
        spec = "".join(writer.definitions) + f"expect E{number}: {text}\ndetect D{number}: {text}\n"
        said = replay(dpe, "auto", spec, [], folder)
        if isinstance(said, dict):
            rules.append((number, e, observed, ends, spec))
        elif "accepts nothing" not in said:
            return 1, [f"{spec}{said}"]
    if log is None:
        return 0, []
    reported = {g: replay(dpe, g, "".join(r[-1] for r in rules), log, folder) for g in engines}
    wrong = [f"{engine}: {said}" for engine, said in reported.items() if isinstance(said, str)]
    for number, e, observed, ends, spec in rules if not wrong else ():
        for engine, mode in itertools.product(engines, ("expect", "detect")):
            reference = Reference(e, patterns, observed, ends, log)
            got = reported[engine].get(f"{mode[0].upper()}{number}", [])
            wrong += [f"{spec}{json.dumps(log)}\n{engine}: {what}" for what in differences(
                mode, reference, got, mode == "detect" or not synchronises(e))]
    return len(rules), wrong


def main():
    args = options(__doc__, count=100)
    rng = random.Random(args.seed)
    with Cases(args) as cases:
        while cases.passed + cases.failed < args.count:
            held, wrong = check(args.dpe, rng, cases.folder)
            for what in wrong[:held]:
                cases.judge([what])
            cases.passed += max(held - len(wrong), 0)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
