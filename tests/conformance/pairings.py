#!/usr/bin/env python3
"""`sync` rules of every pairing, with alternatives, phases, several variables, sections, locks, rounds, objects that end,
events that receive by one rule and send by another, and threads whose ids come again, over random executions; compared with
the causal order that the rules give, computed here.

    pairings.py [--dpe ./dpe] [--seed N] [--count N]

Each log is read in order of arrival without numbers and times, and with them in order and shuffled; the pairs of
independent events have to be the same. So they are in ShiViz's log of it, without the rules. Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import random
import sys

import limited
from cases import Cases, options, write, write_log

SECONDS = 20
INDEPENDENT = "detect independent(i, j): e(i) & e^(j)\n"
QUEUES = {"fifo", "last", "all"}
SHIVIZ = r"--pattern=^(?<event>[a-z0-9:.]+)(?:\((?<arg1>\d*).*\))?.*\n(?<host>\S*) (?<clock>{.*})"
PREDICTION = "predict none(i): none(i) & e(i)\n"  # edges are kept for it, which must not change what the others find

# ---------------------------------------------------------------- rules


class Rule:
    """A side is a list of (function, phase, arguments), each argument a variable, `_`, or N, a round."""

    def __init__(self, pairing, variables, sends, receives, end=None):
        self.pairing, self.variables, self.sides, self.end = pairing, variables, (sends, receives), end
        self.pending, self.sections, self.round, self.received = {}, {}, {}, {}

    def key(self, arguments, values):
        return tuple(values[arguments.index(v)] for v in self.variables)

    def text(self, number):
        sides = [" + ".join(map(pattern, side)) for side in self.sides]
        sides = [f"({text})" if len(side) > 1 else text for side, text in zip(self.sides, sides)]
        ends = f" observing {pattern(self.end)} ends" if self.end else ""
        head = f"({', '.join(self.variables)})" if self.variables else ""
        return f"sync {self.pairing} s{number}{head}: {sides[0]} ; {sides[1]}{ends}\n"


def pattern(alternative):
    function, phase, arguments = alternative
    names = ", ".join("_" if a == "N" else a for a in arguments)
    of_round = f" [.args[{arguments.index('N')}]]" if "N" in arguments else ""
    return f"{function}({names}){phase}{of_round}" if arguments else f"{function}{phase}"


def side(rng, letter, number, variables):
    for i in range(rng.choice([1, 1, 2, 3])):
        arguments = [*variables, *rng.choice([(), ("_",)])]
        rng.shuffle(arguments)
        yield f"{letter}{number}{i}", rng.choice(["", ".exit", ".exit", ".enter"]), arguments


def queue_rule(rng, number, pairing):
    variables = rng.choice([[], ["m"], ["m"], ["m", "k"]])
    sends, receives = (list(side(rng, letter, number, variables)) for letter in "ab")
    if rng.random() < 0.3:  # a call that sends when it begins and receives when it ends
        sends.append((f"w{number}", ".enter", variables))
        receives.append((f"w{number}", ".exit", variables))
    end = (f"z{number}", "", variables) if rng.random() < 0.4 else None
    return [Rule(pairing, variables, sends, receives, end)]


def draw_rules(rng):
    rules = []
    for number in range(rng.randint(1, 3)):
        pairing = rng.choice(["fifo", "last", "all"] * 2 + ["during", "exclusive", "rounds"])
        both = [(f"f{number}", phase, ["m", "N"] if pairing == "rounds" else ["m"]) for phase in (".enter", ".exit")]
        if pairing in ("during", "rounds"):
            rules.append(Rule(pairing, ["m"], both[:1], both[1:]))
        elif pairing == "exclusive":
            kinds = ["exclusive", "shared"][:rng.choice([1, 2, 2])]
            rules += [Rule(kind, ["m"], [(f"un{kind}{number}", "", ["m"])], [(f"{kind}{number}", rng.choice([".exit", ""]), ["m"])])
                      for kind in kinds]
        else:
            rules += queue_rule(rng, number, pairing)
    for first, second in zip(rules, rules[1:]):
        if {first.pairing, second.pairing} <= QUEUES and first.variables == second.variables and rng.random() < 0.6:
            second.sides[0].append(rng.choice(first.sides[1]))  # what it receives it passes on
    return rules


# ---------------------------------------------------------------- executions


def entered(phase):
    return phase or ".enter"


class Execution:
    """The past of each thread is a set of numbers of messages; `marked` has (thread, number, past) of each e."""

    def __init__(self, rng, rules, threads):
        self.rng, self.rules, self.log, self.marked = rng, rules, [], []
        self.past = {t: set() for t in range(1, threads + 1)}
        self.locks = {}  # by key: (thread, rule) of the writer, the set of readers
        self.exits = {r.pairing for r in rules} <= QUEUES and rng.random() < 0.5

    def step(self):
        thread = self.rng.choice(list(self.past))
        if self.exits and self.rng.random() < 0.1:
            self.add("thread::exit", thread, [thread])
            self.past[thread] = set()
        elif self.rng.random() < 0.45:
            self.marked.append((len(self.log), frozenset(self.past[thread])))
            self.add("e", thread, [len(self.log)])
        else:
            self.synchronise(thread)

    def add(self, event, thread, values):
        self.past[thread].add(len(self.log))
        self.log.append({"event": event, "thread": thread, "args": values})

    def synchronise(self, thread):
        rng, rule = self.rng, self.rng.choice(self.rules)
        ends = rule.end and rng.random() < 0.15
        function, phase, arguments = rule.end if ends else rng.choice(rng.choice(rule.sides))
        values = [rng.choice([1, 2]) if a in "mk" else 0 for a in arguments]
        parts = [] if ends else [
            (r, receives, r.key(arguments, values), other) for r in self.rules for receives in (False, True)
            for f, other, _ in r.sides[receives] if f == function and entered(other) == entered(phase)]
        if not all(self.is_possible(r, receives, key, thread) for r, receives, key, _ in parts):
            return
        if "N" in arguments:
            values[arguments.index("N")] = self.number_round(*parts[0][:3])
        followed, later = set(), set()
        for r, receives, key, other in parts:
            if receives:
                (followed if other == ".exit" else later).update(*self.received(r, key, thread, values))
        self.past[thread] |= followed
        self.add(function + (phase or rng.choice(["", ".enter"])), thread, values)
        past = frozenset(self.past[thread])
        self.past[thread] |= later
        for r, receives, key, _ in parts:
            self.leave(r, receives, key, thread, values)
        if ends:
            self.forget(rule, rule.key(arguments, values), past)

    def is_possible(self, rule, receives, key, thread):
        writer, readers = self.locks.setdefault(key, [None, set()])
        if rule.pairing == "during":
            return receives == ((key, thread) in rule.sections)
        if rule.pairing == "exclusive":
            return not writer and not readers if receives else writer == (thread, rule)
        if rule.pairing == "shared":
            return not writer and thread not in readers if receives else thread in readers
        return rule.pairing != "fifo" or not receives or bool(rule.pending.get(key))

    def number_round(self, rule, receives, key):
        """The rounds of receives increase, but one of the round before may come late."""
        now = rule.round.get(key, 0)
        if not receives:
            rule.round[key] = now + (self.rng.random() < 0.3)
            return rule.round[key]
        number = max(self.rng.choice([now, now - 1]), rule.received.get(key, 0) - 1, 0)
        rule.received[key] = max(number, rule.received.get(key, 0))
        return number

    def received(self, rule, key, thread, values):
        """The pasts that the receive follows."""
        sent = rule.pending.setdefault(key, [])
        if rule.pairing == "fifo":
            return [sent.pop(0)[0]]
        if rule.pairing == "last":
            return [past for past, _ in sent[-1:]]
        if rule.pairing == "rounds":
            return [past for past, number in sent if number <= values[-1]]
        if rule.pairing == "during":
            return [past for past, _ in sent] + [self.past[t] for k, t in rule.sections if k == key and t != thread]
        if rule.pairing in ("exclusive", "shared"):
            return self.acquired(rule, key)
        return [past for past, _ in sent]

    def acquired(self, rule, key):
        """As a lock, the rules of all functions are about one object."""
        sent = {kind: [s for r in self.rules if r.pairing == kind for s in r.pending.get(key, [])] for kind in ("exclusive", "shared")}
        latest = [max(sent["exclusive"], key=lambda s: s[1])[0]] if sent["exclusive"] else []
        return latest + ([past for past, _ in sent["shared"]] if rule.pairing == "exclusive" else [])

    def leave(self, rule, receives, key, thread, values):
        """What the event means for later ones."""
        lock = self.locks[key]
        if rule.pairing == "during":
            (rule.sections.pop if receives else rule.sections.setdefault)((key, thread), None)
        if rule.pairing == "exclusive":
            lock[0] = (thread, rule) if receives else None
        if rule.pairing == "shared":
            (lock[1].add if receives else lock[1].discard)(thread)
        if receives == (rule.pairing == "during"):
            number = values[-1] if rule.pairing == "rounds" else len(self.log)
            rule.pending.setdefault(key, []).append((frozenset(self.past[thread]), number))

    @staticmethod
    def forget(rule, key, past):
        sent = rule.pending.get(key, [])
        if rule.pairing == "last":
            del sent[:-1]
        rule.pending[key] = [s for s in sent if not s[0] <= past]

    def independent(self):
        return {(first, second) for i, (second, past) in enumerate(self.marked)
                for first, _ in self.marked[:i] if first not in past}


# ---------------------------------------------------------------- comparison


def stamped(log, again=False):
    """`again`: the numbers of a thread begin again where another one has its id."""
    seen = {}
    for i, message in enumerate(log):
        seq = seen[message["thread"]] = seen.get(message["thread"], -1) + 1
        yield {**message, "seq": seq, "time": 1000 + 10 * i}
        if again and message["event"] == "thread::exit":
            del seen[message["thread"]]


def found(dpe, *spec_and_log):
    run = limited.run((dpe, "replay", "--format=json", "--all", "--allow-unobserved", *spec_and_log), SECONDS)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    if run.returncode not in (0, 1):
        return f"status {run.returncode}: {run.stderr[:500]}"
    return {tuple(sorted(line["params"].values())) for line in lines if line["type"] == "verdict"}


def differences(dpe, rng, execution, folder):
    spec, path, expected = f"{folder}/r.dpe", f"{folder}/log.jsonl", execution.independent()
    detected = INDEPENDENT + (PREDICTION if rng.random() < 0.5 else "")
    write(spec, "".join(rule.text(i) for i, rule in enumerate(execution.rules)) + detected)
    stated = list(stamped(execution.log))
    ways = [("by arrival", execution.log), ("in order", stated), ("shuffled", rng.sample(stated, len(stated)))]
    if execution.exits:
        ways.append(("numbered again", [*stamped(execution.log, True)]))
    for how, log in ways:
        write_log(path, log)
        yield from compared(how, found(dpe, "-s", spec, path), expected)
    if execution.exits:
        limited.run((dpe, "view", "--allow-unobserved", "-s", spec, "-o", f"{folder}/log.shiviz", path), SECONDS)
        yield from compared("by ShiViz's clocks", found(dpe, SHIVIZ, "-e", INDEPENDENT.strip(), f"{folder}/log.shiviz"), expected)


def compared(how, got, expected):
    if got != expected:
        yield f"{how}: {got if isinstance(got, str) else sorted(got ^ expected)[:5]}"


def main():
    args = options(__doc__, count=100)
    with Cases(args) as cases:
        for number in range(args.count):
            rng = random.Random(f"{args.seed} {number}")
            execution = Execution(rng, draw_rules(rng), rng.randint(2, 4))
            for _ in range(rng.randint(10, 70)):
                execution.step()
            cases.judge(list(differences(args.dpe, rng, execution, cases.folder)), number)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
