#!/usr/bin/env python3
"""layout.py --dpe DPE VECTORS...: dpe fmt on the expressions of the vectors with random blanks, line ends and
comments: the result means the same, has all comments, and is not changed by a second run."""
import random
import re
import subprocess
import sys

from cases import options, read

PIECE = re.compile(r"[A-Za-z_0-9]+|.")


def scramble(expression, dice, number):
    """The expression with random blanks, and the comments that were inserted."""
    out, comments, depth = "", [], 0
    for piece in PIECE.findall(expression.replace(" ", "")):
        caret = piece == "^"
        if not caret and dice.random() < 0.3:
            out += dice.choice([" ", "\t", "  "])
        if not caret and depth and dice.random() < 0.05:
            comment = f"/* {number}.{len(comments)} {dice.choice(['a;b', chr(34), '{', '*'])} */"
            comments.append(comment)
            out += comment
        if not caret and depth and dice.random() < 0.05:
            out += dice.choice(["\n", "\n\n\n", " \r\n\t"])
        out += piece
        depth += (piece == "(") - (piece == ")")
    return out, comments


def run(dpe, *command, text):
    return subprocess.run([dpe, *command], input=text.encode(), capture_output=True)


def main():
    args = options(__doc__, vectors="+", seed=1)
    dice = random.Random(args.seed)
    expressions = [vector["dpe"] for path in args.vectors for vector in read(path)]
    failed = 0
    for begin in range(0, len(expressions), 50):
        batch = expressions[begin:begin + 50]
        text, comments = "", []
        for number, expression in enumerate(batch):
            scrambled, new = scramble(expression, dice, number)
            text += f"detect r{number}:{scrambled}\n"
            comments += new
        once = run(args.dpe, "fmt", "-", text=text)
        again = run(args.dpe, "fmt", "-", text=once.stdout.decode())
        before = run(args.dpe, "check", "--dump=ast", "-", text=text).stdout
        after = run(args.dpe, "check", "--dump=ast", "-", text=once.stdout.decode()).stdout
        kept = re.findall(r"/\*.*?\*/", once.stdout.decode(), re.S)
        good = (once.returncode == 0 and again.stdout == once.stdout and before == after and before
                and kept == comments)
        print(f"{'ok' if good else 'not ok'} - layout of expressions {begin} to {begin + len(batch) - 1}")
        if not good:
            failed += 1
            print("\n".join("# " + line for line in (once.stderr.decode() or text).splitlines()[:20]))
    return failed > 0


sys.exit(main())
