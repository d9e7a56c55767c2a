#!/usr/bin/env python3
"""Random rules with what expressions alone do not have: arguments and variables of the rule, phases,
`by`, conditions, `observing` and `without`, definitions with parameters and carets, control variables. Every engine
that applies is held against the reference semantics, slice by slice.

    rules.py [--dpe ./dpe] [--seed N] [--count N]

Several rules share a log, some of whose events can be read as several of their patterns. Prints what
differs and a closing line; the seed tells how to see it again.
"""
import itertools
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dpe_oracle as oracle
import limited
from patterns import Pattern, draw

TOGETHER = 6  # rules of one specification
MOST = 7      # events of a log
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


def expression(rng, depth, names, unsafe, control):
    if not depth or rng.random() < 0.2:
        return ("ev", rng.choice(names))
    parts = [expression(rng, depth - 1, names, unsafe, control) for _ in range(2)]
    kind = rng.choices(["seq", "par", "alt", "repeat"], [33, 27, 20, 20])[0]
    if kind != "repeat":
        return (kind, *parts)
    dice = rng.random()
    if control and dice < 0.5:
        return ("counted", parts[0], rng.choice("nm"))
    return ("clos" if unsafe and dice < 0.75 else "star", parts[0])


def plain(e):
    """With `*` in place of `*n`: something near a behaviour of it can be drawn."""
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
               "args": [rng.randint(1, 2), rng.randint(1, 2)], "vars": {"v": rng.randint(0, 1)}}
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
        # Who is in a thread already must come before.
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


class Reference:
    """What a rule says of a log."""

    def __init__(self, e, patterns, observed, log):
        self.e, self.log, self.p = e, log, order_of(log)
        names = sorted(literals(e))
        readings = [(l, patterns[l.rstrip("^")]) for l in names] + [(None, o) for o in observed]
        self.bindings = [[(l, b) for l, o in readings if (b := o.binding(m)) is not None] for m in log]
        self.known = [{}] if not any(o.variables for _, o in readings) else []

    def slice(self, values, last):
        """Its events up to that one, each with the literals that it can be."""
        found = {}
        for i in range(last + 1):
            fit = [l for l, b in self.bindings[i] if is_part(b, values)]
            if fit:
                found[i] = [l for l in fit if l]
        return found

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
        """Slices that begin with event k: their values, and what was the largest part of each."""
        older, found = list(self.known), True
        while found:
            found = [joined for _, b in self.bindings[k] for t in [{}] + self.known
                     if is_part({**t, **b}, {**b, **t}) and (joined := {**t, **b}) not in self.known]
            self.known += found[:1]
        return [(v, max((t for t in older if is_part(t, v)), key=len, default=None))
                for v in self.known[len(older):]]

    def is_part_of_another(self, values):
        return any(t != values and is_part(values, t) for t in self.known)

    def expect(self):
        """[(verdict, event, values)]. A slice that is a part of another says nothing: those do that
        begin with what it saw."""
        reported, state = [], {key(v): "live" for v in self.known}
        for k, message in enumerate(self.log):
            for values, part in self.begin(k):
                state[key(values)] = "live" if part is None else state[key(part)]
            for values in sorted(self.known, key=len):
                events, at = self.slice(values, k), key(values)
                if k not in events:
                    continue
                if state[at] == "live" and not self.holds(events, events, True):
                    state[at] = message["id"]
                if state[at] not in ("live", "reported") and not self.is_part_of_another(values):
                    reported.append(("violated", state[at], at))
                    state[at] = "reported"
        for values in self.known:
            if state[key(values)] == "live" and not self.is_part_of_another(values):
                events = self.slice(values, len(self.log) - 1)
                reported.append(("satisfied" if self.holds(events, events) else "incomplete", None, key(values)))
        return reported

    def is_match(self, members, events, values):
        rest = [x for x in events if x not in members]
        return all(not any(self.p.before(i, x) for i in members) or
                   not any(self.p.before(x, i) for i in members) for x in rest) and \
            self.holds(members, events, values=values)

    def detect(self):
        reported = []
        for k, message in enumerate(self.log):
            self.begin(k)
            for values in self.known:
                events = self.slice(values, k)
                before = [x for x in events if x != k]
                if k in events and any(self.is_match({k, *c}, events, values) for r in range(len(before) + 1)
                                       for c in itertools.combinations(before, r)):
                    reported.append(("match", message["id"], key(values)))
        return reported


# ---------------------------------------------------------------- held against each other


def replay(dpe, engine, spec, log, folder):
    """Verdicts by rule, or what was said where there are none."""
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
        slice = reference.slice(dict(values), at[event])
        if not reference.is_match({at[x] for x in events}, slice, dict(values)):
            yield f"{mode}: {events} is no match"


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
        observed = [draw(rng, variables, alike)] if rng.random() < 0.25 else []
        writer = Writer(rng, patterns, number)
        word = "observing" if number % 2 else "without"
        text = writer.text(e) + "".join(f" {word} {o.text()}" for o in observed)
        spec = "".join(writer.definitions) + f"expect E{number}: {text}\ndetect D{number}: {text}\n"
        said = replay(dpe, "auto", spec, [], folder)
        if isinstance(said, dict):
            rules.append((number, e, observed, spec))
        elif "accepts nothing" not in said:
            return 1, [f"{spec}{said}"]
    if log is None:
        return 0, []
    reported = {g: replay(dpe, g, "".join(r[3] for r in rules), log, folder) for g in engines}
    wrong = [f"{engine}: {said}" for engine, said in reported.items() if isinstance(said, str)]
    for number, e, observed, spec in rules if not wrong else ():
        for engine, mode in itertools.product(engines, ("expect", "detect")):
            reference = Reference(e, patterns, observed, log)
            got = reported[engine].get(f"{mode[0].upper()}{number}", [])
            wrong += [f"{spec}{json.dumps(log)}\n{engine}: {what}" for what in differences(
                mode, reference, got, mode == "detect" or not synchronises(e))]
    return len(rules), wrong


def main(argv):
    options = dict(zip(argv[1::2], argv[2::2]))
    dpe, seed, count = options.get("--dpe", "./dpe"), int(options.get("--seed", 1)), int(options.get("--count", 100))
    rng, held, failed = random.Random(seed), 0, 0
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        while held < count:
            rules, wrong = check(dpe, rng, folder)
            held += rules
            failed += min(rules, len(wrong))
            for what in wrong:
                print(what)
    print(f"{held - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
