#!/usr/bin/env python3
"""engine_names.py [--dpe DPE] VECTORS...: the engine that dpe check --explain names for each expression of the
vectors, as expect and as detect, with and without a variable, is the one that a run reports."""
import collections
import json
import re
import subprocess
import sys

from cases import Cases, options, read, write

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


def main():
    args = options(__doc__, vectors="+")
    expressions = [vector["dpe"] for path in args.vectors for vector in read(path)] + MORE
    with Cases(args) as cases:
        spec, log = f"{cases.folder}/rules.dpe", f"{cases.folder}/log.jsonl"
        write(spec, specification(expressions))
        write(log, '{"event":"other"}\n')
        words, runs = explained(args.dpe, spec), reported(args.dpe, spec, log)
    for i, expression in enumerate(expressions):
        for rule in (mode + f"_{i}" + of for mode in ("expect", "detect") for of in ("", "_of")):
            same = rule in runs and words.get(rule) == runs[rule]
            cases.judge([] if same else [f"{words.get(rule)} explained, {runs.get(rule)} run"], rule, expression)
    count = collections.Counter(engine for engine, _ in runs.values())
    print(", ".join(f"{engine}: {n}" for engine, n in sorted(count.items())))
    cases.require(len(count) == 4, "not every engine occurs")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
