#!/usr/bin/env python3
"""explained.py --dpe DPE VECTORS...: checks what dpe check --explain says about the expressions of the vectors.
A behaviour that it calls accepted satisfies the rule in a replay; one that it calls rejected
violates the rule, at its last event."""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def replay(dpe, folder, expression, events):
    log, spec = os.path.join(folder, "log.jsonl"), os.path.join(folder, "spec.dpe")
    with open(log, "w") as f:
        f.writelines(json.dumps(e) + "\n" for e in events)
    with open(spec, "w") as f:
        f.write(f"expect R: {expression}\n")
    run = subprocess.run([dpe, "replay", "--format=json", "-s", spec, log], capture_output=True, text=True)
    verdicts = [json.loads(line) for line in run.stdout.splitlines()]
    return next(((v["verdict"], v.get("event")) for v in verdicts if v["type"] == "verdict"), run.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dpe", required=True)
    parser.add_argument("vectors", nargs="+")
    args = parser.parse_args()
    expressions = [json.loads(line)["dpe"] for path in args.vectors for line in open(path)]
    failed = rejected = 0
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(f"expect r{i}: {e}\n" for i, e in enumerate(expressions))
        reported = subprocess.run([args.dpe, "check", "--explain", "--format=json", "-"], input=text,
                              capture_output=True, text=True)
        rules = [json.loads(line) for line in reported.stdout.splitlines()]
        for expression, rule in zip(expressions, rules):
            good = "accepted" in rule and replay(args.dpe, folder, expression, rule["accepted"])[0] == "satisfied"
            if "rejected" in rule:
                rejected += 1
                last = rule["rejected"][-1]["id"]
                verdict = replay(args.dpe, folder, expression, rule["rejected"])
                good &= verdict == ("violated", last)
            if not good:
                failed += 1
                print(f"not ok - {expression}\n#   {json.dumps(rule)}")
    complete = len(rules) == len(expressions) and rejected > len(expressions) * 0.9
    print(f"{'ok' if not failed else 'not ok'} - {len(rules)} rules explained")
    print(f"{'ok' if complete else 'not ok'} - all of them, {rejected} with something that they reject")
    return failed > 0 or not complete


sys.exit(main())
