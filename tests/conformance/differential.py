#!/usr/bin/env python3
"""Random expressions and executions: the engines against the reference semantics.

    differential.py [--dpe ./dpe] [--unsafe yes|no] [--seed N] [--count N]

Draws vectors from dpe_oracle.py and compares each engine that applies with them, in order and shuffled.
Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import sys

import dpe_oracle as oracle
import run
from cases import Cases, options


def main():
    args = options(__doc__, count=100, unsafe="no")
    engines = ["--engine=net"] if args.unsafe == "yes" else ["--engine=pa", "--engine=net"]
    with Cases(args) as cases:
        for number, vector in enumerate(oracle.vectors(args.seed, args.count, args.unsafe == "yes")):
            wrong = []
            for engine in engines:
                for shuffle in (None, args.seed + number):
                    wrong += run.check(args.dpe, [engine], vector, shuffle, cases.folder)
            cases.judge(wrong, json.dumps(vector))
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
