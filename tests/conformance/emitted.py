#!/usr/bin/env python3
"""Execute emitted automata.

    emitted.py [--dpe ./dpe] vectors.jsonl ...

Compiles each vector's rule with `dpe compile --emit=json`, executes the automaton here, and compares
verdict and first violation with the vector's. This program knows only the emitted text of the rule. Prints
each difference, then one closing line; exits 1 if anything differs.
"""
import json
import subprocess
import sys

from cases import Cases, options, read, write


def emit(dpe, rules, spec):
    """The automata of `expect` rules, None for one that has none."""
    write(spec, "".join(f"expect R{i}: {rule}\n" for i, rule in enumerate(rules)))
    done = subprocess.run([dpe, "compile", "--emit=json", spec], capture_output=True, text=True)
    automata = {a["rule"]: a for a in map(json.loads, done.stdout.splitlines())}
    return [automata.get(f"R{i}") for i in range(len(rules))]


def project(messages, patterns):
    """The messages of the rule: (id, event, ids of its immediate predecessors among them)."""
    past, before, kept = {}, {}, []
    for message in messages:
        ids = set().union(*(past[p] | {p} for p in message["pred"])) if message["pred"] else set()
        past[message["id"]] = ids
        if message["event"] in patterns:
            own = {i for i in ids if i in before}
            immediate = own - {j for i in own for j in before[i]}
            before[message["id"]] = own
            kept.append((message["id"], message["event"], immediate))
    return kept


def execute(automaton, messages):
    """Returns (accepted, id of the first message that no transition takes, or None)."""
    patterns, states = automaton["events"], automaton["states"]
    moves = {}
    for move in automaton["transitions"]:
        moves.setdefault((move["from"], patterns[move["event"]]), []).append(move)
    configurations = {(automaton["start"], ())}
    for name, event, pred in project(messages, set(patterns.values())):
        following = set()
        for state, registers in configurations:
            for move in moves.get((state, event), []):
                if {registers[r] for r in move["pred"]} == pred:
                    held = tuple(name if r == "new" else registers[r] for r in move["next"])
                    assert len(held) == len(states[move["to"]]["registers"])
                    following.add((move["to"], held))
        if not following:
            return False, name
        configurations = following
    return any(states[state]["final"] for state, _ in configurations), None


def compare(vector, automaton):
    if automaton is None:
        return ["no automaton was emitted"]
    accepted, violation = execute(automaton, vector["messages"])
    want, wrong = vector["expect"], []
    if accepted != want["accepted"]:
        wrong.append(f"accepted is {want['accepted']}, not {accepted}")
    if want["violation"] and violation != want["violation"]:
        wrong.append(f"violated at {want['violation']}, not at {violation}")
    return wrong


def main():
    args = options(__doc__, vectors="+")
    with Cases(args) as cases:
        for path in args.vectors:
            vectors = read(path)
            for vector, automaton in zip(vectors, emit(args.dpe, [v["dpe"] for v in vectors], f"{cases.folder}/rules.dpe")):
                cases.judge(compare(vector, automaton), vector["dpe"])
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
