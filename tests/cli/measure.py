"""measure.py make SEED: a log of calls by several threads.
measure.py compare LOG REPORT: whether the report's measurements are those of the log, computed here; prints what differs."""
import collections
import json
import math
import random
import sys


def make(seed):
    dice = random.Random(seed)
    now = {thread: 1000 for thread in range(1, 5)}
    number = dict.fromkeys(now, 0)
    print('{"dpe_log":1}')
    for i in range(400):
        thread = dice.choice(list(now))
        kind = dice.choice(["read", "write", "sync"])
        now[thread] += dice.randrange(1, 1000)
        begin = now[thread]
        now[thread] += int(math.exp(dice.random() * 25))
        for event, time in (("begin", begin), ("end", now[thread])):
            print(json.dumps({"event": event, "thread": thread, "seq": number[thread], "time": time,
                              "args": [i, kind, dice.choice([dice.randrange(-5, 100), dice.randrange(-1 << 40, 1 << 55)])]}))
            number[thread] += 1


def compare(log, report):
    calls, began = [], {}
    for message in map(json.loads, open(log)):
        if message.get("event") == "begin":
            began[message["args"][0]] = message
        elif "event" in message:
            calls.append((began[message["args"][0]], message))
    figures = collections.defaultdict(dict)
    for found in map(json.loads, open(report)):
        if found["type"] == "measurement":
            figures[found["rule"], found["call"]][found.get("key", "")] = found
    latencies = [end["time"] - begin["time"] for begin, end in calls]
    kinds = collections.Counter(begin["args"][1] for begin, _ in calls)
    assert {key: found["count"] for key, found in figures["by_kind", "count"].items()} == kinds
    for kind in kinds:
        values = [end["args"][2] for begin, end in calls if begin["args"][1] == kind]
        found = figures["by_kind", "sum"][kind]
        assert (found["sum"], found["min"], found["max"]) == (sum(values), min(values), max(values)), kind
    found = figures["latency", "hist"][""]
    wanted = collections.Counter(1 << value.bit_length() - 1 for value in latencies)
    assert {bucket["from"]: bucket["count"] for bucket in found["buckets"]} == wanted
    assert found["unit"] == "ns" and found["count"] == len(latencies) and found["sum"] == sum(latencies)
    found = figures["latency", "quantiles"][""]
    ordered = sorted(latencies)
    for share, value in found["quantiles"].items():
        exact = ordered[max(0, math.ceil(float(share) * len(ordered)) - 1)]
        assert abs(value - exact) <= exact / 60 + 1, (share, value, exact)
    found = figures["all_values", "hist"][""]
    values = [message["args"][2] for call in calls for message in call]
    assert found.get("negative", 0) == sum(value < 0 for value in values)
    wanted = collections.Counter(1 << value.bit_length() - 1 if value else 0 for value in values if value >= 0)
    assert {bucket["from"]: bucket["count"] for bucket in found["buckets"]} == wanted
    print("as computed")


make(int(sys.argv[2])) if sys.argv[1] == "make" else compare(*sys.argv[2:])
