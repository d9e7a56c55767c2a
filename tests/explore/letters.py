#!/usr/bin/env python3
"""Random programs of letters.c: letters.py DPE PROGRAM SEED COUNT [BOUND | races]

With a bound of preemptions, the final states of dfs with and without reduction are to be the same. Without one, enumerates all interleavings of each, without reduction, and compares the number of behaviours and the final states
with those of dfs. With "races", compares the pairs of accesses that two threads are about to make at once in some state, of all that any
interleaving comes to, with what dfs --races reports. Prints a program that differs, or how many were compared.
"""
import random
import re
import subprocess
import sys

OBJECT = {"r": "x", "w": "x", "R": "y", "W": "y", "l": "m", "v": "m", "u": "m", "L": "n", "U": "n",
          "p": "s", "s": "s", "t": "s", "a": "k", "b": "k", "c": "k", "o": "o", "O": "o", "g": "g", "h": "g"}
COMMUTE = {"r", "R", "a", "h"}


def dependent(a, b):
    return OBJECT[a] == OBJECT[b] and not (a == b and a in COMMUTE)


KINDS = ["rR", "wW", "ps", "pt", "lu", "LU", "ac", "bc"]
SKIPPING = ["vu", "oO", "gh"]  # v to u if the lock is taken, o to O but for the first, h for the last at the barrier


def draw(dice, size, kinds=()):
    """A thread's letters: sections are closed, and may be in one another."""
    text = ""
    while len(text) < size:
        kind = dice.choice([*KINDS, *SKIPPING, *kinds])
        if kind == "gh":
            text += kind
        elif kind in ("lu", "LU", "ac", "bc", "vu", "oO"):
            text += kind[0] + "".join(dice.choice("rwRWpst" + ("L" if kind == "lu" else ""))
                                      for _ in range(dice.randrange(2))) + kind[1]
            if "L" in text and text.count("L") > text.count("U"):
                text += "U"
        else:
            text += dice.choice(kind)
    return text


def possible(letter, state, t):
    if letter in "lL":
        return not state[OBJECT[letter]]
    if letter == "s":
        return state["s"] > 0
    if letter == "a":
        return state["k"] >= 0
    if letter == "h":
        return state["g"] >= state["round"][t]
    if letter == "o":
        return state["o"] != 1
    return letter != "b" or state["k"] == 0


def start():
    return {**dict.fromkeys("xymnskog", 0), "round": (0,) * 4, "skipped": frozenset()}


def do(letter, state, seen, t):
    """Returns the letter up to which the thread's letters are skipped."""
    if letter in "rR":
        seen[t] = 2 * seen[t] + state[OBJECT[letter]]
    elif letter in "wW":
        state[OBJECT[letter]] = seen[t] % 5
    elif letter == "v" and state["m"]:
        return "u"
    elif letter == "o" and state["o"]:
        return "O"
    elif letter in "lLvo":
        state[OBJECT[letter]] = 1
    elif letter == "O":
        state["o"] = 2
    elif letter == "g":
        state["g"] += 1
        state["round"] = state["round"][:t] + ((state["g"] + 1) // 2 * 2,) + state["round"][t + 1:]
        if state["g"] % 2 == 0:
            seen[t] += 3
            return "h"
    elif letter in "uU":
        state[OBJECT[letter]] = 0
    elif letter == "p":
        state["s"] += 1
    elif letter == "s" or (letter == "t" and state["s"]):
        state["s"] -= 1
        seen[t] += 3 if letter == "t" else 0
    elif letter == "a":
        state["k"] += 1
    elif letter == "b":
        state["k"] = -1
    elif letter == "c":
        state["k"] = 0 if state["k"] < 0 else state["k"] - 1
    return None


def after_letter(threads, at, state, seen, t):
    """The places of the threads once t has done its letter."""
    until = do(threads[t][at[t]], state, seen, t)
    end = threads[t].index(until, at[t]) if until else at[t]
    state["skipped"] |= {(t, i) for i in range(at[t] + 1, end + 1)}
    return at[:t] + (end + 1,) + at[t + 1:]


def enumerate_all(threads):
    """Prefixes that are one behaviour lead to one state, so each is followed once, by the order that it makes."""
    behaviours, states = set(), set()
    first = ((0,) * len(threads), frozenset())
    stack, known = [(first, start(), [1] * len(threads))], {first}
    while stack:
        (at, order), state, seen = stack.pop()
        able = [t for t in range(len(threads)) if at[t] < len(threads[t]) and possible(threads[t][at[t]], state, t)]
        if not able:
            behaviours.add((at, order))
            over = all(at[t] == len(threads[t]) for t in range(len(threads)))
            states.add(str(1 + state["x"] + 5 * state["y"]) if over else "deadlock")
        for t in able:
            letter = threads[t][at[t]]
            pairs = {(u, i, t, at[t]) for u in range(len(threads)) if u != t
                     for i in range(at[u]) if (u, i) not in state["skipped"] and dependent(threads[u][i], letter)}
            after, saw = dict(state), list(seen)
            node = (after_letter(threads, at, after, saw, t), order | pairs)
            if node not in known:
                known.add(node)
                stack.append((node, after, saw))
        if len(known) > 20000:
            return None
    return len(behaviours), states


def explored(dpe, program, threads, strategy="dfs"):
    text = subprocess.run([dpe, "explore", "--strategy=" + strategy, "--runs=100000", "--keep-going", "--fails=1-255", "--",
                           program, *threads], stderr=subprocess.PIPE, text=True, check=False).stderr
    count = re.search(r"all (\d+) behaviours explored", text.replace("the only behaviour was", "all 1 behaviours"))
    if ":" in strategy and "preemption" not in text:
        sys.exit(text)
    states = set(re.findall(r"^explore: run .*: exit status (\d+)", text, re.M))
    return int(count[1]) if count else text, states | ({"deadlock"} if "deadlock (" in text else set())


def draw_threads(dice, longest):
    while True:
        threads = [draw(dice, dice.randrange(1, 4)) for _ in range(dice.choice([2, 3]))]
        if sum(map(len, threads)) <= longest:
            return threads


def compare_bounded(dpe, program, dice, count, bound):
    found, longest = set(), 8 if count < 100 else 100  # letters, of which one more takes several times as many runs
    for _ in range(count):
        threads = draw_threads(dice, longest)
        reduced, full = (explored(dpe, program, threads, f"{kind}:{bound}")[1] for kind in ("dfs", "dfs-full"))
        if reduced != full:
            sys.exit(f"{' '.join(threads)}, {bound}: {full} without reduction, {reduced} with it")
        found |= full
    print(f"{count} programs alike" if len(found) > 1 else "too few states")


def races_by_force(threads):
    """Of the letters of accesses; and the number of states."""
    found = set()
    stack = [((0,) * len(threads), start())]
    known = set()
    while stack:
        at, state = stack.pop()
        key = (at, tuple(state[name] for name in ("m", "n", "s", "k", "o", "g", "round")))
        if key in known:
            continue
        known.add(key)
        able = [t for t in range(len(threads)) if at[t] < len(threads[t]) and possible(threads[t][at[t]], state, t)]
        ready = [threads[t][at[t]] for t in able if threads[t][at[t]] in "rRwW"]
        found |= {"".join(sorted((a, b))) for i, a in enumerate(ready) for b in ready[:i] if dependent(a, b)}
        for t in able:
            after = dict(state)
            stack.append((after_letter(threads, at, after, [1] * len(threads), t), after))
    return found


def letters_by_line(program):
    with open(program + ".c", encoding="utf-8") as source:
        return {str(n): line.split("'")[1] for n, line in enumerate(source, 1) if "case '" in line}


def races_explored(dpe, program, threads, letters):
    text = subprocess.run([dpe, "explore", "--races", "--strategy=dfs", "--runs=100000", "--keep-going", "--fails=!0-255", "--",
                           program, *threads], stderr=subprocess.PIPE, text=True, check=False).stderr
    if "explored" not in text:
        return text
    pairs = re.findall(r": race \(2 threads\) .* matters?\n.*letters.c:(\d+)\)\n.*letters.c:(\d+)\)\n", text)
    return {"".join(sorted((letters[a], letters[b]))) for a, b in pairs}


def compare_races(dpe, program, dice, count):
    letters, compared, raced = letters_by_line(program), 0, 0
    while compared < count:
        threads = [draw(dice, dice.randrange(1, 5), ["rw"] * 6 + ["RW"] * 2) for _ in range(dice.choice([2, 3, 3]))]
        counted = enumerate_all(threads)
        if not counted or counted[0] > 400:
            continue
        compared += 1
        wanted, got = races_by_force(threads), races_explored(dpe, program, threads, letters)
        raced += len(wanted)
        if got != wanted:
            sys.exit(f"{' '.join(threads)}: wanted {wanted}, got {got}")
    print(f"{compared} programs alike" if 2 * raced >= count else f"only {raced} races")


def main():
    dpe, program, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    dice, compared = random.Random(seed), 0
    if sys.argv[5:] == ["races"]:
        compare_races(dpe, program, dice, count)
        return
    if len(sys.argv) > 5:
        compare_bounded(dpe, program, dice, count, int(sys.argv[5]))
        return
    while compared < count:
        threads = [draw(dice, dice.randrange(1, 5)) for _ in range(dice.choice([2, 2, 3]))]
        wanted = enumerate_all(threads)
        if not wanted or wanted[0] > 400:
            continue
        compared += 1
        got = explored(dpe, program, threads)
        if got != wanted:
            sys.exit(f"{' '.join(threads)}: wanted {wanted}, got {got}")
    print(f"{compared} programs alike")


main()
