#!/usr/bin/env python3
"""tiny.py --dpe build-tiny/dpe VECTORS...: the vectors with the command of `make TINY=1`, whose limits are 2 or 3, and
with each allocation that fails in turn. The verdict of the vector, an inconclusive one and an error are
right; a crash, another verdict and no output are wrong. A violation may be reported as late as the end."""
import json
import os
import subprocess
import sys
import tempfile

from cases import options, read, write, write_log

ENGINES = ("auto", "pa", "net")
FAILING = 8         # vectors whose allocations fail
STEP = 5            # of so many one fails
MOST_PROBLEMS = 20  # reported


def replay(dpe, mode, engine, vector, folder, allocation=0):
    spec, log = f"{folder}/v.dpe", f"{folder}/v.jsonl"
    write(spec, f"{mode} R: {vector['dpe']}\n")
    write_log(log, vector["messages"])
    env = dict(os.environ, DPE_FAIL_ALLOCATION=str(allocation)) if allocation else None
    return subprocess.run([dpe, "replay", "--format=json", f"--engine={engine}", "-s", spec, log],
                          capture_output=True, text=True, errors="replace", env=env)


def verdicts(run):
    reported = [json.loads(line) for line in run.stdout.splitlines() if line.endswith("}")]
    return [v for v in reported if v.get("type") == "verdict"]


def kind_of(run):
    """error, inconclusive, conclusive; or what is wrong with the run as such."""
    if run.returncode == 2:
        return "error" if "error: " in run.stderr else "status 2 without a word"
    if run.returncode == 3:
        return "inconclusive"
    return "firm" if run.returncode in (0, 1) else f"status {run.returncode}: {run.stderr[:200]}"


def problem(run, mode, vector):
    """What is wrong, or None; and the kind of the run."""
    kind, reported = kind_of(run), verdicts(run)
    if kind not in ("error", "inconclusive", "firm"):
        return kind, kind
    if mode == "expect":
        words = {v["verdict"] for v in reported}
        if "satisfied" in words and not vector["expect"]["accepted"]:
            return "satisfied", kind
        if words & {"violated", "incomplete"} and vector["expect"]["accepted"]:
            return f"{words}, and the vector is accepted", kind
        return ("no verdict" if kind == "firm" and not words else None), kind
    found = {v["event"] for v in reported if v["verdict"] == "match"}
    if not found <= set(vector["detect"]):
        return f"a match at {found - set(vector['detect'])}", kind
    return ("no match" if kind == "firm" and vector["detect"] and not found else None), kind


class Check:
    def __init__(self, name, dpe, folder):
        self.name, self.dpe, self.folder = name, dpe, folder
        self.kinds, self.problems = {}, []

    def take(self, vector, mode, engine, allocation=0):
        """Returns the kind of the run."""
        run = replay(self.dpe, mode, engine, vector, self.folder, allocation)
        wrong, kind = problem(run, mode, vector)
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if wrong:
            self.problems.append(f"{mode} {vector['dpe']}, --engine={engine}, allocation {allocation}: {wrong}")
        return kind

    def tell(self, *must):
        """Each kind in `must` has to occur: else the limits are not met."""
        missing = [kind for kind in must if not self.kinds.get(kind)]
        good = not self.problems and not missing
        print(f"{'ok' if good else 'not ok'} - {self.name}: {self.kinds}")
        for line in self.problems[:MOST_PROBLEMS] + [f"no run was {kind}" for kind in missing]:
            print("#   " + line)
        return good


def fail_allocations(check, vector, mode):
    number = 1
    while check.take(vector, mode, "auto", number) == "error" or number < 100:
        number += STEP


def main():
    args = options(__doc__, vectors="+", every=4)
    vectors = [vector for path in args.vectors for vector in read(path)]
    with tempfile.TemporaryDirectory() as folder:
        limits = Check("tiny limits", args.dpe, folder)
        for number, vector in enumerate(vectors[::args.every]):
            for mode in "expect", "detect":
                limits.take(vector, mode, ENGINES[number % len(ENGINES)])
        good = limits.tell("inconclusive", "firm")
        memory = Check("allocations that fail", args.dpe, folder)
        for vector in vectors[::len(vectors) // FAILING]:
            for mode in "expect", "detect":
                fail_allocations(memory, vector, mode)
        good &= memory.tell("error", "firm")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
