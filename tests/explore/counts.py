#!/usr/bin/env python3
"""Counts the schedules of tiny programs by brute force.

A program is a list of threads, each a list of operations (name, object). Thread 0 is main. A choice is
made before each operation, and with `returns` after one that lets others continue, among the threads whose next one is possible; a
thread ends after its last.
Prints the number of all schedules, each a sequence of choices among two threads or more.
"""
import sys

PROGRAMS = {
    # main creates and joins two threads that each take a lock
    "one-lock": [
        [("create", 1), ("create", 2), ("join", 1), ("join", 2), ("return", 0)],
        [("start", 0), ("lock", "a"), ("unlock", "a"), ("end", 0)],
        [("start", 0), ("lock", "a"), ("unlock", "a"), ("end", 0)],
    ],
    # the second one posts what the first one waits for
    "semaphore": [
        [("create", 1), ("create", 2), ("join", 1), ("join", 2), ("return", 0)],
        [("start", 0), ("wait", "s"), ("end", 0)],
        [("start", 0), ("post", "s"), ("end", 0)],
    ],
    # two locks in two orders: some schedules end in a deadlock
    "ab-ba": [
        [("create", 1), ("create", 2), ("join", 1), ("join", 2), ("return", 0)],
        [("start", 0), ("lock", "a"), ("lock", "b"), ("unlock", "b"), ("unlock", "a"), ("end", 0)],
        [("start", 0), ("lock", "b"), ("lock", "a"), ("unlock", "a"), ("unlock", "b"), ("end", 0)],
    ],
    # a thread that main does not wait for
    "detached": [
        [("create", 1), ("lock", "a"), ("unlock", "a"), ("return", 0)],
        [("start", 0), ("lock", "a"), ("unlock", "a"), ("end", 0)],
    ],
}


LETS_OTHERS_GO_ON = ("create", "unlock", "post")


def with_returns(operations):
    """The choice after such an operation is one before an operation that does nothing."""
    return [step for operation in operations
            for step in ([operation, ("nothing", 0)] if operation[0] in LETS_OTHERS_GO_ON else [operation])]


class State:
    def __init__(self, threads):
        self.threads = threads
        self.at = [0] + [None] * (len(threads) - 1)  # None: not created
        self.values = {}

    def copy(self):
        other = State(self.threads)
        other.at, other.values = list(self.at), dict(self.values)
        return other

    def is_over(self, thread):
        return self.at[thread] == len(self.threads[thread])

    def is_possible(self, thread):
        if self.at[thread] is None or self.is_over(thread):
            return False
        name, what = self.threads[thread][self.at[thread]]
        if name == "lock":
            return not self.values.get(what)
        if name == "wait":
            return self.values.get(what, 0) > 0
        return name != "join" or self.is_over(what)

    def step(self, thread):
        name, what = self.threads[thread][self.at[thread]]
        self.at[thread] += 1
        if name == "create":
            self.at[what] = 0
        if name in ("lock", "post"):
            self.values[what] = self.values.get(what, 0) + 1
        if name in ("unlock", "wait"):
            self.values[what] -= 1
        return name == "return"


def is_cycle(state):
    """Each of two threads waits for the other: the run ends at once, whatever main could do."""
    waits = [t for t in range(len(state.at)) if state.at[t] is not None and not state.is_over(t)
             and state.threads[t][state.at[t]][0] == "lock" and not state.is_possible(t)]
    return len(waits) == 2 and len({state.threads[t][state.at[t]][1] for t in waits}) == 2


def count(state, bound=None, current=0):
    """With a bound, of the schedules that leave a thread which could proceed so often at most."""
    if bound is None and is_cycle(state):
        return 1
    possible = [t for t in range(len(state.at)) if state.is_possible(t)]
    if not possible:
        return 1
    total = 0
    for thread in possible:
        left = bound
        if bound is not None and current in possible and thread != current:
            left = bound - 1
            if left < 0:
                continue
        after = state.copy()
        total += 1 if after.step(thread) else count(after, left, thread)
    return total


threads = PROGRAMS[sys.argv[1]]
if sys.argv[2] == "returns":
    threads = [with_returns(thread) for thread in threads]
print(count(State(threads), *map(int, sys.argv[3:])))
