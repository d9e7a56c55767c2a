#!/usr/bin/env python3
"""Random `predict` rules about independent events whose slices are ended. An event that ends the slice of a value does the same as a new
name for that value in all later events: with `ends`, and with new names instead, the same events must be the last of predicted matches.

    ended_predictions.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference and a closing line; the seed reproduces it."""
import json
import random
import sys

from cases import Cases, options, replay, write

# The a, b and c of a value; an e is in no match, an f is, and ends too.
MATCHES = ("a(x) & b(x)", "a(x) & a^(x) + a(x) & b(x)", "a(x) & b(x) & c(x)", "a(x) & c(x) + b(x) & b^(x)", "f(x) & a(x) + f(x) & b(x)")
ENDS = {" observing e(x)": "e", " observing f(x)": "f", " observing e(x), f(x)": "f"}  # the last one ends
LOCKS = "sync exclusive mutex(m): unlock(m) ; lock(m).exit\n"


def draw_log(dice):
    """(event, thread, value); threads hold a lock now and then."""
    threads, values, held, log = dice.randint(2, 4), dice.randint(1, 4), {}, []
    for _ in range(dice.choice((10, 40, 120))):
        thread = dice.randrange(threads)
        lock = dice.randint(100, 101)
        if thread in held and dice.random() < 0.4:
            log.append(("unlock", thread, held.pop(thread)))
        elif thread not in held and lock not in held.values() and dice.random() < 0.4:
            held[thread] = lock
            log.append(("lock", thread, lock))
        else:
            log.append((dice.choice("aaabbbccef"), thread, dice.randint(1, values)))
    return log


def write_numbered(path, log, ends):
    """`ends`: the events after which a value has a new name. Returns the place of each event, by thread and number."""
    numbers, rounds, places = {}, {}, {}
    with open(path, "w") as file:
        file.write('{"dpe_log":1,"ordered":true}\n')
        for event, thread, value in log:
            seq = numbers[thread] = numbers.get(thread, -1) + 1
            places[thread, seq] = len(places)
            name = value + 1000 * rounds.get(value, 0)
            file.write(json.dumps({"event": event, "phase": "exit" if event == "lock" else "enter", "thread": thread,
                                   "seq": seq, "args": [name]}) + "\n")
            if event in ends:
                rounds[value] = rounds.get(value, 0) + 1
    return places


def predictions(dpe, folder, rule, log, ends):
    """The last event of each predicted match, by its place in the log: which others are named may differ."""
    spec, path = f"{folder}/r.dpe", f"{folder}/l.jsonl"
    write(spec, LOCKS + rule + "\n")
    places = write_numbered(path, log, ends)
    run, verdicts = replay(dpe, spec, path, "--all")
    if run.returncode not in (0, 1, 3):
        return [f"status {run.returncode}: {run.stderr[:300]}"]
    return sorted(max(places[m["thread"], m["seq"]] for m in v["messages"])
                  for v in verdicts if v.get("type") == "verdict" and v["verdict"] == "match")


def main():
    args, total = options(__doc__, count=100), 0
    with Cases(args) as cases:
        for number in range(args.count):
            dice = random.Random(args.seed * 1000003 + number)
            log, clause = draw_log(dice), dice.choice(list(ENDS))
            rule = f"predict r(x): {dice.choice(MATCHES)}{clause}"
            ended = predictions(args.dpe, cases.folder, rule + " ends", log, "")
            renamed = predictions(args.dpe, cases.folder, rule, log, ENDS[clause])
            total += len(ended)
            cases.judge([sorted(set(ended) ^ set(renamed))[:4]] if ended != renamed else [], number, rule)
    cases.require(total >= args.count, f"only {total} predictions")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
