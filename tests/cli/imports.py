"""imports.py make SEED: a random distributed execution in ShiViz's format, its hosts' lines shuffled into each other.
imports.py order LOG: how many pairs of events the log's predecessors order as the vector clocks do, and how many they do not.
imports.py otlp SEED: random requests in OTLP, several services.
imports.py members LOG NAME...: these of each event; of its arguments, the first.
imports.py acyclic LOG: whether the predecessors of the log form no cycle, and each is in it."""
import json
import random
import re
import sys


def make(seed):
    dice = random.Random(seed)
    hosts = [f"h{i}" for i in range(dice.randrange(2, 6))]
    clocks = {host: {} for host in hosts}
    lines, messages = {host: [] for host in hosts}, []
    for i in range(60):
        host = dice.choice(hosts)
        clock = clocks[host]
        what = "local step"
        waiting = [message for message in messages if message[0] != host]
        if waiting and dice.random() < 0.4:
            message = dice.choice(waiting)
            messages.remove(message)
            for other, count in message[1].items():
                clock[other] = max(clock.get(other, 0), count)
            what = f"Received {message[2]}"
        clock[host] = clock.get(host, 0) + 1
        if what == "local step" and dice.random() < 0.5:
            messages.append((host, dict(clock), f"m{i}"))
            what = f"Sent m{i}"
        if dice.random() < 0.9:  # some events are not logged
            lines[host].append(f"{host} {json.dumps(clock)}\n{what}\n")
    while any(lines.values()):
        host = dice.choice([host for host in hosts if lines[host]])
        print(lines[host].pop(0), end="")


def messages_of(path):
    return [message for message in map(json.loads, open(path)) if "event" in message]


def closure(messages):
    """The events before each, by predecessors, each of which must be in the log."""
    direct = {message["id"]: message.get("pred", []) for message in messages}
    before = {}

    def visit(name, path):
        if name in path:
            raise SystemExit(f"a cycle through {name}")
        if name not in before:
            before[name] = set()
            found = set()
            for pred in direct[name]:
                found |= {pred} | visit(pred, path | {name})
            before[name] = found
        return before[name]

    for name in direct:
        visit(name, frozenset())
    return before


def order(log, source):
    clocks = {}
    for line in open(source):
        found = re.match(r"(\S+) (\{.*\})$", line)
        if found:
            clock = json.loads(found[2])
            clocks[f"{found[1]}:{clock[found[1]]}"] = (found[1], clock)
    before = closure(messages_of(log))
    assert set(before) == set(clocks), set(before) ^ set(clocks)
    right = wrong = 0
    for a, (host, clock) in clocks.items():
        for b, (_, other) in clocks.items():
            if a == b:
                continue
            wanted = clock[host] <= other.get(host, 0)
            right += wanted == (a in before[b])
            wrong += wanted != (a in before[b])
    print(right > 100, wrong)


def otlp(seed):
    dice = random.Random(seed)
    spans, number = {}, 0

    def span(trace, parent, begin, end, depth):
        nonlocal number
        number += 1
        own = f"{number:016x}"
        service = dice.choice("abc")
        earlier = [other["spanId"] for list_ in spans.values() for other in list_
                   if other["traceId"] == trace and int(other["startTimeUnixNano"]) < begin]
        spans.setdefault(service, []).append({
            "traceId": trace, "spanId": own, "parentSpanId": parent, "name": f"work {depth}",
            "kind": dice.randrange(1, 6), "startTimeUnixNano": str(begin), "endTimeUnixNano": str(end),
            "status": {"code": dice.randrange(3)},
            "links": [{"traceId": trace, "spanId": dice.choice(earlier)}] if earlier and dice.random() < 0.3 else [],
            "events": [{"name": "note", "timeUnixNano": str(begin)}] * dice.randrange(3)})
        at = begin
        while depth < 4 and dice.random() < 0.7:
            at = dice.randrange(at, end + 1)
            span(trace, own, at, dice.randrange(at, end + 1), depth + 1)

    for i in range(5):
        span(f"{i:032x}", "", 1000 * i, 1000 * i + 900, 0)
    for service, list_ in spans.items():
        dice.shuffle(list_)
        print(json.dumps({"resourceSpans": [{
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]},
            "scopeSpans": [{"spans": list_}]}]}))


def acyclic(log):
    messages = messages_of(log)
    before = closure(messages)
    for message in messages:
        name = message["id"]
        if name.endswith(".exit"):
            assert name.replace(".exit", ".enter") in before[name]
    print("acyclic", len(messages) > 20)


def members(log, *names):
    for message in messages_of(log):
        found = {**message.get("vars", {}), **message, "args": message.get("args", [""])[0]}
        print(*(found[name] for name in names))


{"make": lambda seed: make(int(seed)), "order": order, "otlp": lambda seed: otlp(int(seed)), "acyclic": acyclic,
 "members": members}[sys.argv[1]](*sys.argv[2:])
