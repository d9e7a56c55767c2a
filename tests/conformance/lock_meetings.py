#!/usr/bin/env python3
"""check_order says which cycles close in another run, and leaves out what closes in none.

    lock_meetings.py [--dpe DPE] [--limited] [--count N] [--seed S]

Random executions of threads that take locks, create, join and signal each other, and read what others
wrote. For each cycle of acquisitions and each choice of its requests, predict_oracle.py computes the least
run that has them: the cycle is predicted where in some such run no request precedes another, and it is
there at all where in some choice none precedes another by what holds in every run. With --limited, for a
dpe with small limits, any cycle may be reported as not predicted.
Prints a TAP line; exits 1 if a cycle is missing, should not be there, or is reported as the other kind.
"""
import random
import sys

import lock_cycles
import predict_oracle as oracle
from cases import Cases, options, replay, write, write_log

SYNC = """
sync exclusive of_writers(x): unlock(x) ; lock(x)
sync shared of_readers(x): unlock_shared(x) ; shared(x)
sync once creation(p): create(p) ; start(p)
sync last joining(p): quit(p) ; join(p)
sync all sending(x): send(x) ; receive(x)
sync last signalling(x): signal(x) ; wake(x)
sync writes stores(x): store(x)
sync reads loads(x): load(x)
"""
SPEC = SYNC + """
expect locks(x, T): (lock(x) by T { check_order(T, x); hold(T, x); }
 + shared(x) by T { check_order(T, x); share(T, x); }
 + unlock(x) by T { unhold(T, x); } + unlock_shared(x) by T { unhold(T, x); })*
expect threads(p, T): (create(p) by T { creates(T, p); } + start(p) by T { begins(T, p); }
 + quit(p) by T { ended(T); } + join(p) by T { joined(T, p); })*
expect channels(x, T): (send(x) by T { sends(T, x); } + receive(x) by T { receives(T, x); })*
"""
WAYS = 8  # of one cycle that dpe looks at


def random_log(rng):
    """As of lock_cycles, with signals and data, which the lock order alone does not know."""
    log, shared, more = [], {}, rng.random()
    for event, thread, argument in lock_cycles.random_log(rng):
        if event in ("open", "reset"):
            continue
        if event == "unlock" and shared.pop((thread, argument), False):
            event = "unlock_shared"
        shared[thread, argument] = event == "shared"
        log.append((event, thread, argument))
        if event in ("lock", "shared", "unlock", "unlock_shared") and rng.random() < more / 4:
            log.append((rng.choice(["signal", "wake", "store", "load"]), thread, rng.choice("uv")))
    return log


def acquisitions(log):
    """(thread, lock, held locks and whether shared, place)"""
    held, found = {}, []
    for place, (event, thread, argument) in enumerate(log):
        mine = held.setdefault(thread, {})
        if event in ("lock", "shared"):
            found.append((thread, argument, dict(mine), place))
            mine[argument] = event == "shared"
        elif event in ("unlock", "unlock_shared"):
            del mine[argument]
    return found


def apart(a, b):
    return a[0] == b[0] or not all(a[2][lock] and b[2][lock] for lock in a[2].keys() & b[2].keys())


def all_paths(taken):
    """Each choice of acquisitions that makes a cycle: each takes what the next one's thread holds."""
    def extend(path):
        if len(path) > 1 and path[-1][1] in path[0][2]:
            yield path
        for a in taken:
            if path[-1][1] in a[2] and a[3] > path[0][3] and all(a[1] != b[1] and not apart(a, b) for b in path):
                yield from extend([*path, a])
        return

    for a in taken:
        yield from extend([a])


def unordered(past, places):
    return not any(a in past[b] for a in places for b in places)


def judge(log):
    """Of each cycle, as its locks: whether it is predicted, and how many ways there are to it."""
    text = SYNC + "predict none: nothing() & nothing^()"
    syncs, _ = oracle.parse_spec(text)
    run = oracle.Run([{"id": i, "event": e, "thread": t, "args": [a]} for i, (e, t, a) in enumerate(log)], syncs)
    always = run.order(frozenset(range(run.n)), [])
    found, ways = {}, {}
    for path in all_paths(acquisitions(log)):
        places = [a[3] for a in path]
        locks = lock_cycles.canonical([a[1] for a in path])
        way = [(a[1], tuple(sorted(a[2].items()))) for a in path]
        ways.setdefault(locks, set()).add(min(tuple(way[i:] + way[:i]) for i in range(len(way))))
        if not unordered(always, places):
            continue
        found.setdefault(locks, False)
        if not found[locks]:
            cut = run.least(places)
            found[locks] = cut is not None and unordered(run.order(cut, run.history(cut)), places)
    return found, {locks for locks in ways if len(ways[locks]) > WAYS}


def deadlocks_of(dpe, folder, log):
    path = f"{folder}/log.jsonl"
    write_log(path, [{"event": event, "thread": thread, "args": [argument]} for event, thread, argument in log])
    run, lines = replay(dpe, f"{folder}/locks.dpe", path)
    if run.returncode not in (0, 1, 3) or run.stderr:
        sys.exit(run.stderr)
    cycles, some = {}, set()
    for line in lines:
        if line.get("kind") != "potential deadlock":
            continue
        locks = lock_cycles.canonical([wait["object"] for wait in reversed(line["waits"])])
        cycles[locks] = line["predicted"]
        if line.get("others"):
            some.add(frozenset(locks))
    return cycles, some, any(line.get("verdict") == "inconclusive" for line in lines)


def main():
    args = options(__doc__, count=200, limited=False)
    rng, seen = random.Random(args.seed), {True: 0, False: 0}
    with Cases(args) as cases:
        write(f"{cases.folder}/locks.dpe", SPEC)
        for number in range(args.count):
            log = random_log(rng)
            wanted, many = judge(log)
            got, some, inconclusive = deadlocks_of(args.dpe, cases.folder, log)
            for locks in wanted:
                seen[wanted[locks]] += 1
            wrong = {c for c in got if c not in wanted and c not in many and frozenset(c) not in some
                     and (got[c] or not args.limited)}
            wrong |= {c for c in wanted if c not in got and not inconclusive and frozenset(c) not in some}
            wrong |= {c for c in got if c in wanted and got[c] != wanted[c] and (got[c] or not args.limited and c not in many)}
            cases.judge([f"{wrong}: wanted {wanted}, got {got}: {log}"] if wrong else [], number)
    cases.require(min(seen.values()) > args.count / 20, f"{seen[True]} predicted cycles and {seen[False]} others")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
