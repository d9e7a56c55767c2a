#!/usr/bin/env python3
"""Reference semantics of Data Path Expressions over partial orders, by brute force.

Slow on purpose: every definition here is a direct transcription of
docs/semantics.md, with which the fast implementation is compared.
Only event names, the five operators and carets are covered (no arguments,
conditions or actions).

    dpe_oracle.py check  'a;(b&(c;d));e' 'a . | b a | d c | c a | e b d'
    dpe_oracle.py vectors --seed 1 --count 200 > vectors.jsonl

A pomset is written as messages 'event pred pred ...' separated by '|'; '.' means
no predecessor, and an event that occurs more than once is written name#1, name#2.
"""
import itertools
import json
import random
import re
import sys
from functools import lru_cache

# ---------------------------------------------------------------- expressions
# ('ev', literal) ('seq', l, r) ('alt', l, r) ('par', l, r) ('star', e) ('clos', e)

TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z_0-9]*\^*|[;+&*@()])")


def parse(text):
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise ValueError(f"column {at + 1}: unexpected {text[at]!r}")
        tokens.append(m.group(1))
        at = m.end()
    pos = 0

    def peek():
        return tokens[pos] if pos < len(tokens) else None

    def binary(op, kind, sub):
        nonlocal pos
        left = sub()
        while peek() == op:
            pos += 1
            left = (kind, left, sub())
        return left

    def alt():
        return binary("+", "alt", par)

    def par():
        return binary("&", "par", seq)

    def seq():
        return binary(";", "seq", post)

    def post():
        nonlocal pos
        e = atom()
        while peek() in ("*", "@"):
            e = ("star" if peek() == "*" else "clos", e)
            pos += 1
        return e

    def atom():
        nonlocal pos
        t = peek()
        if t == "(":
            pos += 1
            e = alt()
            if peek() != ")":
                raise ValueError("missing )")
            pos += 1
            return e
        if t is None or t in ";+&*@)":
            raise ValueError(f"an event is expected, not {t!r}")
        pos += 1
        return ("ev", t)

    e = alt()
    if pos != len(tokens):
        raise ValueError(f"unexpected {tokens[pos]!r}")
    return e


def show(e):
    k = e[0]
    if k == "ev":
        return e[1]
    if k in ("star", "clos"):
        return f"({show(e[1])})" + ("*" if k == "star" else "@")
    return f"({show(e[1])}{ {'seq': ';', 'alt': '+', 'par': '&'}[k] }{show(e[2])})"


@lru_cache(None)
def literals(e):
    if e[0] == "ev":
        return frozenset([e[1]])
    return frozenset().union(*(literals(x) for x in e[1:]))


def alphabet(e):
    return frozenset(l.rstrip("^") for l in literals(e))


def synchronises(e):
    """True where two operands of one & share a literal."""
    if e[0] == "ev":
        return False
    here = e[0] == "par" and literals(e[1]) & literals(e[2])
    return bool(here) or any(synchronises(x) for x in e[1:])


# ---------------------------------------------------------------- pomsets
class Pomset:
    """labels[i] and less[i] = the set of j with i before j (transitively closed)."""

    def __init__(self, labels, edges):
        n = len(labels)
        self.labels = list(labels)
        less = [set() for _ in range(n)]
        for i, j in edges:
            less[i].add(j)
        for k in range(n):
            for i in range(n):
                if k in less[i]:
                    less[i] |= less[k]
        if any(i in less[i] for i in range(n)):
            raise ValueError("cyclic")
        self.less = less

    def before(self, i, j):
        return j in self.less[i]

    def relation(self, members):
        return frozenset((i, j) for i in members for j in self.less[i] if j in members)

    def immediate(self, j, members):
        down = [i for i in members if self.before(i, j)]
        return [i for i in down if not any(self.before(i, k) for k in down)]

    def convex(self, members):
        rest = [x for x in range(len(self.labels)) if x not in members]
        return not any(
            any(self.before(m, x) for m in members) and any(self.before(x, m) for m in members)
            for x in rest
        )


def closure(pairs):
    pairs = set(pairs)
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return frozenset(pairs)
        pairs |= more


# ---------------------------------------------------------------- semantics
class Language:
    """Which relations over a set of events belong to [[e]], and to its prefixes."""

    def __init__(self, pomset, assignment):
        self.p = pomset
        self.lit = assignment  # event index -> literal
        self.memo = {}

    def ordered(self, first, second):
        return all(self.p.before(i, j) for i in first for j in second)

    def gen(self, e, a, prefix=False):
        key = (e, a, prefix)
        if key not in self.memo:
            self.memo[key] = frozenset(self._gen(e, a, prefix))
        return self.memo[key]

    def splits(self, a):
        """All (first, second) with every event of first before every one of second."""
        items = sorted(a)
        for r in range(len(items) + 1):
            for first in itertools.combinations(items, r):
                first = frozenset(first)
                second = a - first
                if self.ordered(first, second):
                    yield first, second

    def series(self, first, second, r1, r2):
        return r1 | r2 | frozenset((i, j) for i in first for j in second)

    def _gen(self, e, a, prefix):
        kind = e[0]
        if kind == "ev":
            if prefix and not a:
                yield frozenset()
            if len(a) == 1 and self.lit[next(iter(a))] == e[1]:
                yield frozenset()
        elif kind == "alt":
            yield from self.gen(e[1], a, prefix)
            yield from self.gen(e[2], a, prefix)
        elif kind == "seq":
            if prefix:
                yield from self.gen(e[1], a, True)
            for first, second in self.splits(a):
                for r1 in self.gen(e[1], first):
                    for r2 in self.gen(e[2], second, prefix):
                        yield self.series(first, second, r1, r2)
        elif kind == "star":
            if not a:
                yield frozenset()
                return
            if prefix:
                yield from self.gen(e[1], a, True)
            for first, second in self.splits(a):
                if first:
                    for r1 in self.gen(e[1], first):
                        for r2 in self.gen(e, second, prefix):
                            yield self.series(first, second, r1, r2)
        elif kind == "clos":
            if not a:
                yield frozenset()
                return
            lead = min(a)
            rest = sorted(a - {lead})
            for r in range(len(rest) + 1):
                for chosen in itertools.combinations(rest, r):
                    part = frozenset(chosen) | {lead}
                    for r1 in self.gen(e[1], part, prefix):
                        for r2 in self.gen(e, a - part, prefix):
                            yield r1 | r2
        elif kind == "par":
            l1, l2 = literals(e[1]), literals(e[2])
            a1 = frozenset(i for i in a if self.lit[i] in l1)
            a2 = frozenset(i for i in a if self.lit[i] in l2)
            if a1 | a2 != a:
                return
            for r1 in self.gen(e[1], a1, prefix):
                for r2 in self.gen(e[2], a2, prefix):
                    yield closure(r1 | r2)


def assignments(e, p, members):
    """Every way of reading each event as one of the literals with its name."""
    members = sorted(members)
    choices = [[l for l in literals(e) if l.rstrip("^") == p.labels[i]] for i in members]
    for pick in itertools.product(*choices):
        yield dict(zip(members, pick))


def in_language(e, p, members, prefix=False):
    members = frozenset(members)
    want = p.relation(members)
    return any(
        want in Language(p, lit).gen(e, members, prefix) for lit in assignments(e, p, members)
    )


def relevant(e, p):
    names = alphabet(e)
    return [i for i in range(len(p.labels)) if p.labels[i] in names]


def expect(e, p):
    """(accepted, index of the first violating event or None), events in causal order."""
    slice_ = relevant(e, p)
    for k in range(1, len(slice_) + 1):
        if not in_language(e, p, slice_[:k], prefix=True):
            return False, slice_[k - 1]
    return in_language(e, p, slice_), None


def restrict(p, members):
    """The sub-pomset on members, with the map back to p's indexes."""
    members = sorted(members)
    at = {x: i for i, x in enumerate(members)}
    edges = [(at[i], at[j]) for i in members for j in p.less[i] if j in at]
    return Pomset([p.labels[i] for i in members], edges), members


def detect(e, p):
    """Indexes of the events that complete a match, events in causal order."""
    q, back = restrict(p, relevant(e, p))
    done = []
    for k in range(len(back)):
        earlier = list(range(k))
        for r in range(k + 1):
            if any(
                q.convex(set(c) | {k}) and in_language(e, q, set(c) | {k})
                for c in itertools.combinations(earlier, r)
            ):
                done.append(back[k])
                break
    return done


def is_match(e, p, members):
    """True where members form a match of e in p (what a reported match must be)."""
    q, back = restrict(p, relevant(e, p))
    at = {x: i for i, x in enumerate(back)}
    if any(m not in at for m in members):
        return False
    inner = {at[m] for m in members}
    return bool(inner) and q.convex(inner) and in_language(e, q, inner)


# ---------------------------------------------------------------- vectors
def random_expr(rng, depth, names, unsafe=False):
    if depth == 0 or rng.random() < 0.2:
        return ("ev", rng.choice(names))
    k = rng.random()
    if k < 0.33:
        return ("seq", random_expr(rng, depth - 1, names, unsafe), random_expr(rng, depth - 1, names, unsafe))
    if k < 0.63:
        return ("par", random_expr(rng, depth - 1, names, unsafe), random_expr(rng, depth - 1, names, unsafe))
    if k < 0.83:
        return ("alt", random_expr(rng, depth - 1, names, unsafe), random_expr(rng, depth - 1, names, unsafe))
    kind = "clos" if unsafe and rng.random() < 0.5 else "star"
    return (kind, random_expr(rng, depth - 1, names, unsafe))


def sample(rng, e):
    """A random pomset of [[e]] as (literals, edges), or None if none was found by chance."""
    k = e[0]
    if k == "ev":
        return [e[1]], []
    if k == "alt":
        return sample(rng, e[1 + rng.randrange(2)])
    if k in ("star", "clos"):
        out = ([], [])
        for _ in range(rng.choice([0, 1, 1, 2, 2, 3])):
            s = sample(rng, e[1])
            if s is None:
                return None
            out = _join(out, s, k == "star")
        return out
    for _ in range(20):
        s1, s2 = sample(rng, e[1]), sample(rng, e[2])
        if s1 is None or s2 is None:
            return None
        if k == "seq":
            return _join(s1, s2, True)
        merged = _merge(rng, s1, s2, literals(e[1]) & literals(e[2]))
        if merged is not None:
            return merged
    return None


def _join(s1, s2, ordered):
    n = len(s1[0])
    edges = list(s1[1]) + [(i + n, j + n) for i, j in s2[1]]
    if ordered:
        edges += [(i, j + n) for i in range(n) for j in range(len(s2[0]))]
    return s1[0] + s2[0], edges


def _merge(rng, s1, s2, shared):
    n = len(s1[0])
    place = {}
    for lit in shared:
        i1 = [i for i, l in enumerate(s1[0]) if l == lit]
        i2 = [i for i, l in enumerate(s2[0]) if l == lit]
        if len(i1) != len(i2):
            return None
        rng.shuffle(i2)
        place.update(zip(i2, i1))
    labels, at = list(s1[0]), {}
    for j, l in enumerate(s2[0]):
        if j in place:
            at[j] = place[j]
        else:
            at[j] = len(labels)
            labels.append(l)
    edges = list(s1[1]) + [(at[i], at[j]) for i, j in s2[1]]
    try:
        Pomset(labels, edges)
    except ValueError:
        return None
    return labels, edges


def mutate(rng, labels, edges, names):
    labels, edges = list(labels), list(edges)
    n = len(labels)
    k = rng.randrange(6)
    if k == 0 and n > 1:
        i, j = sorted(rng.sample(range(n), 2))
        edges.append((i, j))
    elif k == 1 and edges:
        drop = rng.choice(edges)
        edges = [x for x in edges if x != drop]
    elif k == 2 and n:
        labels[rng.randrange(n)] = rng.choice(names)
    elif k == 3 and n:
        d = rng.randrange(n)
        labels.pop(d)
        edges = [(i - (i > d), j - (j > d)) for i, j in edges if d not in (i, j)]
    elif k == 4:
        labels.append(rng.choice(names))
        edges += [(i, n) for i in range(n) if rng.random() < 0.5]
    return labels, edges


def linear_extension(rng, p):
    n, done, order = len(p.labels), set(), []
    while len(order) < n:
        ready = [j for j in range(n) if j not in done and all(i in done for i in range(n) if p.before(i, j))]
        pick = rng.choice(ready)
        done.add(pick)
        order.append(pick)
    return order


def vectors(seed, count, unsafe=False, noise=True):
    rng = random.Random(seed)
    names = list("abcde")
    produced, seen = 0, set()
    while produced < count:
        pool = names[: rng.choice([2, 3, 4, 5])]
        lits = pool + [rng.choice(pool) + "^"] if rng.random() < 0.25 else pool
        e = random_expr(rng, rng.choice([1, 2, 2, 3, 3]), lits, unsafe)
        s = sample(rng, e)
        if s is None or len(s[0]) > 7 or (e[0] == "ev" and rng.random() < 0.95):
            continue
        labels, edges = [l.rstrip("^") for l in s[0]], s[1]
        for _ in range(rng.choice([0, 1, 1, 2])):
            labels, edges = mutate(rng, labels, edges, pool + (["x"] if noise else []))
        if not 2 <= len(labels) <= 7:
            continue
        try:
            p = Pomset(labels, edges)
        except ValueError:
            continue
        order = linear_extension(rng, p)
        p, _ = reorder(p, order)
        key = (show(e), tuple(p.labels), tuple(sorted(p.relation(range(len(p.labels))))))
        if key in seen:
            continue
        seen.add(key)
        accepted, violation = expect(e, p)
        done = detect(e, p)
        yield {
            "dpe": show(e),
            "messages": [
                {"id": f"e{i}", "event": p.labels[i], "pred": [f"e{j}" for j in p.immediate(i, range(len(labels)))]}
                for i in range(len(labels))
            ],
            "expect": {
                "accepted": accepted,
                # where operands synchronise, a violation may be certain one event earlier
                "violation": None if violation is None or synchronises(e) else f"e{violation}",
            },
            "detect": [f"e{i}" for i in done],
        }
        produced += 1


def reorder(p, order):
    at = {x: i for i, x in enumerate(order)}
    edges = [(at[i], at[j]) for i in range(len(order)) for j in p.less[i]]
    return Pomset([p.labels[i] for i in order], edges), at


def read_pomset(text):
    ids, labels, preds = [], [], []
    for part in text.split("|"):
        head, *rest = part.split()
        ids.append(head)
        labels.append(head.split("#")[0])
        preds.append([r for r in rest if r != "."])
    edges = [(ids.index(w), i) for i, ps in enumerate(preds) for w in ps]
    p = Pomset(labels, edges)
    order = linear_extension(random.Random(0), p)
    q, _ = reorder(p, order)
    return q, [ids[i] for i in order]


def main(argv):
    if len(argv) == 4 and argv[1] == "check":
        e = parse(argv[2])
        p, ids = read_pomset(argv[3])
        ok, bad = expect(e, p)
        print("expect:", "satisfied" if ok else f"violated at {ids[bad]}" if bad is not None else "incomplete")
        print("detect:", " ".join(ids[i] for i in detect(e, p)) or "no match")
        return 0
    if len(argv) >= 2 and argv[1] == "vectors":
        opt = dict(zip(argv[2::2], argv[3::2]))
        for v in vectors(int(opt.get("--seed", 1)), int(opt.get("--count", 100)), opt.get("--unsafe") == "yes"):
            print(json.dumps(v))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv))
