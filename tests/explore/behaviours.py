#!/usr/bin/env python3
"""Counts the behaviours of tiny programs by brute force: behaviours.py PROGRAM

Enumerates every interleaving. Two are one behaviour if the same operations depend on each other in the same
order: operations of one thread, and those on one object, unless both only read it, or lock it for reading. Prints the number of
behaviours, then each final state: an exit status, or "deadlock".

A thread is a generator that yields (kind, objects) before each operation, which is done when it is resumed;
a kind that needs something is possible only if `possible` says so.
"""
import sys


class World:
    def __init__(self):
        self.x = self.y = 0
        self.seen = [0, 0]
        self.owner = {}
        self.posted = self.readers = 0
        self.waiting = []  # threads that wait for the condition, and the signals they may take
        self.signals = []
        self.count = 0


def load_store(w, me, number):
    yield "read", ["x"]
    value = w.x
    yield "write", ["x"]
    w.x = value + 1


def store_load(w, me, number):
    yield "write", ["y" if number else "x"]
    if number:
        w.y = 1
    else:
        w.x = 1
    yield "read", ["x" if number else "y"]
    w.seen[number] = w.x if number else w.y


def read_or_write(w, me, number):
    if number:
        yield "write", ["x"]
        w.x = 1
        return
    yield "read", ["x"]
    first = w.x
    yield "read", ["x"]
    second = w.x
    # all readers store what they saw in one variable
    yield "write", ["seen0"]
    w.seen[0] = 2 * first + second


def lock(w, me, name):
    yield "lock", [name]
    w.owner[name] = me


def unlock(w, name):
    yield "unlock", [name]
    del w.owner[name]


def locked(w, me, number):
    yield from lock(w, me, "a")
    yield "read", ["x"]
    value = w.x
    yield "write", ["x"]
    w.x = 2 * value + number
    yield from unlock(w, "a")


def crossed(w, me, number):
    first, second = ("b", "a") if number else ("a", "b")
    yield from lock(w, me, first)
    yield from lock(w, me, second)
    yield from unlock(w, second)
    yield from unlock(w, first)


def post_or_wait(w, me, number):
    if number:
        yield "write", ["x"]
        w.x = 1
        yield "post", ["s"]
        w.posted += 1
    else:
        yield "wait", ["s"]
        w.posted -= 1
        yield "read", ["x"]
        w.seen[0] = w.x


def wait_or_signal(w, me, number):
    yield from lock(w, me, "a")
    if number:
        yield "signal", ["c"]
        if len(w.signals) < len(w.waiting):
            w.count += 1
            w.signals.append(w.count)
    else:
        yield "begin", ["c", "a"]
        del w.owner["a"]
        w.count += 1
        w.waiting.append((w.count, me))
        yield "woken", ["c", "a"]
        since = next(at for at, who in w.waiting if who == me)
        w.signals.remove(next(at for at in w.signals if at > since))
        w.waiting.remove((since, me))
        w.owner["a"] = me
    yield from unlock(w, "a")


def tried(w, me, number):
    yield "trylock", ["a"]
    if "a" in w.owner:
        return
    w.owner["a"] = me
    w.seen[number] = 1
    yield from unlock(w, "a")


def upgraded(w, me, number):
    yield "rdlock", ["rw"]
    w.readers += 1
    yield "read", ["x"]
    value = w.x
    yield "rwunlock", ["rw"]
    w.readers -= 1
    yield "wrlock", ["rw"]
    w.owner["rw"] = me
    yield "write", ["x"]
    w.x = value + 1
    yield from unlock(w, "rw")


PROGRAMS = {
    "upgraded": (upgraded, [0, 1]),
    "counter": (load_store, [0, 1]),
    "counter3": (load_store, [0, 1, 1]),
    "stores": (store_load, [0, 1]),
    "readers": (read_or_write, [0, 1, 0]),
    "locked": (locked, [0, 1, 1]),
    "crossed": (crossed, [0, 1]),
    "semaphore": (post_or_wait, [0, 1, 1]),
    "condition": (wait_or_signal, [0, 0, 1]),
    "tried": (tried, [0, 1]),
}


def possible(w, me, operation):
    kind, objects = operation
    if kind == "lock":
        return objects[0] not in w.owner
    if kind == "rdlock":
        return "rw" not in w.owner
    if kind == "wrlock":
        return "rw" not in w.owner and not w.readers
    if kind == "wait":
        return w.posted > 0
    if kind == "woken":
        since = next(at for at, who in w.waiting if who == me)
        return "a" not in w.owner and any(at > since for at in w.signals)
    return True


def dependent(a, b):
    """Of (thread, number, kind, objects)."""
    return a[0] == b[0] or (set(a[3]) & set(b[3]) and not (a[2] == b[2] and a[2] in ("read", "rdlock")))


def follow(routine, numbers, choices):
    """The world after these choices, the operations made, and each thread's next one."""
    w = World()
    threads = [routine(w, me, number) for me, number in enumerate(numbers)]
    at = [next(thread) for thread in threads]
    made, done = [], [0] * len(threads)
    for thread in choices:
        made.append((thread, done[thread], *at[thread]))
        done[thread] += 1
        at[thread] = next(threads[thread], None)
    return w, made, at


def order(made):
    """The pairs of dependent operations, which is the same for runs that are one behaviour."""
    return frozenset((a[:2], b[:2]) for i, b in enumerate(made) for a in made[:i] if dependent(a, b)) | \
        frozenset((e[0], e[1]) for e in made)


def enumerate_all(routine, numbers):
    behaviours, states = set(), set()
    stack = [()]
    while stack:
        choices = stack.pop()
        w, made, at = follow(routine, numbers, choices)
        able = [t for t in range(len(at)) if at[t] and possible(w, t, at[t])]
        stack += [choices + (t,) for t in able]
        if not able:
            behaviours.add(order(made))
            states.add("deadlock" if any(at) else str(1 + w.x + 8 * w.seen[0] + 32 * w.seen[1]))
    return behaviours, states


found, ends = enumerate_all(*PROGRAMS[sys.argv[1]])
print(len(found))
print(*sorted(ends), sep="\n")
