#!/usr/bin/env python3
"""nets.py [--dpe DPE] VECTORS: plays accepted executions on the nets that dpe writes.

Each execution that a vector accepts must take the token of the rule's net from start to end, in
the order of its messages; one that is longer than any behaviour must not. All markings of a net
of a safe rule are 1-safe, and without inhibitor arcs the same net as PNML has the same places,
transitions and arcs.
"""
import os
import re
import sys
import xml.etree.ElementTree as xml

import dpe_oracle as oracle
import limited
from cases import Cases, options, read

NAMESPACE = "{http://www.pnml.org/version-2009/grammar/pnml}"


def compile_net(dpe, spec, emit):
    run = limited.run([dpe, "compile", f"--emit={emit}", spec], 60)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return run.stdout


def places_of(text):
    return [int(p) for p in re.findall(r"p(\d+)", text)]


class Net:
    def __init__(self, text):
        head = re.search(r"places (\d+), transitions (\d+), ([\w-]+), start p(\d+), end p(\d+)", text)
        self.nplaces, self.kind = int(head.group(1)), head.group(3)
        self.start, self.end = int(head.group(4)), int(head.group(5))
        self.transitions = []
        for label, ins, outs, unless in re.findall(
                r"^t\d+ (.*?): ?((?: ?p\d+)+) --> ((?: ?p\d+)+)(?: unless((?: p\d+)+))?$", text, re.M):
            self.transitions.append((None if label == "(silent)" else label.rstrip("^"),
                                     places_of(ins), places_of(outs), places_of(unless)))
        assert len(self.transitions) == int(head.group(2)), text

    def fire(self, marking, transition, most):
        _, ins, outs, unless = transition
        after = list(marking)
        for p in ins:
            after[p] -= 1
        if min(after) < 0 or any(after[p] or marking[p] for p in unless):
            return None
        for p in outs:
            after[p] += 1
        assert self.kind != "1-safe" or max(after) <= 1, "not 1-safe"
        return tuple(after) if max(after) <= most else None

    def closure(self, markings, most):
        seen, todo = set(markings), list(markings)
        while todo:
            marking = todo.pop()
            for transition in self.transitions:
                after = self.fire(marking, transition, most) if transition[0] is None else None
                if after is not None and after not in seen:
                    seen.add(after)
                    todo.append(after)
        return seen

    def marked(self, place):
        return tuple(int(p == place) for p in range(self.nplaces))

    def accepts(self, events):
        most = len(events) + 1
        markings = self.closure({self.marked(self.start)}, most)
        for event in events:
            after = {self.fire(m, t, most) for m in markings for t in self.transitions if t[0] == event}
            markings = self.closure(after - {None}, most)
        return self.marked(self.end) in markings


# What the standard's grammar of P/T nets allows, of what dpe writes: element, attributes, content.
PTNET = {"pnml": ((), ("net",)), "net": (("id", "type"), ("name", "page")), "page": (("id",), ("place", "transition", "arc")),
         "place": (("id",), ("name", "initialMarking")), "transition": (("id",), ("name",)),
         "arc": (("id", "source", "target"), ()), "name": ((), ("text",)), "initialMarking": ((), ("text",)),
         "text": ((), ())}


def is_ptnet(element, parent="document"):
    name = element.tag.removeprefix(NAMESPACE)
    if not element.tag.startswith(NAMESPACE) or name not in PTNET:
        return False
    attributes, content = PTNET[name]
    text = (element.text or "").strip()
    return (sorted(element.keys()) == sorted(attributes)
            and re.fullmatch(r"[A-Za-z_][\w.-]*", element.get("id", "x")) is not None
            and (name == "text" or not text)
            and (parent != "initialMarking" or text.isdigit())
            and (name != "net" or element.get("type") == "http://www.pnml.org/version-2009/grammar/ptnet")
            and all(c.tag.removeprefix(NAMESPACE) in content and is_ptnet(c, name) for c in element)
            and all(len(element.findall(NAMESPACE + once)) <= 1 for once in ("name", "initialMarking", "text")))


def same_as_pnml(net, text):
    root = xml.fromstring(text)
    if not is_ptnet(root):
        return False
    places = root.findall(f".//{NAMESPACE}place")
    transitions = root.findall(f".//{NAMESPACE}transition")
    arcs = root.findall(f".//{NAMESPACE}arc")
    ids = [e.get("id") for e in (*places, *transitions, *arcs)]
    wanted = sum(len(t[1]) + len(t[2]) for t in net.transitions)
    known = all(a.get("source") in ids and a.get("target") in ids for a in arcs)
    marked = [p.get("id") for p in places if p.find(f"{NAMESPACE}initialMarking") is not None]
    return (len(places), len(transitions), len(arcs), len(set(ids)), known, marked) == (
        net.nplaces, len(net.transitions), wanted, len(ids), True, [f"n0p{net.start}"])


def check(dpe, vector, folder):
    spec = os.path.join(folder, "n.dpe")
    with open(spec, "w") as f:
        f.write(f"expect R: {vector['dpe']}\n")
    net = Net(compile_net(dpe, spec, "net"))
    if net.kind != "extended" and not same_as_pnml(net, compile_net(dpe, spec, "pnml")):
        return "PNML differs"
    e = oracle.parse(vector["dpe"])
    names = oracle.alphabet(e)
    events = [m["event"] for m in vector["messages"] if m["event"] in names]
    if vector["expect"]["accepted"] and not net.accepts(events):
        return f"{events} does not reach the end"
    strange = events + [sorted(names)[0]] * (len(events) + 20)
    if oracle.literals(e) and not has_repetition(e) and net.accepts(strange):
        return f"{strange} reaches the end"
    return None


def has_repetition(e):
    return e[0] in ("star", "clos") or any(has_repetition(x) for x in e[1:] if isinstance(x, tuple))


def main():
    args = options(__doc__, vectors="+")
    with Cases(args) as cases:
        for path in args.vectors:
            for vector in read(path):
                wrong = check(args.dpe, vector, cases.folder)
                cases.judge([wrong] if wrong else [], vector["dpe"])
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
