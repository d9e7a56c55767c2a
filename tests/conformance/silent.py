#!/usr/bin/env python3
"""Petri nets with silent transitions → DPE, compared with the net itself.

    silent.py [--dpe ./dpe] [--seed N] [--count N] [--refused PERCENT]

Draws 1-safe nets, many of them with cycles of silent transitions and with silent transitions
without outputs; has each translated, and replays executions of the net, and near misses, under the rule:
exactly the executions of the net must satisfy it. Each token carries its past. Nets that
are refused, or whose rules cannot be followed in 20 seconds, are counted; more than `--refused` in
a hundred (50) are a failure, and so is any other error.
"""
import json
import os
import random
import subprocess
import sys

import dpe_oracle as oracle
import limited
from cases import Cases, options, reasons

REFUSED = ("not supported: ",)
SPACE = "http://www.pnml.org/version-2009/grammar/"


class Net:
    """Transitions are (label or None, inputs, outputs); a marking is a set of places."""

    def __init__(self, initial, transitions):
        self.initial, self.transitions = frozenset(initial), transitions
        self.safe, self.markings = self.explore()
        dead = {m for m in self.markings if not any(i <= m for _, i, _ in transitions)}
        self.final = dead or {self.initial}

    def explore(self):
        seen, todo = {self.initial}, [self.initial]
        while todo:
            marking = todo.pop()
            for _, takes, leaves in self.transitions:
                if not takes <= marking:
                    continue
                if (marking - takes) & leaves:
                    return False, seen
                after = marking - takes | leaves
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return True, seen

    def fire(self, state, t, event):
        """States are sets of (place, past), in which pasts are sets of events."""
        label, takes, leaves = t
        taken = {x for x in state if x[0] in takes}
        past = frozenset().union(*(p for _, p in taken))
        if label:
            past |= {event}
        return state - taken | {(p, past) for p in leaves}, past

    def enabled(self, state, t):
        return t[1] <= {p for p, _ in state}

    def close(self, states):
        todo = list(states)
        while todo:
            state = todo.pop()
            for t in self.transitions:
                if t[0] is None and self.enabled(state, t):
                    after = self.fire(state, t, None)[0]
                    if after not in states:
                        states.add(after)
                        todo.append(after)
        return states

    def accepts(self, labels, before):
        """Events in a causal order; before[i] are the ones that precede event i."""
        states = self.close({frozenset((p, frozenset()) for p in self.initial)})
        for i, label in enumerate(labels):
            after = set()
            for state in states:
                for t in self.transitions:
                    if t[0] == label and self.enabled(state, t):
                        new, past = self.fire(state, t, i)
                        if past == before[i] | {i}:
                            after.add(new)
            states = self.close(after)
        return any(frozenset(p for p, _ in s) in self.final for s in states)

    def walk(self, rng):
        """An execution that ends, or None."""
        state = frozenset((p, frozenset()) for p in self.initial)
        labels, before = [], []
        for _ in range(40):
            marking = frozenset(p for p, _ in state)
            able = [t for t in self.transitions if t[1] <= marking and (t[0] is None or len(labels) < 6)]
            if marking in self.final and (not able or rng.random() < 0.3):
                return labels, before
            if not able:
                return None
            t = rng.choice(able)
            state, past = self.fire(state, t, len(labels))
            if t[0]:
                before.append(past - {len(labels)})
                labels.append(t[0])
        return None

    def pnml(self):
        places = sorted({p for _, i, o in self.transitions for p in i | o} | self.initial)
        out = [f'<pnml xmlns="{SPACE}pnml"><net id="n" type="{SPACE}ptnet"><page id="g">']
        out += [f'<place id="{p}"><initialMarking><text>{int(p in self.initial)}</text></initialMarking></place>'
                for p in places]
        arcs = 0
        for n, (label, takes, leaves) in enumerate(self.transitions):
            name = f"<name><text>{label or ''}</text></name>"
            out.append(f'<transition id="t{n}">{name}</transition>')
            for source, target in [(p, f"t{n}") for p in sorted(takes)] + [(f"t{n}", p) for p in sorted(leaves)]:
                out.append(f'<arc id="a{arcs}" source="{source}" target="{target}"/>')
                arcs += 1
        return "\n".join(out) + "</page></net></pnml>\n"


def machines(rng):
    """Sequential machines side by side, which move together here and there."""
    count = rng.choice([1, 2, 2, 2, 3])
    states = [[f"{c}{i}" for i in range(rng.choice([1, 2, 2, 3]))] for c in "pqr"[:count]]
    transitions = []
    for label in rng.sample(["a", "b", "c"], rng.choice([1, 2, 2, 3])) + [None] * rng.choice([1, 2, 3, 4]):
        part = [s for s in states if rng.random() < (0.5 if label else 0.7)] or [rng.choice(states)]
        transitions.append((label, frozenset(rng.choice(s) for s in part), frozenset(rng.choice(s) for s in part)))
    if rng.random() < 0.7:
        transitions.append((None, frozenset(rng.choice(s) for s in states),
                            frozenset(["over"] if rng.random() < 0.7 else [])))
    return Net([s[0] for s in states], transitions)


def anything(rng):
    places = [f"p{i}" for i in range(rng.choice([3, 4, 5]))]
    labels = rng.sample(["a", "b", "c"], rng.choice([1, 2, 3])) + [None] * rng.choice([1, 2, 3])
    transitions = [(label, frozenset(rng.sample(places, rng.choice([1, 1, 2]))),
                    frozenset(rng.sample(places, rng.choice([0, 1, 1, 2])))) for label in labels]
    return Net(rng.sample(places, rng.choice([1, 2])), transitions)


def draw(rng):
    while True:
        net = rng.choice((machines, machines, anything))(rng)
        used = {t[0] for t in net.transitions if any(t[1] <= m for m in net.markings)}
        if net.safe and None in used and len(used) > 1 and any((net.walk(rng) or [None])[0] for _ in range(20)):
            return net


def executions(rng, net):
    """Of the net, and some that differ in an event or an arrow."""
    for _ in range(6):
        walk = net.walk(rng)
        if walk is None or not walk[0]:
            continue
        yield walk
        edges = [(i, j) for j, past in enumerate(walk[1]) for i in past]
        labels, edges = oracle.mutate(rng, walk[0], edges, sorted({t[0] for t in net.transitions if t[0]}))
        try:
            p = oracle.Pomset(labels, edges)
        except ValueError:
            continue
        if labels:
            p, _ = oracle.reorder(p, oracle.linear_extension(rng, p))
            yield p.labels, [frozenset(i for i in range(len(labels)) if p.before(i, j)) for j in range(len(labels))]


def translate(dpe, net, folder):
    """The file of the rule, or None where the net is refused."""
    path = os.path.join(folder, "n.pnml")
    with open(path, "w") as f:
        f.write(net.pnml())
    run = limited.run([dpe, "compile", path], 300)
    if run.returncode == 2 and any(text in run.stderr for text in REFUSED):
        return None
    if run.returncode:
        raise RuntimeError(f"exit {run.returncode}: {run.stderr[:300]}")
    with open(os.path.join(folder, "n.dpe"), "w") as f:
        f.write(run.stdout)
    return f.name


def check(dpe, rule, net, execution, folder):
    labels, before = execution
    log = os.path.join(folder, "n.jsonl")
    with open(log, "w") as f:
        f.writelines(json.dumps({"event": e, "id": f"e{i}", "pred": [f"e{j}" for j in sorted(before[i])]}) + "\n"
                     for i, e in enumerate(labels))
    run = limited.run([dpe, "replay", "--format=json", "-s", rule, log], 20)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"exit {run.returncode}: {run.stderr[:300]}")
    if (run.returncode == 0) == net.accepts(labels, before):
        return None
    return f"{labels} {[sorted(b) for b in before]} is {'satisfied' if run.returncode == 0 else 'not satisfied'}"


def check_net(dpe, rng, net, folder):
    """What is wrong; None where the net is refused or its rule is too slow."""
    rule = translate(dpe, net, folder)
    if rule is None:
        return None
    try:
        wrong = [check(dpe, rule, net, e, folder) for e in executions(rng, net)]
    except subprocess.TimeoutExpired:
        return None
    return [w for w in wrong if w]


def main():
    args, refused = options(__doc__, count=100, refused=50), 0
    with Cases(args) as cases:
        for number in range(args.count):
            rng = random.Random(f"{args.seed} {number}")
            net = draw(rng)
            wrong = reasons(check_net, args.dpe, rng, net, cases.folder)
            refused += wrong is None
            if wrong is not None:
                cases.judge(wrong, number, sorted(net.initial), [(t[0], sorted(t[1]), sorted(t[2])) for t in net.transitions])
    print(f"{refused} refused")
    cases.require(refused * 100 <= args.count * args.refused, f"{refused} of {args.count} were refused")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
