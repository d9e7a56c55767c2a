#!/usr/bin/env python3
"""nets.py DPE VECTORS: plays accepted executions on the nets that dpe writes.

Each execution that a vector accepts must take the token of the rule's net from start to end, in
the order of its messages; one that is longer than any behaviour must not. All markings are 1-safe.
The same net as PNML has the same places, transitions and arcs.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dpe_oracle as oracle

NAMESPACE = "{http://www.pnml.org/version-2009/grammar/pnml}"


def compile_net(dpe, spec, emit):
    run = subprocess.run([dpe, "compile", f"--emit={emit}", spec], capture_output=True, text=True, timeout=60)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return run.stdout


def parse(text):
    head = re.search(r"places (\d+), transitions (\d+), ([\w-]+), start p(\d+), end p(\d+)", text)
    transitions = []
    for label, ins, outs in re.findall(r"^t\d+ (.*?): ?((?: ?p\d+)+) --> ((?: ?p\d+)+)$", text, re.M):
        places = [tuple(int(p) for p in re.findall(r"p(\d+)", side)) for side in (ins, outs)]
        transitions.append((None if label == "(silent)" else label.rstrip("^"), *places))
    assert len(transitions) == int(head.group(2)), text
    return int(head.group(1)), transitions, int(head.group(4)), int(head.group(5))


def fire(marking, ins, outs):
    if not set(ins) <= marking:
        return None
    rest = marking - set(ins)
    assert not rest & set(outs), "not 1-safe"
    return rest | set(outs)


def closure(markings, transitions):
    seen, todo = set(markings), list(markings)
    while todo:
        marking = todo.pop()
        for label, ins, outs in transitions:
            after = fire(marking, ins, outs) if label is None else None
            if after is not None and after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def accepts(net, events):
    _, transitions, start, end = net
    markings = closure({frozenset([start])}, transitions)
    for event in events:
        after = {fire(m, ins, outs) for m in markings for label, ins, outs in transitions if label == event}
        markings = closure(after - {None}, transitions)
    return frozenset([end]) in markings


def same_as_pnml(net, text):
    root = xml.fromstring(text)
    places = root.findall(f".//{NAMESPACE}place")
    transitions = root.findall(f".//{NAMESPACE}transition")
    arcs = root.findall(f".//{NAMESPACE}arc")
    ids = [e.get("id") for e in (*places, *transitions, *arcs)]
    wanted = sum(len(i) + len(o) for _, i, o in net[1])
    known = all(a.get("source") in ids and a.get("target") in ids for a in arcs)
    marked = [p.get("id") for p in places if p.find(f"{NAMESPACE}initialMarking") is not None]
    return (len(places), len(transitions), len(arcs), len(set(ids)), known, marked) == (
        net[0], len(net[1]), wanted, len(ids), True, [f"p{net[2]}"])


def check(dpe, vector, folder):
    spec = os.path.join(folder, "n.dpe")
    with open(spec, "w") as f:
        f.write(f"expect R: {vector['dpe']}\n")
    net = parse(compile_net(dpe, spec, "net"))
    if not same_as_pnml(net, compile_net(dpe, spec, "pnml")):
        return "PNML differs"
    e = oracle.parse(vector["dpe"])
    names = oracle.alphabet(e)
    events = [m["event"] for m in vector["messages"] if m["event"] in names]
    if vector["expect"]["accepted"] and not accepts(net, events):
        return f"{events} does not reach the end"
    strange = events + [sorted(names)[0]] * (len(events) + 20)
    if oracle.literals(e) and not has_repetition(e) and accepts(net, strange):
        return f"{strange} reaches the end"
    return None


def has_repetition(e):
    return e[0] in ("star", "clos") or any(has_repetition(x) for x in e[1:] if isinstance(x, tuple))


def main(argv):
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for line in open(argv[2]):
            vector = json.loads(line)
            wrong = check(argv[1], vector, folder)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(vector["dpe"], wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
