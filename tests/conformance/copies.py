#!/usr/bin/env python3
"""Many copies of @ in flight: random threads with faults; the expected verdict is computed from each thread's
events.

    copies.py [--dpe ./dpe] [--seed N] [--count N]

No verdict may be inconclusive. Prints each difference and a closing line with the seed, which reproduces it.
"""
import random
import re
import sys

import run
from cases import Cases, options

# A rule for all threads side by side, and for one of them, as its language: complete, and prefixes.
RULES = [
    ("(a;b)@", r"(ab)?", r"a?|ab"),
    ("((a;b)*)@", r"(ab)*", r"(ab)*a?"),
    ("(a;(b+c))@ & x*", r"(a[bc])?", r"a?|a[bc]"),
    ("(a;b*;c)@", r"(ab*c)?", r"(ab*c?)?"),
    ("((a;b)@)@", r"(ab)?", r"a?|ab"),
]
ENDED = "(a;b)@ ; z"  # z follows all


def word(rng, language):
    """The events of a thread: a behaviour, sometimes with a fault."""
    tries = ("".join(rng.choice("abcd") for _ in range(rng.randrange(1, 5))) for _ in range(200))
    text = next((t for t in tries if re.fullmatch(language, t)), "")
    if text and rng.random() < 0.002:
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice(["", "a", "b"]) + text[at + 1:]
    return text


def messages_of(rng, words):
    """All threads in a random order."""
    at, left, messages = [0] * len(words), [t for t, w in enumerate(words) if w], []
    while left:
        i = rng.randrange(len(left))
        t = left[i]
        messages.append({"id": f"e{len(messages)}", "event": words[t][at[t]], "thread": t, "seq": at[t]})
        at[t] += 1
        if at[t] == len(words[t]):
            left[i] = left[-1]
            left.pop()
    return messages


def expected(messages, complete, prefix):
    done = {}
    for m in messages:
        done[m["thread"]] = done.get(m["thread"], "") + m["event"]
        if not re.fullmatch(prefix, done[m["thread"]]):
            return "violated", m["id"]
    firm = all(re.fullmatch(complete, w) for w in done.values())
    return ("satisfied" if firm else "incomplete"), None


def check(dpe, mode, rule, messages, want, folder):
    got, _ = run.replay(dpe, [], mode, rule, messages, folder)
    reported = [(v["verdict"], v.get("event")) for v in got]
    return [] if reported == want else [f"{mode} {rule}: {reported}, not {want}"]


def differences(rng, dpe, folder):
    rule, complete, prefix = rng.choice(RULES)
    messages = messages_of(rng, [word(rng, complete) for _ in range(rng.choice([5, 50, 400]))])
    if not messages:
        return []
    wrong = check(dpe, "expect", rule, messages, [expected(messages, complete, prefix)], folder)
    pairs = [m for m in messages_of(rng, ["ab"] * rng.choice([5, 50, 200]))]
    ends = [m["id"] for m in pairs if m["event"] == "b"]
    late = rng.choice(ends) if rng.random() < 0.5 else None
    end = {"id": "z", "event": "z", "pred": [e for e in ends if e != late]}
    want = ("violated", "z") if late else ("satisfied", None)
    wrong += check(dpe, "expect", ENDED, pairs + [end], [want], folder)
    wrong += check(dpe, "detect", ENDED, pairs + [end], [("match", "z")], folder)
    return wrong


def main():
    args = options(__doc__, count=50)
    rng = random.Random(args.seed)
    with Cases(args) as cases:
        for _ in range(args.count):
            cases.judge([what[:500] for what in differences(rng, args.dpe, cases.folder)])
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
