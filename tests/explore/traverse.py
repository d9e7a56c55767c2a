#!/usr/bin/env python3
"""Traverses the whole execution tree of a program by the commands of `dpe explore --step`.

traverse.py DPE PROGRAM [ARGUMENT...]: prints how many ends the tree has, and how many of them are deadlocks.
"""
import re
import subprocess
import sys

DPE, PROGRAM = sys.argv[1], sys.argv[2:]
process = subprocess.Popen([DPE, "explore", "--step", "--", *PROGRAM], text=True,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(command):
    """The answer to a command, which ends with that to another one."""
    process.stdin.write(f"{command}\nmark\n")
    process.stdin.flush()
    lines = []
    while True:
        line = process.stdout.readline()
        if not line or line.startswith("'mark' is not a command"):
            return "".join(lines)
        lines.append(line)


def traverse(answer):
    """The ends below the node of this answer, and the deadlocks among them."""
    if "the run has ended" in answer:
        return 1, "ended: deadlock" in answer
    node = re.search(r"^#\d+", answer, re.M).group()
    active = re.findall(r"^[> ] thread (\d+)  active", answer, re.M)
    assert len(active) > 1, answer
    ends = deadlocks = 0
    for thread in active:
        more = traverse(ask(thread))
        ends, deadlocks = ends + more[0], deadlocks + more[1]
        ask(f"goto {node}")
    return ends, deadlocks


ask("help")
print(*traverse(ask("where")))
process.stdin.close()
