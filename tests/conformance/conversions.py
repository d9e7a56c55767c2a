#!/usr/bin/env python3
"""No conversion makes verdicts more certain than those of the original log.

    conversions.py [--dpe DPE] [--seed S] [--count N]

Random logs, some of them with losses, gaps and damage, with numbers, times, predecessors or none of these, of one host or of
two with the same ids of threads, which other threads use again, some with numbers as ids of some messages, are converted and
stabilized. A replay of each conversion has to give the verdicts of the log itself; where the log is damaged, or only its
order of arrival says what synchronises, it may also be inconclusive. Where the log says what its threads lost, it may be the
other way round, as events of a stabilized log are not held. Prints each difference, then one closing line.
"""
import collections
import json
import random
import subprocess
import sys

from cases import Cases, options, replay, write

RULES = """sync last S(x): d(x) ; c(x).exit
sync fifo Q: d ; b(_).exit
expect once(x): (a(x) ; b(x).exit)* observing d(x) ends
expect two(x, y): (a(x) + b(x, y).exit + c(x, y).exit)* observing d(y) ends
expect thread(T): (a by T + b.exit by T)* ; c.exit by T
detect race(x): a(x) & b(x).exit
detect after(x): a(x) ; c(x).exit observing d
"""
EVENTS = ("a", "a.enter", "b", "b.exit", "c", "c.exit", "d", "thread::exit")
VALUES = (1, 2, 2, 3, 1.5, "x", "0x10", 16, 2**63, 10**30, True, None, [1, {"k": 2}], "é")


def message(dice, number, numbers, kind, hosts):
    thread, host, event = dice.randint(1, 3), dice.choice(hosts), dice.choice(EVENTS)
    made = {"event": event, "args": [dice.choice(VALUES[:4] if dice.random() < 0.8 else VALUES) for _ in range(dice.randint(0, 2))]}
    if kind == "predecessors":
        made["id"] = f"e{number}"
    else:
        made.update({"thread": thread, "host": host} if host else {"thread": thread})
    if kind in ("numbers", "both"):
        made["seq"] = numbers[thread, host]
        numbers[thread, host] = 0 if event == "thread::exit" else made["seq"] + 1
    if kind in ("times", "both"):
        made["time"] = 1000 + 7 * number
    if dice.random() < 0.2:
        made["vars"] = {"v": dice.choice(VALUES)}
    return made


def identify_some(dice, log):
    """Numbers identify some of the messages. They can be places of others, which then cannot be named."""
    first, share, named = dice.choice((1, 100)), dice.choice((0, 0.5, 0.5)), []
    placed = list(enumerate(zip(log, dice.sample(range(first, first + 20), len(log))), 1))
    for place, (made, id) in sorted(placed, key=lambda each: each[0] + dice.randint(0, 6)):
        if named and dice.random() < 0.3:
            made["pred"] = [dice.choice(named)]
        if dice.random() < share:
            made["id"] = id
        if "id" in made or first > 1 or not share:
            named.append(made.get("id", place))


def random_log(dice):
    """The lines of a log, whether they are complete, and how they may be converted."""
    kind, numbers = dice.choice(("numbers", "times", "both", "predecessors", "threads", "mixed", "mixed")), collections.Counter()
    hosts = dice.choice([[None], [None], ["x", "y"]])
    log = [message(dice, i, numbers, kind, hosts) for i in range(dice.randint(3, 14))]
    for i, made in enumerate(log):
        if kind == "predecessors" and i and dice.random() < 0.5:
            made["pred"] = [f"e{dice.randrange(i)}"]
    if kind == "mixed":
        identify_some(dice, log)
    lines, fate, at = [json.dumps(m) for m in log], dice.random(), dice.randrange(len(log))
    if fate < 0.15 and "seq" in log[0]:
        del lines[at]  # sequence numbers show losses, except at the end
        return lines, True, 5
    if fate < 0.3:
        return [*lines, json.dumps({"dpe_lost": 1, "thread": dice.choice(("x", 0, 1, 2))})], False, 2
    if fate < 0.4:
        lines[at] = lines[at][:-3]
        return lines, False, 5
    if fate < 0.5:
        return [*lines[:-1], lines[-1][:-3]], False, 5
    return lines, True, 5


def verdicts(dpe, spec, log):
    """How often each verdict of a slice occurs, and which rules have inconclusive ones."""
    run, lines = replay(dpe, spec, log, "--all", "--allow-unobserved")
    assert run.returncode in (0, 1, 2, 3), run.stderr
    found = [v for v in lines if v["type"] == "verdict"]
    taken_back = collections.Counter((v["rule"], json.dumps(v["params"])) for v in found if "reported too early" in v.get("reason", ""))
    certain = collections.Counter()
    for v in found:
        slice = v["rule"], json.dumps(v["params"])
        if v["verdict"] != "inconclusive":
            certain[(*slice, v["verdict"])] += 1
    return certain, taken_back, {v["rule"] for v in found if v["verdict"] == "inconclusive"}


def is_as_certain(log, copy, whole):
    """What is certain in the copy is certain in the log; if the log is complete, also the converse."""
    certain, taken_back, doubted = log
    if whole and not doubted:
        return copy == log
    more = copy[0] - certain
    return not any(copy[1][key[:2]] < count for key, count in more.items()) and doubted <= copy[2]


def main():
    args, doubtful, refused = options(__doc__, count=100), 0, 0
    with Cases(args) as cases:
        spec, path, folder = f"{cases.folder}/r.dpe", f"{cases.folder}/log.jsonl", cases.folder
        stabilize = ("--stabilize", "-s", spec)
        write(spec, RULES)
        for number in range(args.count):
            lines, whole, ways = random_log(random.Random(args.seed * 1000003 + number))
            write(path, "\n".join(lines) + ("\n" if whole else ""))
            log = verdicts(args.dpe, spec, path)
            doubtful += bool(log[2])
            for source, to, *words in [("log.jsonl", "c.jsonl"), ("log.jsonl", "c.dpel"), ("log.jsonl", "s.jsonl", *stabilize),
                                       ("log.jsonl", "s.dpel", *stabilize), ("s.dpel", "t.jsonl")][:ways]:
                run = subprocess.run([args.dpe, "convert", *words, f"{folder}/{source}", f"{folder}/{to}"], capture_output=True, text=True)
                if "messages without an id move" in run.stderr:
                    refused += 1
                    break
                copy = verdicts(args.dpe, spec, f"{folder}/{to}")
                wrong = "\n  ".join([f"{log}, not {copy}:", *lines])
                cases.judge([] if is_as_certain(log, copy, whole) else [wrong], number, to)
    cases.require((refused or args.count < 100) and refused < args.count / 3, f"{refused} conversions are refused")
    cases.require(0.3 < doubtful / args.count < 0.9, f"{doubtful} of {args.count} are in doubt")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
