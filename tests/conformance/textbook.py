#!/usr/bin/env python3
"""Petri nets of textbooks → DPE, compared with the net itself.

    textbook.py [--dpe ./dpe] [NAME…]

Each net has a size, the tokens or machines in it. Small ones are translated, and executions of
them, and some that are nearly so, are followed by the rule, as several.py does it with nets drawn
at random. Those as large as people draw them have to be translated into a rule that can be read;
larger ones, most of which have far too many markings, are refused.
"""
import random
import sys

import limited
import several
import silent
from cases import Cases, options, reasons


def buffer(n, pairs=1):
    """`pairs` producers and consumers share a buffer for n things."""
    initial, transitions = {"free": n}, []
    for i in range(pairs):
        initial |= {f"p{i}": 1, f"c{i}": 1}
        transitions += [(f"produce{i}", {f"p{i}": 1}, {f"q{i}": 1}), (f"get{i}", {f"c{i}": 1, "full": 1}, {f"d{i}": 1, "free": 1}),
                        (f"put{i}", {f"q{i}": 1, "free": 1}, {f"p{i}": 1, "full": 1}), (f"consume{i}", {f"d{i}": 1}, {f"c{i}": 1})]
    return initial, transitions


def readers(n):
    """n threads read side by side, or write alone."""
    return {"idle": n, "permits": n}, [
        ("startread", {"idle": 1, "permits": 1}, {"reading": 1}), ("endread", {"reading": 1}, {"idle": 1, "permits": 1}),
        ("startwrite", {"idle": 1, "permits": n}, {"writing": 1}), ("endwrite", {"writing": 1}, {"idle": 1, "permits": n})]


def philosophers(n):
    """They take the left fork, then the right one, and may all starve."""
    initial, transitions = {}, []
    for i in range(n):
        left, right = f"f{i}", f"f{(i + 1) % n}"
        initial |= {f"thinks{i}": 1, left: 1}
        transitions += [(f"left{i}", {f"thinks{i}": 1, left: 1}, {f"waits{i}": 1}), (f"right{i}", {f"waits{i}": 1, right: 1}, {f"eats{i}": 1}),
                        (f"put{i}", {f"eats{i}": 1}, {f"thinks{i}": 1, left: 1, right: 1})]
    return initial, transitions


def semaphore(n):
    """n threads, of which half as many at a time proceed."""
    return {"idle": n, "sem": (n + 1) // 2}, [("wait", {"idle": 1, "sem": 1}, {"in": 1}), ("post", {"in": 1}, {"idle": 1, "sem": 1})]


def forks(n):
    """A task becomes n, which become one, again and again."""
    return {"begin": 1}, [("fork", {"begin": 1}, {"task": n}), ("work", {"task": 1}, {"done": 1}), ("join", {"done": n}, {"begin": 1})]


def barrier(n):
    return {"runs": n}, [("arrive", {"runs": 1}, {"waits": 1}), ("leave", {"waits": n}, {"runs": n})]


def switches(n):
    return {"off": n}, [("on", {"off": 1}, {"lit": 1}), ("off", {"lit": 1}, {"off": 1})]


def pipeline(n):
    """n things go through three stages that hold one each."""
    return {"s0": n, "free1": 1, "free2": 1}, [
        ("first", {"s0": 1, "free1": 1}, {"s1": 1}), ("second", {"s1": 1, "free2": 1}, {"s2": 1, "free1": 1}),
        ("third", {"s2": 1}, {"done": 1, "free2": 1})]


def workers(n):
    """Two workers and n jobs."""
    return {"jobs": n, "idle": 2}, [("begin", {"jobs": 1, "idle": 1}, {"busy": 1}), ("end", {"busy": 1}, {"done": 1, "idle": 1})]


def condition(n):
    """n threads with a lock and a condition variable."""
    return {"lock": 1, "out": n}, [
        ("lock", {"out": 1, "lock": 1}, {"in": 1}), ("wait", {"in": 1}, {"sleeps": 1, "lock": 1}),
        ("signal", {"in": 1, "sleeps": 1}, {"in": 1, "woken": 1}), ("again", {"woken": 1, "lock": 1}, {"in": 1}),
        ("unlock", {"in": 1}, {"out": 1, "lock": 1})]


def kanban(n):
    """Four cells with n cards each."""
    initial, transitions = {f"cards{i}": n for i in "1234"}, []
    for i in "1234":
        transitions += [(f"good{i}", {f"made{i}": 1}, {f"out{i}": 1}), (f"bad{i}", {f"made{i}": 1}, {f"back{i}": 1}),
                        (f"again{i}", {f"back{i}": 1}, {f"made{i}": 1})]
    return initial, transitions + [
        ("enter", {"cards1": 1}, {"made1": 1}), ("split", {"cards2": 1, "cards3": 1, "out1": 1}, {"cards1": 1, "made2": 1, "made3": 1}),
        ("meet", {"cards4": 1, "out2": 1, "out3": 1}, {"cards2": 1, "cards3": 1, "made4": 1}), ("exit", {"out4": 1}, {"cards4": 1})]


def alternating(_):
    """The alternating-bit protocol over a channel that loses messages."""
    transitions = []
    for bit in "01":
        transitions += [(f"send{bit}", {f"s{bit}": 1}, {f"w{bit}": 1, f"m{bit}": 1}), (f"lose{bit}", {f"m{bit}": 1}, {f"l{bit}": 1}),
                        (f"timeout{bit}", {f"w{bit}": 1, f"l{bit}": 1}, {f"w{bit}": 1, f"m{bit}": 1})]
    return {"s0": 1, "r0": 1}, transitions + [
        ("receive0", {"m0": 1, "r0": 1}, {"a0": 1, "r1": 1}), ("ack0", {"w0": 1, "a0": 1}, {"s1": 1}),
        ("receive1", {"m1": 1, "r1": 1}, {"a1": 1, "r0": 1}), ("ack1", {"w1": 1, "a1": 1}, {"s0": 1})]


def peterson(_):
    """Two threads that exclude each other by three variables."""
    initial, transitions = {"out0": 1, "out1": 1, "no0": 1, "no1": 1, "turn0": 1}, []
    for me, other in ("01", "10"):
        transitions += [(f"flag{me}", {f"out{me}": 1, f"no{me}": 1}, {f"a{me}": 1, f"yes{me}": 1}),
                        (f"leave{me}", {f"in{me}": 1, f"yes{me}": 1}, {f"out{me}": 1, f"no{me}": 1}),
                        (f"enter{me}", {f"b{me}": 1, f"no{other}": 1}, {f"in{me}": 1, f"no{other}": 1}),
                        (f"enter{me}", {f"b{me}": 1, f"turn{me}": 1}, {f"in{me}": 1, f"turn{me}": 1})]
        transitions += [(f"turn{me}", {f"a{me}": 1, f"turn{turn}": 1}, {f"b{me}": 1, f"turn{other}": 1}) for turn in "01"]
    return initial, transitions


# By name: the sizes at which executions are followed, those at which a rule has to come, and the ones that are refused.
NETS = {
    buffer: ([1, 2, 3], [10], [50]), readers: ([2, 3], [5], [20]), philosophers: ([2, 3], [10], [20]),
    semaphore: ([2, 3], [6], [20]), forks: ([2, 3, 4], [8], [30]), barrier: ([2, 3, 4], [8], [30]),
    switches: ([2, 3], [10], [64, 200]), pipeline: ([2], [5], [20]), workers: ([2, 3], [5], [20]),
    condition: ([1, 2], [6], [10]), kanban: ([], [1], [4]), alternating: ([1], [], []), peterson: ([1], [], [])}


def arcs(weights):
    return [place for place, weight in weights.items() for _ in range(weight)]


class Large(several.Net):
    """One whose markings are not looked at."""

    def explore(self):
        return False, set()


def made(kind, size, net=several.Net):
    initial, transitions = kind(size)
    return net(arcs(initial), [(label, arcs(takes), arcs(leaves)) for label, takes, leaves in transitions])


def check_small(dpe, kind, size, folder):
    net = made(kind, size)
    rule = silent.translate(dpe, net, folder)
    if rule is None:
        return ["refused"]
    wrong = [silent.check(dpe, rule, net, e, folder) for seed in range(8) for e in silent.executions(random.Random(seed), net)]
    return [w for w in wrong if w] if wrong else ["no execution found"]


def check_large(dpe, kind, size, folder):
    rule = silent.translate(dpe, made(kind, size, Large), folder)
    if rule is None:
        return ["refused"]
    run = limited.run([dpe, "check", rule], 60)
    return [] if run.returncode == 0 else [f"dpe check: exit {run.returncode}: {run.stderr[:300]}"]


def check_refused(dpe, kind, size, folder):
    rule = silent.translate(dpe, made(kind, size, Large), folder)
    return [] if rule is None else ["not refused"]


def main():
    args = options(__doc__, vectors="*")
    with Cases(args) as cases:
        for kind, (small, large, refused) in NETS.items():
            if args.vectors and kind.__name__ not in args.vectors:
                continue
            for check, sizes in (check_small, small), (check_large, large), (check_refused, refused):
                for size in sizes:
                    cases.judge(reasons(check, args.dpe, kind, size, cases.folder), kind.__name__, size)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
