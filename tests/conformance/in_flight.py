#!/usr/bin/env python3
"""Searches with hundreds of partial matches, which are indexed by what they wait for, compared with the same
searches with a variable that has one value in all events, where all are visited. Each event has to complete a
match in both, or in neither. Also, rules of which only a part has to be searched, compared with that part."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

RULES = ["{a} ; {b}", "{a} ; {b} ; {c}", "({a} ; {b})@", "({a} ; {b})@ ; {c}", "{a}@ & {c}", "{a} & ({b} ; {c})",
         "{a} ; ({b} & {c})", "({a} ; {b}) & ({c} ; {d})", "({a} + {b}) ; {c} ; {d}", "{a} & {b} & {c}",
         "{a} ; {b}* ; {c}", "({a} & {b}) ; ({c} & {d})"]

# Rules whose matches are completed by the same events as those of a smaller rule that observes the others, too; and so
# found for certain.
SMALLER = [("({a} & {b})*", "{a} & {b}"), ("(({b} ; {a})@ ; {c})@", "{c}"), ("(({a} ; {b}) & {c})*", "({a} ; {b}) & {c}"),
           ("({a}* & {b}*) ; {c}", "{c}"), ("({a}@ & {b}) ; {c}", "{b} ; {c}"), ("({a} & {b})* ; {c} ; {d}", "{c} ; {d}"),
           ("({a}(x) & {b}(x))*", "{a}(x) & {b}(x)"), ("(({b} ; {a})@ ; {c}(x))@", "{c}(x)"), ("({a}(x) ; {b})@", "{a}(x) ; {b}")]


def write_log(path, dice, events=300):
    """Threads that do their events, mostly in order, and sometimes send to or receive from others."""
    threads = dice.choice((80, 120))
    sharing = dice.choice((0, 0.02, 0.2))
    at, numbers = {}, {}
    with open(path, "w") as log:
        log.write('{"dpe_log":1,"ordered":true}\n')

        def put(event, thread, *args):
            numbers[thread] = numbers.get(thread, -1) + 1
            log.write(json.dumps({"event": event, "thread": thread, "seq": numbers[thread], "args": args}) + "\n")

        for _ in range(events):
            thread = dice.randrange(threads)
            if dice.random() < sharing:
                put(dice.choice(("send", "receive")), thread, dice.randrange(5))
            at[thread] = at.get(thread, -1) + 1
            put("abcd"[at[thread] % 4] if dice.random() < 0.9 else dice.choice("abcd"), thread, 1)


def completing(dpe, rule, spec, log):
    """The events that complete a match, and whether any verdict was inconclusive."""
    with open(spec, "w") as out:
        out.write("sync last q(m): send(m) ; receive(m)\n" + rule + "\n")
    run = subprocess.run([dpe, "replay", "--format=json", "-s", spec, log], capture_output=True, text=True, check=False)
    verdicts = [json.loads(line) for line in run.stdout.splitlines()]
    verdicts = [verdict for verdict in verdicts if verdict["type"] == "verdict"]
    return ([verdict["event"] for verdict in verdicts if verdict["verdict"] == "match"],
            any(verdict["verdict"] == "inconclusive" for verdict in verdicts), run.returncode, run.stderr[:300])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dpe", default="./dpe")
    parser.add_argument("--seeds", type=int, default=4)
    arguments = parser.parse_args()
    failed = compared = matches = 0
    names = {name: name for name in "abcd"}
    with tempfile.TemporaryDirectory() as folder:
        spec, log = os.path.join(folder, "r.dpe"), os.path.join(folder, "r.jsonl")
        for seed in range(arguments.seeds):
            write_log(log, random.Random(seed))
            for rule in RULES:
                plain = rule.format(**names)
                keyed = rule.format(**{name: f"{name}(x)" for name in "abcd"})
                got = completing(arguments.dpe, "detect R: " + plain, spec, log)
                wanted = completing(arguments.dpe, "detect R(x): " + keyed, spec, log)
                if got[1] or wanted[1]:
                    continue
                compared += 1
                matches += len(got[0])
                if got != wanted:
                    failed += 1
                    print(f"# {plain}, seed {seed}: {len(got[0])} matches, status {got[2]}, against {len(wanted[0])}, "
                          f"status {wanted[2]} {got[3]}{wanted[3]}")
            for rule, smaller in SMALLER:
                got, wanted = (completing(arguments.dpe, f"detect R{'(x)' * ('x' in rule)}: {text.format(**names)}", spec, log)
                               for text in (rule, smaller + " observing a, b"))
                compared += 1
                if got[:3] != wanted[:3] or got[1]:
                    failed += 1
                    print(f"# {rule}, seed {seed}: {len(got[0])} matches, inconclusive: {got[1]}, against {len(wanted[0])} "
                          f"{got[3]}{wanted[3]}")
    print(f"{compared - failed} passed, {failed} failed")
    return failed or compared < arguments.seeds * len(RULES) * 2 // 3 or not matches


if __name__ == "__main__":
    sys.exit(bool(main()))
