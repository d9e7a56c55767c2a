"""Damaged logs: lines in another order, missing, cut off, unreadable, repeated."""
import json

KINDS = ("whole", "shuffled", "lost", "cut", "unreadable", "twice")
COMPLETE = KINDS[:2]


def lost(rng, log):
    """Without some messages; the numbers of later ones, or a line at the end, show that."""
    among = range(rng.choice([0, len(log) * 3 // 4]), len(log))
    gone = set(rng.sample(among, rng.randint(1, min(3, len(among)))))
    kept = [m for i, m in enumerate(log) if i not in gone]
    last = {m["thread"]: m["seq"] for m in kept}
    unseen = {log[i]["thread"] for i in gone if log[i]["seq"] > last.get(log[i]["thread"], -1)}
    return kept, [{"dpe_lost": sum(log[i]["thread"] == t for i in gone), "thread": t} for t in sorted(unseen)]


def part(rng, line):
    return line[: rng.randint(1, len(line) - 2)]


def damaged(rng, log, kind):
    """The text of the log."""
    notes = []
    if kind == "lost":
        log, notes = lost(rng, log)
    lines = [json.dumps(m) for m in log]
    if kind == "shuffled" or kind != "whole" and rng.random() < 0.5:
        rng.shuffle(lines)
    lines += [json.dumps(n) for n in notes]
    at = rng.randrange(len(lines))
    if kind == "cut":
        return "\n".join([*lines[:at], part(rng, lines[at])])
    if kind == "unreadable":
        lines[at] = part(rng, lines[at])
    if kind == "twice":
        lines.insert(rng.randint(0, len(lines)), lines[at])
    return "\n".join(lines) + "\n"
