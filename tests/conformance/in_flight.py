#!/usr/bin/env python3
"""Searches with hundreds of partial matches, which are indexed by what they wait for, compared with the same
searches with a variable that has one value in all events, where all are visited. Each event has to complete a
match in both, or in neither. Also, rules of which only a part has to be searched, compared with that part."""
import json
import random
import sys

from cases import Cases, options, replay, write

RULES = ["{a} ; {b}", "{a} ; {b} ; {c}", "({a} ; {b})@", "({a} ; {b})@ ; {c}", "{a}@ & {c}", "{a} & ({b} ; {c})",
         "{a} ; ({b} & {c})", "({a} ; {b}) & ({c} ; {d})", "({a} + {b}) ; {c} ; {d}", "{a} & {b} & {c}",
         "{a} ; {b}* ; {c}", "({a} & {b}) ; ({c} & {d})"]

# Rules whose matches are completed by the same events as those of a smaller rule that observes the others, too; and so
# found for certain.
SMALLER = [("({a} & {b})*", "{a} & {b}"), ("(({b} ; {a})@ ; {c})@", "{c}"), ("(({a} ; {b}) & {c})*", "({a} ; {b}) & {c}"),
           ("({a}* & {b}*) ; {c}", "{c}"), ("({a}@ & {b}) ; {c}", "{b} ; {c}"), ("({a} & {b})* ; {c} ; {d}", "{c} ; {d}"),
           ("({a}(x) & {b}(x))*", "{a}(x) & {b}(x)"), ("(({b} ; {a})@ ; {c}(x))@", "{c}(x)"), ("({a}(x) ; {b})@", "{a}(x) ; {b}")]


def make_log(path, dice, events=300):
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
    write(spec, "sync last q(m): send(m) ; receive(m)\n" + rule + "\n")
    run, lines = replay(dpe, spec, log)
    verdicts = [line for line in lines if line["type"] == "verdict"]
    return ([verdict["event"] for verdict in verdicts if verdict["verdict"] == "match"],
            any(verdict["verdict"] == "inconclusive" for verdict in verdicts), run.returncode, run.stderr[:300])


def main():
    args = options(__doc__, count=4)
    compared = matches = 0
    names = {name: name for name in "abcd"}
    with Cases(args) as cases:
        spec, log = f"{cases.folder}/r.dpe", f"{cases.folder}/r.jsonl"
        for seed in range(args.seed - 1, args.seed - 1 + args.count):
            make_log(log, random.Random(seed))
            for rule in RULES:
                plain = rule.format(**names)
                keyed = rule.format(**{name: f"{name}(x)" for name in "abcd"})
                got = completing(args.dpe, "detect R: " + plain, spec, log)
                wanted = completing(args.dpe, "detect R(x): " + keyed, spec, log)
                if got[1] or wanted[1]:
                    continue
                compared += 1
                matches += len(got[0])
                wrong = f"{len(got[0])} matches, status {got[2]}, against {len(wanted[0])}, status {wanted[2]} {got[3]}{wanted[3]}"
                cases.judge([] if got == wanted else [wrong], plain, seed)
            for rule, smaller in SMALLER:
                got, wanted = (completing(args.dpe, f"detect R{'(x)' * ('x' in rule)}: {text.format(**names)}", spec, log)
                               for text in (rule, smaller + " observing a, b"))
                wrong = f"{len(got[0])} matches, inconclusive: {got[1]}, against {len(wanted[0])} {got[3]}{wanted[3]}"
                cases.judge([] if got[:3] == wanted[:3] and not got[1] else [wrong], rule, seed)
    cases.require(compared >= args.count * len(RULES) // 2 and matches, f"{compared} rules were compared, {matches} matches")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
