#!/usr/bin/env python3
"""explained.py --dpe DPE VECTORS...: checks what dpe check --explain says about the expressions of the vectors.
A behaviour that it calls accepted satisfies the rule in a replay; one that it calls rejected
violates the rule, at its last event."""
import json
import subprocess
import sys
import tempfile

from cases import options, read, replay, write, write_log


def verdict_of(dpe, folder, expression, events):
    log, spec = f"{folder}/log.jsonl", f"{folder}/spec.dpe"
    write_log(log, events)
    write(spec, f"expect R: {expression}\n")
    run, lines = replay(dpe, spec, log)
    return next(((v["verdict"], v.get("event")) for v in lines if v["type"] == "verdict"), run.stderr)


def main():
    args = options(__doc__, vectors="+")
    expressions = [vector["dpe"] for path in args.vectors for vector in read(path)]
    failed = rejected = 0
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(f"expect r{i}: {e}\n" for i, e in enumerate(expressions))
        reported = subprocess.run([args.dpe, "check", "--explain", "--format=json", "-"], input=text,
                              capture_output=True, text=True)
        rules = [json.loads(line) for line in reported.stdout.splitlines()]
        for expression, rule in zip(expressions, rules):
            good = "accepted" in rule and verdict_of(args.dpe, folder, expression, rule["accepted"])[0] == "satisfied"
            if "rejected" in rule:
                rejected += 1
                last = rule["rejected"][-1]["id"]
                verdict = verdict_of(args.dpe, folder, expression, rule["rejected"])
                good &= verdict == ("violated", last)
            if not good:
                failed += 1
                print(f"not ok - {expression}\n#   {json.dumps(rule)}")
    complete = len(rules) == len(expressions) and rejected > len(expressions) * 0.9
    print(f"{'ok' if not failed else 'not ok'} - {len(rules)} rules explained")
    print(f"{'ok' if complete else 'not ok'} - all of them, {rejected} with something that they reject")
    return failed > 0 or not complete


sys.exit(main())
