"""Vectors of other shapes than predict_oracle.vectors: rules made at random, of up to eight events, whose alternatives bind
different variables, with conditions on one variable and on two; up to five threads; condition variables, messages,
trylocks that failed, accesses that read and write, locks of readers, asked for before they are free.
"""
import random
from collections import defaultdict

import predict_oracle as oracle


def random_syncs(rng, phase):
    unlock, lock = ("unlock(l).enter", "lock(l).exit") if phase else ("rel(l)", "acq(l)")
    runlock, rlock = ("runlock(l).enter", "rlock(l).exit") if phase else ("rrel(l)", "racq(l)")
    enter, leave = (".enter", ".exit") if phase else ("", "")
    lines = [f"sync exclusive lock(l): ({unlock} + pause(_, l).enter) ; ({lock} + pause(_, l).exit)",
             f"sync shared rlock(l): {runlock} ; {rlock}",
             f"sync {rng.choice(['once', 'last', 'all', 'fifo'])} forked(t): fork(t){enter} ; begin(t){leave}",
             f"sync last joined(t): end(t){enter} ; join(t){leave}",
             f"sync {rng.choice(['fifo', 'fifo', 'last', 'all'])} messages(q): send(q){enter} ; receive(q){leave}",
             "sync all semaphores(s): (post(s) + release(s)) ; (wait(s) + obtain(s).exit)",
             "sync last signals(c): signal(c).enter ; pause(c).exit",
             "sync keep all pauses(c): pause(c).enter ; signal(c).enter",
             "sync reads rd(x): (r(x) + u(x))", "sync writes wr(x): (w(x) + u(x))"]
    keep = rng.choice([None, "all", "fifo", "last"])
    if keep:
        lines.append(f"sync keep {keep} kept(q): before(q) ; after(q)")
    if rng.random() < 0.5:
        lines += [f"sync reads busy(l): busy(l){leave}", f"sync writes state(l): ({unlock} + {lock})"]
    return "\n".join(lines) + "\n"


def random_condition(rng, pattern, style):
    named = [v for v in ("x", "y") if "(" in pattern and v in pattern[pattern.index("("):pattern.index(")")]]
    if not named or rng.random() < 0.7:
        return ""
    if style == "two" and rng.random() < 0.5:
        return " [x != y]"
    return f" [{rng.choice(named)} {rng.choice(['=', '!=', '<'])} {rng.choice([1, 2])}]"


def random_pattern(rng, name, carets, style, phase):
    if name == "asks":
        return f"lock{carets}(m).enter" if phase else f"acq{carets}(m)"
    if name == "pause":
        return name + carets + rng.choice([".enter", ".exit"])
    if name == "rel":
        return f"unlock{carets}.enter" if phase else f"rel{carets}"
    if name in "rwu":
        return name + carets + ("" if style == "none" else rng.choice(["(p)", "(p)", "(_)"]))
    end = rng.choice({"none": [""], "one": ["(x)", "(x)", "(x)", ""], "two": ["(x)", "(y)", "(x, y)", "(_, y)"],
                      "literal": ["(1)", "(x)", "(2)", ""], "thread": ["(x) by T", " by T", "(x)", " by U"]}[style])
    return name + carets + end + random_condition(rng, end, style)


def random_rule(rng, names, phase):
    style = rng.choice(["none", "one", "one", "two", "two", "literal", "thread"])
    used = defaultdict(int)

    def event():
        name = rng.choice(names) if rng.random() < 0.88 else rng.choice(["r", "w", "u", "asks", "pause", "rel"])
        carets = "^" * rng.choice([0, 0, 0, 1, 1, 2]) if used[name] else ""
        used[name] += 1
        return random_pattern(rng, name, carets, style, phase)

    def expression(size):
        if size == 1:
            return event()
        left = rng.randrange(1, size)
        return f"({expression(left)} {rng.choice(';;&&+')} {expression(size - left)})"

    def is_bound(text):
        patterns = oracle.Parser(text).spec_patterns()
        bound = {arg[1] for p in patterns for arg in p[3] or () if arg[0] == "var"}
        return all(word in bound for p in patterns for word in p[5] or () if word in ("x", "y"))

    text = expression(rng.choice([2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8]))
    if rng.random() < 0.3:
        more = [rng.choice([*names, "z", "r", "w", "rel"]) for _ in range(rng.choice([1, 1, 2]))]
        text += " observing " + ", ".join(random_pattern(rng, name, "", style, phase) for name in more)
    return text if is_bound(text) else random_rule(rng, names, phase)


def random_body(rng, names):
    locks, held, body = ["L", "K", "M"][:rng.choice([1, 1, 2, 3])], [], []
    for _ in range(rng.choice([2, 3, 4, 5, 6])):
        kind = rng.random()
        if kind < 0.38:
            body.append((rng.choice(names), [rng.choice([1, 2]), rng.choice([1, 2])]))
        elif kind < 0.55 and held:
            lock, shared = held.pop(rng.randrange(len(held)) if rng.random() < 0.3 else -1)
            body.append(("rrel" if shared else "rel", lock))
        elif kind < 0.72:
            lock, shared = rng.choice(locks), rng.random() < 0.25
            if not any(lock == other and shared != how for other, how in held):
                held.append((lock, shared))
                body.append(("racq" if shared else "acq", lock))
        elif kind < 0.82:
            body.append((rng.choice("rrwu"), rng.choice("XY")))
        elif kind < 0.89:
            body.append((rng.choice(["post", "release", "wait", "obtain", "send", "receive"]), "S"))
        elif kind < 0.93:
            once = [lock for lock, shared in held if not shared and held.count((lock, False)) == 1]
            body.append(("pause", rng.choice(once)) if once and rng.random() < 0.6 else ("signal", "C"))
        elif kind < 0.97:
            body.append((rng.choice(["before", "after"]), "G"))
        else:
            body.append(("busy", rng.choice(locks)))
    if rng.random() < 0.85:
        body += [("rrel" if shared else "rel", lock) for lock, shared in reversed(held)]
    return body


def random_program(rng, names, threads):
    bodies = {f"T{i + 1}": random_body(rng, names) for i in range(threads)}
    if rng.random() < 0.35:
        child, parent = rng.choice(list(bodies)[1:]), bodies["T1"]
        at = rng.randrange(len(parent) + 1)
        parent.insert(at, ("fork", child))
        bodies[child].insert(0, ("begin", child))
        if rng.random() < 0.6:
            bodies[child].append(("end", child))
            parent.insert(rng.randrange(at + 1, len(parent) + 1), ("join", child))
    return bodies


class Run:
    """One run of a program, as messages. With `early`, an event that takes a lock comes where it is asked for."""

    CALLS = {"acq": "lock", "racq": "rlock", "rel": "unlock", "rrel": "runlock"}
    ENTERED = ("rel", "rrel", "fork", "end", "send")
    LEFT = ("begin", "join", "receive", "busy")

    def __init__(self, rng, bodies, phase, early, limit):
        self.bodies, self.phase, self.early = {t: list(b) for t, b in bodies.items()}, phase, early
        self.owner, self.readers, self.done, self.count = {}, defaultdict(list), set(), defaultdict(int)
        self.asked, self.waiting, self.out = set(), {}, []
        stay, last = rng.choice([0, 0.4, 0.8, 0.9]), None
        while len(self.out) < limit:
            ready = [t for t, body in self.bodies.items() if body and self.can_go(t, *body[0])]
            if not ready:
                break
            last = last if last in ready and rng.random() < stay else rng.choice(ready)
            self.go(rng, last, *self.bodies[last][0])

    def is_free(self, t, lock, shared):
        owner = self.owner.get(lock)
        return owner is None and (shared or not self.readers[lock]) or owner is not None and owner[0] == t and not shared

    def can_go(self, t, kind, arg):
        if kind in ("acq", "racq"):
            return (self.phase or self.early) and t not in self.asked or self.is_free(t, arg, kind == "racq")
        if kind == "pause":
            return t not in self.waiting or self.waiting[t] == "woken" and self.is_free(t, arg, False)
        if kind in ("begin", "join"):
            return ({"begin": "fork", "join": "end"}[kind], arg) in self.done
        if kind in ("wait", "obtain"):
            return self.count["post"] > 0
        return kind != "receive" or self.count["send"] > 0

    def add(self, t, kind, args, phase=None):
        self.out.append({"id": f"e{len(self.out) + 1}", "event": kind + (f".{phase}" if phase else ""), "thread": t,
                         "args": args if isinstance(args, list) else [args]})

    def add_step(self, t, kind, arg):
        if self.phase and kind in self.ENTERED + self.LEFT:
            self.add(t, self.CALLS.get(kind, kind), arg, "enter" if kind in self.ENTERED else "exit")
        else:
            self.add(t, kind, arg, {"obtain": "exit", "signal": "enter"}.get(kind))

    def take(self, t, kind, lock):
        if t not in self.asked and (self.phase or self.early):
            self.asked.add(t)
            return self.add(t, self.CALLS[kind], lock, "enter") if self.phase else self.add(t, kind, lock)
        self.asked.discard(t)
        if kind == "acq":
            self.owner[lock] = (t, self.owner.get(lock, (t, 0))[1] + 1)
        else:
            self.readers[lock].append(t)
        if self.phase:
            self.add(t, self.CALLS[kind], lock, "exit")
        elif not self.early:
            self.add(t, kind, lock)
        self.bodies[t].pop(0)

    def pause(self, t, lock):
        if t not in self.waiting:
            del self.owner[lock]
            self.waiting[t] = "waits"
            return self.add(t, "pause", ["C", lock], "enter")
        del self.waiting[t]
        self.owner[lock] = (t, 1)
        self.add(t, "pause", ["C", lock], "exit")
        self.bodies[t].pop(0)

    def go(self, rng, t, kind, arg):
        if kind in ("acq", "racq"):
            return self.take(t, kind, arg)
        if kind == "pause":
            return self.pause(t, arg)
        self.bodies[t].pop(0)
        if kind == "busy" and self.is_free(t, arg, False):
            return
        if kind == "rel":
            self.owner[arg] = (t, self.owner[arg][1] - 1)
            if not self.owner[arg][1]:
                del self.owner[arg]
        elif kind == "rrel":
            self.readers[arg].remove(t)
        elif kind in ("post", "release", "wait", "obtain"):
            self.count["post"] += 1 if kind in ("post", "release") else -1
        elif kind in ("send", "receive"):
            self.count["send"] += 1 if kind == "send" else -1
        elif kind == "signal":
            asleep = [x for x, how in self.waiting.items() if how == "waits"]
            if asleep:
                self.waiting[rng.choice(asleep)] = "woken"
        self.done.add((kind, arg) if isinstance(arg, str) else kind)
        self.add_step(t, kind, arg)


def judged(rule, run, budget=60_000):
    """What all reorderings show; raises SpecError where there are too many."""
    explore = run.explore
    run.explore = lambda: explore(budget)
    return oracle.judge(rule, run)


def vector(spec, rule, run, log, results):
    least = defaultdict(list)
    for (events, key), (kind, _) in results.items():
        if kind == "least":
            least[max(events), key].append(events)
    return {"spec": spec, "log": log,
            "must": [{"last": run.ev[last].id, "params": dict(key), "sets": sorted(oracle.entry(run, m) for m in sets)}
                     for (last, key), sets in sorted(least.items(), key=str)],
            "may": [{"events": oracle.entry(run, m), "params": dict(key), "class": kind}
                    for (m, key), (kind, _) in sorted(results.items(), key=str) if kind != "least"]}


def try_vector(rng, spec, names, phase):
    """A vector of a random run; None if it tests little or takes too long."""
    early = not phase and rng.random() < 0.4
    bodies = random_program(rng, [*names, "z"], rng.choice([2, 2, 3, 3, 4, 5]))
    log = Run(rng, bodies, phase, early, rng.choice([8, 10, 12, 14, 16])).out
    syncs, (rule,) = oracle.parse_spec(spec)
    run = oracle.Run(log, syncs)
    if not 0 < len(oracle.Candidates(rule, run).list) <= 3000 or len(run.threads) < 2:
        return None
    if set(oracle.judge(rule, run, explore=False)) == oracle.detected(rule, run) and rng.random() < 0.75:
        return None
    return vector(spec, rule, run, log, judged(rule, run))


def vectors(seed, count):
    """Deterministic for given arguments."""
    rng, made = random.Random(seed), 0
    while made < count:
        phase, names = rng.random() < 0.35, list("abcde")[:rng.choice([1, 2, 2, 3, 3, 4, 5])]
        spec = random_syncs(rng, phase) + f"predict R: {random_rule(rng, names, phase)}\n"
        for _ in range(12):
            try:
                made_now = try_vector(rng, spec, names, phase)
            except oracle.SpecError:
                break
            if made_now:
                made += 1
                yield made_now
                break
