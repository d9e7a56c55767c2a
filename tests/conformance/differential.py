#!/usr/bin/env python3
"""Random expressions and executions: the engines against the reference semantics.

    differential.py [--dpe ./dpe] [--unsafe yes|no] [--seed N] [--count N]

Draws vectors from dpe_oracle.py and compares each engine that applies with them, in order and shuffled.
Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dpe_oracle as oracle
import run


def main(argv):
    options = dict(zip(argv[1::2], argv[2::2]))
    dpe, unsafe = options.get("--dpe", "./dpe"), options.get("--unsafe") == "yes"
    seed, count = int(options.get("--seed", 1)), int(options.get("--count", 100))
    engines = ["--engine=net"] if unsafe else ["--engine=pa", "--engine=net"]
    passed = failed = 0
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for number, vector in enumerate(oracle.vectors(seed, count, unsafe)):
            wrong = []
            for engine in engines:
                wrong += run.check(dpe, [engine], vector, None, folder)
                wrong += run.check(dpe, [engine], vector, seed + number, folder)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            for what in wrong:
                print(json.dumps(vector), what)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
