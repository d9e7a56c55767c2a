"""What the formats say of themselves: view_exports.py TRACE.json LOG.shiviz GRAPH.dot. Prints ok and not ok."""
import collections
import json
import re
import sys


def check(name, condition, *shown):
    print(("ok - " if condition else "not ok - ") + name)
    for text in shown if not condition else ():
        print(f"#   {text}")


def slices_of(events):
    """Per thread (begin, end, name) of B and E, which come in order of time and nest; None where they do not."""
    slices, stacks, last = collections.defaultdict(list), collections.defaultdict(list), {}
    for event in events:
        if event["ph"] not in "BE":
            continue
        thread = event["pid"], event["tid"]
        if event["ts"] < last.get(thread, 0):
            return None
        last[thread] = event["ts"]
        if event["ph"] == "B":
            stacks[thread].append(event)
            continue
        if not stacks[thread]:
            return None
        begun = stacks[thread].pop()
        slices[thread].append((begun["ts"], event["ts"], begun["name"]))
    return None if any(stacks.values()) else slices


def test_chrome(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    check("Perfetto's file: each event has a phase, a process, a thread and a time", all({"ph", "pid", "tid", "ts"} <= set(e) for e in events))
    slices = slices_of(events)
    check("Perfetto's file: each B event has its E event, nested and in order of time", slices is not None)
    if slices is None:
        return
    names = {name for thread in slices.values() for _, _, name in thread}
    outer = next(s for s in slices[1, 1] if s[2] == "outer(7)")
    inner = next(s for s in slices[1, 1] if s[2] == "inner()")
    check("Perfetto's file: a call lasts until its return, and encloses the calls within it", outer[0] < inner[0] < inner[1] < outer[1] and outer[1] - outer[0] >= 5, outer, inner)
    check("Perfetto's file: a call without a return lasts no time", any(s[2] == "lost()" and s[1] - s[0] < 0.01 for s in slices[1, 1]), names)

    def is_bound(event):
        return any(begin <= event["ts"] <= end for begin, end, _ in slices[event["pid"], event["tid"]])
    flows = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            flows[event["id"]].append(event)
    check("Perfetto's file: each flow has one begin and one later end, both in slices", flows and all(
        [e["ph"] for e in flow] == ["s", "f"] and flow[0]["ts"] < flow[1]["ts"] and all(map(is_bound, flow)) and
        flow[1]["bp"] == "e" and {e["cat"] + e["name"] for e in flow} == {flow[0]["cat"] + flow[0]["name"]} for flow in flows.values()), flows)
    locks = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "be":
            locks[event["cat"], event["id"]].append(event)
    check("Perfetto's file: each lock that is held has a begin and an end", len(locks) == 2 and all(
        [e["ph"] for e in lock] == ["b", "e"] and lock[0]["ts"] <= lock[1]["ts"] and lock[0]["name"] == lock[1]["name"] == "holds 0x10"
        for lock in locks.values()), dict(locks))
    marks = [e for e in events if e["ph"] == "i"]
    check("Perfetto's file: findings are instants in their threads", marks and all(e["s"] == "t" and "chain: match" in e["name"] and is_bound(e) for e in marks), marks)
    check("Perfetto's file: threads have names", {e["args"]["name"] for e in events if e["name" if "name" in e else "ph"] == "thread_name"} == {"thread 1", "thread 2"})


def test_shiviz(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})\n", text)
    check("ShiViz's log: its regular expression reads all events", len(found) == 10 and sum(len("".join(f)) + 3 for f in found) == len(text), len(found))
    clocks = [(event, host, json.loads(clock)) for event, host, clock in found]
    own = collections.Counter()
    for _, host, clock in clocks:
        own[host] += 1
        if clock[host] != own[host]:
            check("ShiViz's log: each host counts its own events", False, host, clock)
            return
    check("ShiViz's log: each host counts its own events", True)
    put, get = (next(c for c in clocks if c[0].startswith(name)) for name in ("put", "get"))
    check("ShiViz's log: the clocks have the causal order", get[2].get(put[1], 0) >= put[2][put[1]] and get[1] not in put[2], put, get)


def test_dot(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    text = r'"(?:[^"\\]|\\.)*"'
    allowed = re.compile(rf"digraph finding {{|\t*label={text};|\tnode \[[^]]*\];|\tsubgraph cluster_\d+ {{|\t\te\d+ \[label={text}(, color=red, penwidth=2)?\];|"
                         r"\te\d+ -> e\d+( \[(style=dashed|color=blue)\])?;|\t?}|")
    wrong = [line for line in lines if not allowed.fullmatch(line)]
    check("Graphviz's file: each line has the form of the format", not wrong, *wrong)
    nodes, edges = re.findall(r"^\t\te(\d+) ", "\n".join(lines), re.M), re.findall(r"e(\d+) -> e(\d+)", "\n".join(lines))
    check("Graphviz's file: edges are between its nodes, and each node is declared once", all({*edge} <= {*nodes} for edge in edges) and len({*nodes}) == len(nodes) and edges)
    check("Graphviz's file: the events of the finding are red", sum("color=red" in line for line in lines) == 2)


for test, path in zip((test_chrome, test_shiviz, test_dot), sys.argv[1:]):
    test(path)
