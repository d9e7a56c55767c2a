#!/usr/bin/env python3
"""Searches with hundreds of partial matches, which are indexed by what they wait for, compared with the same
searches with a condition on a position, where all are visited. Each event has to complete a match in both, or in
neither; without variables, with one, and where some events have none. Also, rules of which only a part has to be
searched, compared with that part."""
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


# With a condition they would take seconds; they are compared with themselves without a variable.
COSTLY = ["({a} ; {b})@", "({a} ; {b})@ ; {c}", "{a}@ & {c}", "{a} & {b} & {c}"]


def thread_messages(dice, values, events=300):
    """Threads that do their events, mostly in order, and sometimes send to or receive from others."""
    threads = dice.choice((80, 120))
    sharing = dice.choice((0, 0.02, 0.2))
    at, numbers = {}, {}

    def message(event, thread, *args):
        numbers[thread] = numbers.get(thread, -1) + 1
        return {"event": event, "thread": thread, "seq": numbers[thread], "args": args}

    for _ in range(events):
        thread = dice.randrange(threads)
        if dice.random() < sharing:
            yield message(dice.choice(("send", "receive")), thread, dice.randrange(5))
        at[thread] = at.get(thread, -1) + 1
        yield message("abcd"[at[thread] % 4] if dice.random() < 0.9 else dice.choice("abcd"), thread, dice.randint(1, values))


def messages_with_predecessors(dice, values, events=300):
    """Without threads: any earlier message may be named."""
    back = dice.choice((10, 100, 300))
    for i in range(events):
        before = range(max(0, i - back), i)
        preds = dice.sample(before, min(len(before), dice.randint(0, 2)))
        yield {"event": dice.choice("abcd"), "id": f"m{i}", "pred": [f"m{j}" for j in preds], "args": [dice.randint(1, values)]}


def make_log(path, messages):
    with open(path, "w") as log:
        log.write('{"dpe_log":1,"ordered":true}\n')
        for message in messages:
            log.write(json.dumps(message) + "\n")


def written(rule, keyed, visiting=False):
    """The rule whose events of these names have a variable; `visiting`: all its partial matches are visited."""
    used = [name for name in "abcd" if f"{{{name}}}" in rule]
    names = {name: name + "(x)" * (name in keyed) for name in used}
    if visiting:
        names[used[-1]] = f"({names[used[-1]]} [.args[0] > 0 || $1.args[0] > 0])"
    return f"detect R{'(x)' * any(name in keyed for name in used)}: {rule.format(**names)}"


def pair(dice, rule, values):
    """Two ways to write a rule; None: both cost too much."""
    keyed = dice.choice(("abcd", "abcd", "", dice.sample("abcd", 3)))
    if rule not in COSTLY:
        return written(rule, keyed), written(rule, keyed, True)
    return (written(rule, ""), written(rule, "abcd")) if values == 1 else None


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
            dice = random.Random(seed)
            for messages in (thread_messages, messages_with_predecessors):
                values = dice.choice((1, 1, 3))
                make_log(log, messages(dice, values))
                for rule in RULES:
                    both = pair(dice, rule, values)
                    if not both:
                        continue
                    got, wanted = (completing(args.dpe, text, spec, log) for text in both)
                    if got[1] or wanted[1]:
                        continue
                    compared += 1
                    matches += len(got[0])
                    wrong = f"{len(got[0])} matches, status {got[2]}, against {len(wanted[0])}, status {wanted[2]} {got[3]}{wanted[3]}"
                    cases.judge([] if got == wanted else [wrong], both[0], seed)
            make_log(log, thread_messages(dice, 1))
            for rule, smaller in SMALLER:
                got, wanted = (completing(args.dpe, f"detect R{'(x)' * ('x' in rule)}: {text.format(**names)}", spec, log)
                               for text in (rule, smaller + " observing a, b"))
                wrong = f"{len(got[0])} matches, inconclusive: {got[1]}, against {len(wanted[0])} {got[3]}{wanted[3]}"
                cases.judge([] if got[:3] == wanted[:3] and not got[1] else [wrong], rule, seed)
    cases.require(compared >= args.count * len(RULES) and matches, f"{compared} rules were compared, {matches} matches")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
