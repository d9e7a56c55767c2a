#!/usr/bin/env python3
"""Petri nets with several tokens in a place, and with weights → DPE, compared with the net itself.

    several.py [--dpe ./dpe] [--seed N] [--count N] [--silent N] [--refused N] [--seconds N]

Draws small k-safe nets, `--silent` (0) in a hundred of their transitions without a name; has each translated,
and replays executions of the net, and near misses, under the rule: exactly the executions of the net must
satisfy it. Each token carries its past. Nets that are refused, most of them
because a place of several tokens has no place invariant, and rules that cannot be followed in 20
seconds, are counted; more than `--refused` in a hundred (90) are a failure, and so are a translation
of more than `--seconds` (200) and any other error. All seconds are processor time.
"""
import itertools
import random
import subprocess
import sys

import limited
import silent
from cases import Cases, options, reasons

MANY_MARKINGS = 2000


class Net(silent.Net):
    """Inputs and outputs are sorted tuples of places, in which one may stand twice; so are markings. States are
    sorted tuples of (place, past)."""

    def __init__(self, initial, transitions):
        self.initial = tuple(sorted(initial))
        self.transitions = [(label, tuple(sorted(i)), tuple(sorted(o))) for label, i, o in transitions]
        self.places = sorted({p for _, i, o in self.transitions for p in i + o} | set(initial))
        self.fired = set()
        self.safe, self.markings = self.explore()
        if not self.safe:
            return
        dead = {m for m in self.markings if not any(self.after(m, t) is not None for t in self.transitions)}
        self.final = dead or {self.initial}

    def after(self, marking, t):
        left = list(marking)
        for place in t[1]:
            if place not in left:
                return None
            left.remove(place)
        return tuple(sorted(left + list(t[2])))

    def explore(self):
        """Unsafe where a marking covers one on the way to it."""
        seen, todo = {self.initial}, [(self.initial, ())]
        while todo:
            marking, way = todo.pop()
            for n, t in enumerate(self.transitions):
                after = self.after(marking, t)
                if after is None:
                    continue
                self.fired.add(n)
                if any(self.covers(after, m) for m in (*way, marking)) or len(seen) > MANY_MARKINGS:
                    return False, seen
                if after not in seen:
                    seen.add(after)
                    todo.append((after, (*way, marking)))
        return True, seen

    def covers(self, more, less):
        return more != less and all(more.count(p) >= less.count(p) for p in less)

    def firings(self, state, t, event):
        """Each (state after it, past) there is, by which tokens are taken."""
        wanted = {p: t[1].count(p) for p in t[1]}
        ways = [set(itertools.combinations(sorted((x for x in state if x[0] == p), key=key), n))
                for p, n in wanted.items()]
        for chosen in itertools.product(*ways):
            taken = [x for some in chosen for x in some]
            left = list(state)
            for x in taken:
                left.remove(x)
            past = frozenset().union(*(p for _, p in taken)) | ({event} if t[0] else frozenset())
            yield tuple(sorted(left + [(p, past) for p in t[2]], key=key)), past

    def close(self, states):
        todo = list(states)
        while todo:
            state = todo.pop()
            for t in self.transitions:
                for after, _ in self.firings(state, t, None) if t[0] is None else ():
                    if after not in states:
                        states.add(after)
                        todo.append(after)
        return states

    def begin(self):
        return tuple((p, frozenset()) for p in self.initial)

    def accepts(self, labels, before):
        states = self.close({self.begin()})
        for i, label in enumerate(labels):
            states = self.close({new for state in states for t in self.transitions if t[0] == label
                                 for new, past in self.firings(state, t, i) if past == before[i] | {i}})
        return any(tuple(p for p, _ in s) in self.final for s in states)

    def walk(self, rng):
        state, labels, before = self.begin(), [], []
        for _ in range(40):
            marking = tuple(p for p, _ in state)
            able = [t for t in self.transitions
                    if self.after(marking, t) is not None and (t[0] is None or len(labels) < 7)]
            if marking in self.final and (not able or rng.random() < 0.3):
                return labels, before
            if not able:
                return None
            t = rng.choice(able)
            state, past = rng.choice(sorted(set(self.firings(state, t, len(labels))), key=repr))
            if t[0]:
                before.append(past - {len(labels)})
                labels.append(t[0])
        return None

    def pnml(self):
        out = [f'<pnml xmlns="{silent.SPACE}pnml"><net id="n" type="{silent.SPACE}ptnet"><page id="g">']
        out += [f'<place id="{p}"><initialMarking><text>{self.initial.count(p)}</text></initialMarking></place>'
                for p in self.places]
        arcs = 0
        for n, (label, takes, leaves) in enumerate(self.transitions):
            name = f"<name><text>{label or ''}</text></name>"
            out.append(f'<transition id="t{n}">{name}</transition>')
            for source, target, places in [("%s", f"t{n}", takes), (f"t{n}", "%s", leaves)]:
                for p in sorted(set(places)):
                    ends = f'source="{source.replace("%s", p)}" target="{target.replace("%s", p)}"'
                    out.append(f'<arc id="a{arcs}" {ends}><inscription><text>{places.count(p)}</text></inscription></arc>')
                    arcs += 1
        return "\n".join(out) + "</page></net></pnml>\n"


def key(token):
    return token[0], sorted(token[1])


def arcs(rng, places, least):
    return [p for p in rng.sample(places, min(len(places), rng.choice([1, 1, 2, 3]) - 1 + least))
            for _ in range(rng.choice([1, 1, 2]))]


def draw(rng, silent_ones):
    """A bounded net in which something can happen."""
    while True:
        places = [f"p{i}" for i in range(rng.randint(2, 5))]
        labels = [rng.choice("abcde") if rng.random() < 0.25 else "abcde"[i] for i in range(rng.randint(2, 5))]
        transitions = [(None if rng.random() * 100 < silent_ones else label,
                        arcs(rng, places, 1) if rng.random() < 0.5 else [rng.choice(places)],
                        arcs(rng, places, 0)) for label in labels]
        net = Net([p for p in places for _ in range(rng.randint(0, 2))], transitions)
        several = net.safe and any(m.count(p) > 1 for m in net.markings for p in places)
        if several and any((net.walk(rng) or [None])[0] for _ in range(20)):
            return net


def check_net(dpe, rng, net, folder, seconds):
    """What is wrong; None if the net is refused, or its rule too slow."""
    begin = limited.used()
    rule = silent.translate(dpe, net, folder)
    took = limited.used() - begin
    wrong = [f"took {took:.1f} s"] if took > seconds else []
    if rule is None:
        return wrong or None
    try:
        wrong += [silent.check(dpe, rule, net, e, folder) for e in silent.executions(rng, net)]
    except subprocess.TimeoutExpired:
        return wrong or None
    return [w for w in wrong if w]


def main():
    args, refused = options(__doc__, count=100, silent=0, seconds=200.0, refused=90), 0
    with Cases(args) as cases:
        for number in range(args.count):
            rng = random.Random(f"{args.seed} {number}")
            net = draw(rng, args.silent)
            wrong = reasons(check_net, args.dpe, rng, net, cases.folder, args.seconds)
            refused += wrong is None
            if wrong is not None:
                cases.judge(wrong, number, net.initial, net.transitions)
    print(f"{refused} refused")
    cases.require(refused * 100 <= args.count * args.refused, f"{refused} of {args.count} were refused")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
