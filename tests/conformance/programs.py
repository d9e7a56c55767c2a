#!/usr/bin/env python3
"""What pthread.dpe, cxx20.dpe and deadlock.dpe predict of random programs can happen.

    programs.py [--dpe DPE] [--seed N] [--count N] [--kind KIND]

A random program of two or three threads that use POSIX objects, or semaphores of C++, runs once here, under a random schedule.
Then all its schedules are explored in which each call returns what it returned in that run. A predicted race must be one of two
accesses that can be about to happen at once, and a predicted deadlock of mutexes one that closes. Each cycle of mutexes that
can close must be reported and, where there are mutexes alone, 98 in 100 of the races. Prints each difference and a closing
line.
"""
import collections
import itertools
import json
import random
import sys

from cases import Cases, options, replay, write, write_log

RACES = """include "cxx20.dpe"
predict ww(x): w(x) & w^(x)
predict wr(x): w(x) & r(x)
"""
DEADLOCKS = 'include "deadlock.dpe"\ninclude "pthread.dpe"\n'
KINDS = {"mutex": ["access", "access", "mutex", "nested"], "try": ["access", "access", "mutex", "try"],
         "spin": ["access", "access", "spin"], "rwlock": ["access", "rwlock", "rwlock"],
         "semaphore": ["access", "access", "semaphore", "mutex"], "C++ sem": ["C++ sem"],
         "condition": ["access", "condition", "condition", "try"],
         "barrier": ["access", "barrier"], "once": ["access", "once"], "join": ["access", "access", "mutex", "tryjoin"]}
KINDS["all"] = sorted({f for features in KINDS.values() for f in features})
FAMILY = {"mutex": "pthread_mutex_", "spin": "pthread_spin_", "rw": "pthread_rwlock_", "cond": "pthread_cond_",
          "barrier": "pthread_barrier_", "sem": "sem_", "C++ sem": "std::counting_semaphore::"}
LOCKS = {"mutex": (["m0", "m1"], ["mutex.trylock", "mutex.timedlock"]), "spin": (["k0", "k1"], ["spin.lock", "spin.trylock"]),
         "rw": (["l0", "l1"], ["rw.rdlock", "rw.wrlock", "rw.tryrdlock", "rw.trywrlock", "rw.timedwrlock"])}
FAILED = {"timedlock": 110, "timedwrlock": 110, "trylock": 16, "tryrdlock": 16, "trywrlock": 16}
COUNT = 2          # of the barrier
MOST_EVENTS = 40
MOST_STATES = 60000

# ---------------------------------------------------------------- programs: for each thread a list of operations


def draw(rng, features):
    threads = rng.randint(2, 3)
    program = {t: operations(rng, features) for t in range(1, threads + 1)}
    for t in range(2, threads + 1):
        program[1].insert(rng.randint(0, min(2, len(program[1]))), ("create", t))
    if rng.random() < 0.5:
        add_later(rng, program[1], "join", rng.randint(2, threads))
    if "tryjoin" in features:
        add_later(rng, program[1], "tryjoin", rng.randint(2, threads))
    return program


def add_later(rng, operations, name, thread):
    operations.insert(rng.randint(operations.index(("create", thread)) + 1, len(operations)), (name, thread))


def operations(rng, features):
    made, held = [], []
    for _ in range(rng.randint(1, 6)):
        feature, variable = rng.choice(features), rng.choice("xxy")
        if feature == "access":
            made.append(("access", rng.choice("wwr"), variable))
        elif feature == "mutex":
            if held and rng.random() < 0.5:
                made.append(("call", "mutex.unlock", held.pop(rng.randrange(len(held)))))
            elif (mutex := rng.choice(["m0", "m1", "m2"])) not in held:
                made.append(("call", "mutex.lock", mutex))
                held.append(mutex)
        elif feature == "nested" and not held:
            a, b = rng.sample(["m0", "m1", "m2"], 2)
            made += [("call", "mutex.lock", a), ("call", "mutex.lock", b), ("access", "w", variable)]
            made += [("call", "mutex.unlock", b), ("call", "mutex.unlock", a)]
        elif feature in ("try", "spin", "rwlock"):
            family = {"try": "mutex", "spin": "spin", "rwlock": "rw"}[feature]
            made.append(("section", rng.choice(LOCKS[family][1]), rng.choice(LOCKS[family][0]), rng.choice("xy-")))
        elif feature == "semaphore":
            made.append(("call", rng.choice(["sem.post", "sem.post", "sem.wait", "sem.trywait"]), "s0"))
        elif feature == "C++ sem":
            called = rng.choice(["release", "acquire", "try_acquire", "try_acquire_for"])
            made += [("access", "w", "x"), ("call", f"C++ sem.{called}", "p0"), ("access", "w", "x")]
        elif feature == "condition":
            made.append(("condition", rng.choice(["wait", "timedwait", "signal", "broadcast"]), variable))
        elif feature == "barrier":
            made.append(("call", "barrier.wait", "b0"))
        elif feature == "once":
            made.append(("once", "o0"))
    return made + [("call", "mutex.unlock", m) for m in held]


# An event: (name, object, what it may return). A generator of events is sent what each did return.


def call(name, thing):
    yield name + ".enter", thing, (0,)
    return (yield name + ".exit", thing, results(name))


def results(name):
    kind = name.split(".")[-1]
    if kind == "trywait":
        return 0, -1
    if kind.startswith("try_acquire"):
        return 1, 0
    if kind == "timedwait":
        return 0, 110
    return (0, FAILED[kind]) if kind in FAILED else (0,)


def events(operation):
    kind, *words = operation
    if kind == "access":
        yield (*words, (0,))
    elif kind == "create":
        yield "thread::create", words[0], (0,)
    elif kind == "join":
        yield "join.enter", words[0], (0,)
        yield "join.exit", words[0], (0,)
    elif kind == "tryjoin":
        yield "tryjoin.exit", words[0], (0, 16)
    elif kind == "call":
        yield from call(*words)
    elif kind == "section":
        name, lock, variable = words
        taken = yield from call(name, lock)
        if variable != "-":
            yield "w", variable, (0,)
        if not taken:
            yield from call(name.split(".")[0] + ".unlock", lock)
    elif kind == "condition":
        yield from condition(*words)
    else:
        runs = yield "once.enter", words[0], ("runs", "finds")
        if runs == "runs":
            yield "w", "z", (0,)
            yield "once.done", words[0], (0,)
        yield "once.exit", words[0], (0,)


def condition(name, variable):
    yield from call("mutex.lock", "m2")
    yield "w", variable, (0,)
    yield from call("cond." + name, "c0")
    yield "w", variable, (0,)
    yield from call("mutex.unlock", "m2")


def thread(number, program):
    if number > 1:
        yield "thread::start", number, (0,)
    for operation in program[number]:
        yield from events(operation)
    yield "thread::exit", number, (0,)


# ---------------------------------------------------------------- their states: a dictionary (kind, object) → value


def able(state, kind, thing, free):
    """A call that takes what is free returns 0, and otherwise that it failed."""
    return lambda result, taken: [{**state, (kind, thing): taken}] if free and result == 0 else [state] if not free and result else []


def after(state, t, name, thing, result):
    """The states after the event; none where it cannot happen, or returns something else."""
    kind, _, what = name.partition(".")
    value = state.get((kind, thing))
    if kind in ("mutex", "spin") and what != "unlock.exit":
        return after_lock(state, t, kind, what, thing, result)
    if kind == "rw":
        return after_rwlock(state, t, what, thing, result, value or (None, frozenset()))
    if kind in ("sem", "C++ sem"):
        return after_semaphore(state, what, thing, result, state[("sem", thing)])
    if kind == "cond":
        return after_condition(state, t, what, thing, result)
    if kind == "barrier":
        return after_barrier(state, t, what, thing, value or 0)
    if kind == "once":
        return after_once(state, what, thing, result, value)
    if name == "thread::create":
        return [{**state, ("created", thing): 1}]
    if name == "thread::exit":
        return [{**state, ("ended", t): 1}]
    if name in ("join.exit", "tryjoin.exit"):
        return [state] if (("ended", thing) in state) == (result == 0) else []
    return [state]


def after_lock(state, t, kind, what, thing, result):
    if what == "unlock.enter":
        return [{**state, (kind, thing): None}]
    return able(state, kind, thing, not state.get((kind, thing)))(result, t) if what.endswith(".exit") else [state]


def after_rwlock(state, t, what, thing, result, value):
    writer, readers = value
    if what == "unlock.enter":
        return [{**state, ("rw", thing): (None, readers) if writer == t else (writer, readers - {t})}]
    if "rd" in what and what.endswith(".exit"):
        return able(state, "rw", thing, not writer)(result, (None, readers | {t}))
    if "wr" in what and what.endswith(".exit"):
        return able(state, "rw", thing, not writer and not readers)(result, (t, readers))
    return [state]


def after_semaphore(state, what, thing, result, value):
    """What begins with try_ returns whether it succeeded."""
    if what in ("post.enter", "release.enter"):
        return [{**state, ("sem", thing): value + 1}]
    failed = result == (0 if what.startswith("try_") else -1)
    if not what.endswith(("wait.exit", "acquire.exit", "acquire_for.exit")):
        return [state]
    return able(state, "sem", thing, value > 0)(-failed, value - 1)


def after_condition(state, t, what, thing, result):
    """A waiter is there with whether it was woken."""
    waiters = {key: woken for key, woken in state.items() if key[0] == "waits"}
    if what.endswith("wait.enter"):
        return [{**state, ("waits", t): False, ("mutex", "m2"): None}]
    if what.endswith("wait.exit"):
        if state.get(("mutex", "m2")) or not waiters[("waits", t)] and result == 0:
            return []
        return [{**{k: v for k, v in state.items() if k != ("waits", t)}, ("mutex", "m2"): t}]
    asleep = [key for key, woken in waiters.items() if not woken]
    if what == "broadcast.enter":
        return [{**state, **dict.fromkeys(asleep, True)}]
    return [{**state, key: True} for key in asleep] or [state] if what == "signal.enter" else [state]


def after_barrier(state, t, what, thing, arrived):
    if what == "wait.enter":
        return [{**state, ("barrier", thing): arrived + 1, ("round", t): arrived // COUNT}]
    return [state] if arrived >= (state["round", t] + 1) * COUNT else []


def after_once(state, what, thing, result, value):
    if what == "enter":
        return [{**state, ("once", thing): value or 1}] if (value is None) == (result == "runs") else []
    if what == "done":
        return [{**state, ("once", thing): 2}]
    return [state] if value == 2 else []


def begun(state, t):
    return t == 1 or ("created", t) in state


# ---------------------------------------------------------------- one run, and all of them


def run(rng, program):
    """[(thread, name, object, result, state before)], and what each thread would do next in the end."""
    state = {("sem", semaphore): rng.choice([0, 1, 1, 2]) for semaphore in ("s0", "p0")}
    threads, log, latest = {t: thread(t, program) for t in program}, [], None
    first, following = dict(state), {t: next(g) for t, g in threads.items()}
    while following:
        order = rng.sample(list(following), len(following))
        if latest in following and rng.random() < 0.6:
            order = [latest, *order]
        step = next((found for t in order if begun(state, t) and (found := take(rng, state, t, following[t]))), None)
        if step is None:
            break
        latest, result, states = step
        log.append((latest, *following[latest][:2], result, state))
        state = rng.choice(states)
        try:
            following[latest] = threads[latest].send(result)
        except StopIteration:
            del following[latest]
    return first, log, {t: (t, *event[:2], event[2][0]) for t, event in following.items()}


def take(rng, state, t, event):
    name, thing, results = event
    for result in rng.sample(results, len(results)):
        states = after(state, t, name, thing, result)
        if states:
            return t, result, states
    return None


def explore(first, log, left):
    """Pairs of accesses that can be about to happen at once, and sets of mutexes whose cycle can close; None if there are too
    many states."""
    own = {t: [(i, e) for i, e in enumerate(log) if e[0] == t] + ([(None, left[t])] if t in left else [])
           for t in {e[0] for e in log} | {*left}}
    todo, seen, pairs, cycles = [(dict.fromkeys(own, 0), first)], set(), set(), set()
    while todo:
        at, state = todo.pop()
        key = frozenset(at.items()), frozenset(state.items())
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > MOST_STATES:
            return None
        ready = [own[t][at[t]] for t in own if at[t] < len(own[t]) and begun(state, t)]
        pairs.update(itertools.combinations(sorted(i for i, e in ready if e[1] in ("r", "w") and i is not None), 2))
        cycles.update(closed(state, [e for _, e in ready]))
        for i, (t, name, thing, result, *_) in ready:
            if i is not None:
                todo += [({**at, t: at[t] + 1}, new) for new in after(state, t, name, thing, result)]
    return pairs, cycles


def closed(state, ready):
    waits = {e[0]: (state[("mutex", e[2])], e[2]) for e in ready if e[1] == "mutex.lock.exit" and state.get(("mutex", e[2]))}
    for t in waits:
        path = [t]
        while waits.get(path[-1], (t,))[0] not in path:
            path.append(waits[path[-1]][0])
        if path[-1] in waits and waits[path[-1]][0] == t:
            yield frozenset(waits[u][1] for u in path)


# ---------------------------------------------------------------- as a log


def address(thing):
    return f"0x7f00{thing:x}" if isinstance(thing, int) else hex(0x1000 * ord(thing[0]) + 0x100 * int("0" + thing[1:]))


def called(name):
    family, *rest = name.split(".")
    if family in FAMILY:
        return FAMILY[family] + ".".join(rest)
    return {"join": "pthread_join", "tryjoin": "pthread_tryjoin_np", "once": "pthread_once"}[family] + "." + rest[0]


def variables(t, name, thing, state):
    """What pthread.dpe reads of glibc's objects."""
    if name == "rw.unlock.enter":
        return {"arg@0->__data.__cur_writer": t if state[("rw", thing)][0] == t else 0}
    if name == "once.enter":
        return {"arg@0->__state": state.get(("once", thing), 0)}
    if name.startswith("barrier"):
        arrived = state.get(("barrier", thing), 0)
        return {"arg@0->in": arrived, "arg@0->count": COUNT, "arg@0->current_round": arrived // COUNT * COUNT}
    return {}


def messages(log):
    for i, (t, name, thing, result, state) in enumerate(log):
        message = {"id": f"e{i}", "thread": t}
        if name in ("r", "w"):
            message |= {"event": name, "args": [address(thing)]}
        elif name.startswith("thread"):
            message |= {"event": name, "args": [thing, address(thing), 1]}
        elif name == "once.done":
            continue
        else:
            message |= {"event": called(name), "args": [address(thing)] + ([address("m2")] if name.startswith("cond") and "wait" in name else []),
                        "vars": variables(t, name, thing, state)}
        yield message | ({"ret": result} if name.endswith(".exit") else {})


def reported(dpe, folder, spec, log):
    write(f"{folder}/s.dpe", spec)
    write_log(f"{folder}/l.jsonl", messages(log))
    done, lines = replay(dpe, f"{folder}/s.dpe", f"{folder}/l.jsonl", "--all", "--allow-unobserved")
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(done.stderr)
    return lines


def wrong_races(log, pairs, lines, seen):
    predicted = {tuple(sorted(int(e[1:]) for e in v["events"])) for v in lines if v.get("verdict") == "match"}
    for pair in predicted - pairs:
        yield f"race {[log[i][:3] for i in pair]} cannot happen"
    races = {(a, b) for a, b in pairs if log[a][2] == log[b][2] and "w" in (log[a][1], log[b][1])}
    seen["races"] += len({b for _, b in races})
    seen["predicted"] += len({b for _, b in predicted})


def wrong_deadlocks(cycles, lines):
    things, predicted = {address(m): m for m in ("m0", "m1", "m2")}, {}
    for finding in lines:
        if finding["type"] == "finding" and "deadlock" in finding["kind"]:
            mutexes = frozenset(things.get(w["object"]) for w in finding["waits"])
            predicted[mutexes] = predicted.get(mutexes) or finding.get("predicted", True)
    for mutexes, certain in predicted.items():
        if certain and None not in mutexes and mutexes not in cycles:
            yield f"the deadlock of {sorted(mutexes)} cannot happen"
    for mutexes in cycles - predicted.keys():
        yield f"the deadlock of {sorted(mutexes)} is missing"


def check(dpe, rng, kind, folder, seen):
    """What is wrong, or None if there are too many events or states; adds to the numbers of races seen."""
    program = draw(rng, KINDS[kind])
    first, log, left = run(rng, program)
    found = explore(first, log, left) if len(log) <= MOST_EVENTS else None
    if found is None:
        return None
    wrong = list(wrong_races(log, found[0], reported(dpe, folder, RACES, log), seen[kind]))
    wrong += wrong_deadlocks(found[1], reported(dpe, folder, DEADLOCKS, log))
    return [f"{kind}: {w}\n{program}\n{[e[:4] for e in log]}" for w in wrong]


def main():
    args, number, seen = options(__doc__, count=100, kind=""), 0, collections.defaultdict(collections.Counter)
    with Cases(args) as cases:
        while cases.passed + cases.failed < args.count:
            number += 1
            kind = args.kind or [*KINDS][number % len(KINDS)]
            wrong = check(args.dpe, random.Random(f"{args.seed} {number}"), kind, cases.folder, seen)
            if wrong is not None:
                cases.judge(wrong, number)
    mutex = seen["mutex"]
    cases.require(mutex["predicted"] >= 0.98 * mutex["races"], f"of {mutex['races']} races {mutex['predicted']} are predicted")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
