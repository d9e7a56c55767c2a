#!/usr/bin/env python3
"""engine_names.py [--dpe DPE] VECTORS...: the engine that dpe check --explain names for each expression of the
vectors, as expect and as detect, with and without a variable, is the one that a run reports."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

# Rules that the vectors lack: too large for one automaton, and conditions on other positions.
MORE = [" & ".join(f"(a{i};b{i})" for i in range(20)), "a & b", "a & (b + c)", "(a;b) & (c;d) & (e;f)",
        "(a;b)@ & (c;d)@"]


def specification(expressions):
    rules = []
    for i, expression in enumerate(expressions):
        bound = re.sub(r"([a-z][0-9]*\^*)(?![a-z0-9^(])", r"\1(x)", expression)
        for mode in "expect", "detect":
            rules.append(f"{mode} {mode}_{i}: {expression}\n")
            rules.append(f"{mode} {mode}_{i}_of(x): {bound}\n")
    return "".join(rules)


def explained(dpe, spec):
    reported = subprocess.run([dpe, "check", "--explain", "--format=json", spec], capture_output=True, text=True)
    rules = [json.loads(line) for line in reported.stdout.splitlines()]
    return {rule["rule"]: (rule.get("engine"), rule.get("reason")) for rule in rules}


def reported(dpe, spec, log):
    run = subprocess.run([dpe, "replay", "--debug=recognizer", "-s", spec, log], capture_output=True, text=True)
    lines = re.findall(r"(\w+): engine: ([^:]*): (.*)", run.stderr)
    return {rule: (engine, reason) for rule, engine, reason in lines}


def main(argv):
    dpe = "./dpe"
    if argv[1:2] == ["--dpe"]:
        dpe, argv = argv[2], argv[2:]
    expressions = [json.loads(line)["dpe"] for path in argv[1:] for line in open(path)] + MORE
    with tempfile.TemporaryDirectory() as folder:
        spec, log = os.path.join(folder, "rules.dpe"), os.path.join(folder, "log.jsonl")
        with open(spec, "w") as f:
            f.write(specification(expressions))
        with open(log, "w") as f:
            f.write('{"event":"other"}\n')
        words, runs = explained(dpe, spec), reported(dpe, spec, log)
    failed = 0
    for i in range(len(expressions)):
        for rule in (mode + f"_{i}" + of for mode in ("expect", "detect") for of in ("", "_of")):
            if rule not in runs or words.get(rule) != runs[rule]:
                failed += 1
                print(f"{rule}: {expressions[i]}: {words.get(rule)} explained, {runs.get(rule)} run")
    count = collections.Counter(engine for engine, _ in runs.values())
    print(", ".join(f"{engine}: {n}" for engine, n in sorted(count.items())))
    if len(count) != 4:
        failed += 1
        print("not every engine occurs")
    print(f"{len(expressions) * 4 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(sys.argv))
