#!/usr/bin/env python3
"""Compare a dpe command with the conformance vectors.

    run.py [--dpe ./dpe] [--shuffle SEED] [--engine=ENGINE] vectors.jsonl ...

For each vector it writes a specification and an event log, runs
`dpe replay --format=json -s SPEC LOG` once in expect and once in detect mode, and
compares the verdicts with the vector's. Every reported match is checked against the
reference semantics (dpe_oracle.py). With --shuffle the messages arrive in a
random order that ignores causality: the verdicts must not change. Prints each
difference, then one closing line; exits 1 if anything differs.
"""
import json
import os
import random
import sys

import dpe_oracle as oracle
import limited
from cases import Cases, options, read, reasons

SECONDS = 60  # of processor time, for one replay


def replay(dpe, options, mode, expr, messages, folder):
    spec, log = f"{folder}/v.dpe", f"{folder}/v.jsonl"
    with open(spec, "w") as f:
        f.write(f"{mode} R: {expr}\n")
    with open(log, "w") as f:
        f.writelines(json.dumps(m) + "\n" for m in messages)
    run = limited.run([dpe, "replay", "--format=json", "--allow-unobserved", *options, "-s", spec, log], SECONDS)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"exit {run.returncode}: {run.stderr.strip()[:300]}")
    out = [json.loads(l) for l in run.stdout.splitlines() if l.strip()]
    return [o for o in out if o.get("type") == "verdict" and o.get("rule") == "R"], run.returncode


def check(dpe, options, v, shuffle, folder):
    messages = list(v["messages"])
    if shuffle is not None:
        random.Random(f"{shuffle}{v['dpe']}{len(messages)}").shuffle(messages)
    wrong = []
    want = v["expect"]
    got, rc = replay(dpe, options, "expect", v["dpe"], messages, folder)
    if len(got) != 1:
        wrong.append(f"expect: one verdict wanted, not {got}")
    else:
        ok = got[0]["verdict"] == "satisfied"
        if ok != want["accepted"]:
            wrong.append(f"expect: {got[0]['verdict']}, but accepted is {want['accepted']}")
        if (rc == 0) != ok:
            wrong.append(f"expect: exit status {rc} with {got[0]['verdict']}")
        if shuffle is None and want["violation"] and got[0].get("event") != want["violation"]:
            wrong.append(f"expect: {got[0]['verdict']} at {got[0].get('event')}, not violated at {want['violation']}")
    got, rc = replay(dpe, options, "detect", v["dpe"], messages, folder)
    done = [g["event"] for g in got if g["verdict"] == "match"]
    if bool(done) != bool(v["detect"]):
        wrong.append(f"detect: completed by {done}, not {v['detect']}")
    elif shuffle is None and sorted(set(done)) != sorted(v["detect"]):
        wrong.append(f"detect: completed by {sorted(set(done))}, not {v['detect']}")
    if (rc == 1) != bool(done):
        wrong.append(f"detect: exit status {rc} with {len(done)} matches")
    ids = [m["id"] for m in v["messages"]]
    edges = [(ids.index(w), i) for i, m in enumerate(v["messages"]) for w in m["pred"]]
    p, e = oracle.Pomset([m["event"] for m in v["messages"]], edges), oracle.parse(v["dpe"])
    for g in got:
        if g["verdict"] == "match" and not oracle.is_match(e, p, [ids.index(x) for x in g["events"]]):
            wrong.append(f"detect: {g['events']} is no match")
    return wrong


def main():
    args = options(__doc__, vectors="+", shuffle="", engine="auto")
    with Cases(args) as cases:
        for name in args.vectors:
            for n, v in enumerate(read(name), 1):
                wrong = reasons(check, args.dpe, [f"--engine={args.engine}"], v, args.shuffle or None, cases.folder)
                cases.judge(wrong, f"{os.path.basename(name)}:{n}: {v['dpe']} ")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
