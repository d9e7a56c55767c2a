#!/usr/bin/env python3
"""Rules over damaged logs: messages in any order, lost, cut off, unreadable, repeated, of several hosts, in
several files. The order follows from `sync` rules of each pairing, and is computed here. A verdict is that of
the reference semantics for the whole execution, or inconclusive; for a complete log it is exactly that.

    damaged.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import os
import sys

import damage
import limited
import rules
from cases import Cases, options
from patterns import draw

SYNC = """sync last release(k): release(k) ; acquire(k).exit
sync fifo put(k): put(k) ; take(k).exit
sync all post(k): post(k) ; wait(k).exit
sync once send(k): send(k) ; receive(k).exit
"""
PAIRINGS = {"release": "acquire.exit", "put": "take.exit", "post": "wait.exit", "send": "receive.exit"}
SENDS = {receive: send for send, receive in PAIRINGS.items()}
FOUND = ("violated", "incomplete", "match")

# ---------------------------------------------------------------- what happened


def synchronised(rng, log, hosts):
    """The messages of the log, in that order, with synchronisation messages in place of each `pred`, and some
    more."""
    pending, messages, fresh = {}, [], 100
    number = {m["id"]: i for i, m in enumerate(log)}

    def add(event, thread, key):
        messages.append({"event": event, "thread": thread, "args": [key]})

    for i, message in enumerate(log):
        for earlier in message["pred"]:
            source = log[number[earlier]]["thread"]
            if source == message["thread"]:
                continue
            send, key = pending[earlier].pop(message["id"])
            add(PAIRINGS[send], message["thread"], key)
        if rng.random() < 0.2:
            kind, key = rng.choice(["release", "post"]), rng.randint(1, 2)
            add(rng.choice([kind, PAIRINGS[kind]]), message["thread"], key + 10 * hosts[message["thread"]])
        messages.append(dict(message))
        pending[message["id"]] = {}
        for later in log[i + 1:]:
            if message["id"] not in later["pred"] or later["thread"] == message["thread"]:
                continue
            together = hosts[later["thread"]] == hosts[message["thread"]]
            send, fresh = rng.choice([*PAIRINGS]) if together else "send", fresh + 1
            pending[message["id"]][later["id"]] = send, fresh
            add(send, message["thread"], fresh)
    return messages


def ordered(messages):
    """`pred` of each message: what its receive follows."""
    sent = {}
    for i, message in enumerate(messages):
        message["id"], message["pred"] = f"m{i}", []
        event, key = message["event"], (message["args"] or [None])[0]
        if event in PAIRINGS:
            sent.setdefault((event, key), []).append(message["id"])
        queue = sent.get((SENDS.get(event), key))
        if queue:
            message["pred"] = {"take.exit": queue[:1], "wait.exit": queue[:]}.get(event, queue[-1:])
        if queue and event == "take.exit":
            del queue[0]
    return messages


def as_logged(rng, messages, hosts):
    """What the log says: no predecessors, but numbers, times, and hosts if there are several."""
    log, seen = [], {}
    start, with_ids = {h: rng.randint(0, 10 ** 6) for h in set(hosts.values())}, rng.random() < 0.5
    for i, message in enumerate(messages):
        thread = message["thread"]
        seen[thread] = message["seq"] = seen.get(thread, -1) + 1
        logged = {k: v for k, v in message.items() if k != "pred" and (k != "id" or with_ids)}
        logged["time"] = start[hosts[thread]] + 10 * i
        log.append(logged | ({"host": f"h{hosts[thread]}"} if len(start) > 1 else {}))
    return log


# ---------------------------------------------------------------- what dpe says


class Said:
    """Conclusive verdicts that were not retracted, by rule: (verdict, (thread, number) of the messages,
    params)."""

    def __init__(self, run):
        self.status, self.errors, self.firm, self.counted = run.returncode, run.stderr, {}, {}
        self.doubts = 0
        for found in map(json.loads, run.stdout.splitlines()):
            if found["type"] == "measurement":
                self.counted[found["rule"]] = found["count"]
            elif found["type"] == "verdict":
                self.take(found)

    def take(self, found):
        firm = self.firm.setdefault(found["rule"], [])
        params = rules.key(found["params"])
        if found["verdict"] != "inconclusive":
            messages = [(m["thread"], m["seq"]) for m in found.get("messages", [])]
            firm.append((found["verdict"], messages, params, found.get("event")))
            return
        self.doubts += 1
        early = "reported too early as "
        if not found.get("reason", "").startswith(early):
            return
        was = [v for v in firm if v[2:] == (params, found.get("event"))]
        if was:
            firm.remove(was[-1])


def replay(dpe, engine, spec, texts, folder):
    names = [os.path.join(folder, n) for n in ("d.dpe", *(f"d{i}.jsonl" for i in range(len(texts))))]
    for name, content in zip(names, (spec, *texts)):
        with open(name, "w") as f:
            f.write(content)
    return Said(limited.run([dpe, "replay", "--format=json", "--allow-unobserved", f"--engine={engine}", "-s", *names], 60))


def several(rng, text):
    """The lines as one to three logs."""
    parts = [""] * rng.randint(1, 3)
    for line in text.splitlines(True):
        parts[rng.randrange(len(parts))] += line
    return parts


class Expected:
    """The reference verdict of one expression over the whole execution."""

    def __init__(self, number, e, *rest):
        self.number, self.e, self.reference = number, e, rules.Reference(e, *rest)
        self.expect, self.detect = rules.Reference(e, *rest).expect(), self.reference.detect()
        self.at = {(m["thread"], m["seq"]): i for i, m in enumerate(self.reference.log)}

    def wrong(self, said, complete, exact):
        """`complete`: nothing is missing from the log; `exact`: and its order is known."""
        sure = not rules.synchronises(self.e)
        kinds = {(v, params) for v, _, params in self.expect}
        got = said.firm.get(f"E{self.number}", [])
        for verdict, _, params, _ in got:
            if (verdict, params) not in kinds and (sure or verdict == "satisfied"):
                yield f"E{self.number}: {verdict} {params} is not in {sorted(kinds)}"
        if exact and sure and sorted((v[0], v[2]) for v in got) != sorted((v, p) for v, _, p in self.expect):
            yield f"E{self.number}: {got}, not {self.expect}"
        yield from self.wrong_matches(said.firm.get(f"D{self.number}", []), exact)
        counted = said.counted.get(f"M{self.number}", 0)
        if exact and counted != len(self.detect) or complete and bool(counted) != bool(self.detect):
            yield f"M{self.number}: {counted}, not {len(self.detect)}"

    def wrong_matches(self, got, exact):
        for _, messages, params, _ in got:
            members = {self.at[m] for m in messages}
            slices = [s for (_, values), s in self.reference.matched.items() if values == params and members <= s.keys()]
            if not any(self.reference.is_match(members, s, dict(params)) for s in slices):
                yield f"D{self.number}: {sorted(messages)} {params} is no match"
        last = sorted((self.reference.log[max(self.at[m] for m in messages)]["id"], p) for _, messages, p, _ in got)
        if exact and last != sorted((event, p) for _, event, p in self.detect):
            yield f"D{self.number}: matches end at {last}, not {self.detect}"


def draw_case(rng):
    """(specification, Expected of each rule, messages as logged, whether of one host), or None."""
    variables, alike = rng.choice(["", "x", "x", "T", "xT", "xy"]), rng.random() < 0.6
    one_host, unsafe = rng.random() < 0.7, rng.random() < 0.2
    patterns = {c: draw(rng, variables, alike or not one_host) for c in "ABC"[: rng.choice([2, 3])]}
    if len({p.text() for p in patterns.values()}) < len(patterns):
        return None
    e = rules.expression(rng, rng.choice([1, 2, 2, 3]), [*patterns], unsafe, False)
    log = rules.near_log(rng, e, patterns, variables) if rng.random() < 0.8 else rules.any_log(rng)
    if not log:
        return None
    hosts = {m["thread"]: 1 if one_host else rng.randint(1, 2) for m in log}
    messages = ordered(synchronised(rng, log, hosts))
    logged = as_logged(rng, messages, hosts)
    spec, expected = SYNC, []
    for number in range(3):
        e = e if not number else rules.expression(rng, 2, [*patterns], unsafe, False)
        observed, ends, clauses = rules.draw_clauses(rng, variables, alike) if one_host else ([], [], "")
        text = written(rng, patterns, number, e)
        spec += f"{text[0]}expect E{number}: {text[1]}{clauses}\ndetect D{number}: {text[1]}{clauses}\n"
        spec += f"measure M{number}: {text[1]}{clauses or ' observing never'} {{ count(); }}\n"
        expected.append(Expected(number, e, patterns, observed, ends, messages))
    return spec, expected, logged, one_host


def written(rng, patterns, number, e):
    writer = rules.Writer(rng, patterns, number)
    text = writer.text(e)
    return "".join(writer.definitions), text


def check(dpe, rng, folder):
    """What is wrong, or None if no execution was found by chance."""
    case = draw_case(rng)
    if case is None:
        return None
    spec, expected, logged, one_host = case
    found = []
    for kind in damage.KINDS:
        text = damage.damaged(rng, logged, kind)
        parts = several(rng, text) if kind in damage.COMPLETE else [text]
        said = replay(dpe, rng.choice(["auto", "auto", "net"]), spec, parts, folder)
        if said.status not in (0, 1, 2, 3) or said.status == 2 and not said.firm and not said.doubts:
            return [] if "accepts nothing" in said.errors else [f"{kind}: {said.errors}{spec}"]
        complete = kind in damage.COMPLETE
        wrong = [w for x in expected for w in x.wrong(said, complete, complete and one_host)]
        if said.status == 0 and any(x.detect or any(v[0] in FOUND for v in x.expect) for x in expected):
            wrong.append("status 0")
        if complete and said.doubts:
            wrong.append("inconclusive, although nothing is missing")
        found += [f"{kind}: {w}\n{spec}{'---'.join(parts)}" for w in wrong]
    return found


def main():
    with Cases(options(__doc__, count=100)) as cases:
        cases.draw(check)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
