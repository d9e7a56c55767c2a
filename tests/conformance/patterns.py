"""Events of random rules: as text, and what they bind of a message."""

ANY = [  # conditions: text, and whether one holds for a message and what the event binds
    (".tid > 1", lambda m, b: m["thread"] > 1),
    ("v = 1", lambda m, b: m["vars"]["v"] == 1),
    ("v != 0 && .tid < 3", lambda m, b: m["vars"]["v"] != 0 and m["thread"] < 3),
    ("(v + .tid) % 2 == 0", lambda m, b: (m["vars"]["v"] + m["thread"]) % 2 == 0),
    (".tid == 2 || v == 1", lambda m, b: m["thread"] == 2 or m["vars"]["v"] == 1),
    ("v ? .tid > 1 : .tid < 3", lambda m, b: m["thread"] > 1 if m["vars"]["v"] else m["thread"] < 3),
    ("!v", lambda m, b: not m["vars"]["v"]),
    ("-1 < .tid - 3 * v", lambda m, b: m["thread"] - 3 * m["vars"]["v"] > -1),
    (".args[0] == 1", lambda m, b: m["args"][:1] == [1]),
    (".args[0] != .args[1]", lambda m, b: len(m["args"]) > 1 and m["args"][0] != m["args"][1]),
    ("w > 0", lambda m, b: m["vars"].get("w", 0) > 0),
    (".args[5] != 0", lambda m, b: False),
    ('.name == "f" || .name == "g"', lambda m, b: m["event"][0] in "fg"),
]
AT_EXIT = [
    (".ret = 0", lambda m, b: m["ret"] == 0),
    (".ret != .args[1]", lambda m, b: len(m["args"]) > 1 and m["ret"] != m["args"][1]),
]
OF_VARIABLES = [
    ("x", "{x} > 1", lambda m, b: b["x"] > 1),
    ("x", "{x} = .tid", lambda m, b: b["x"] == m["thread"]),
    ("y", "{y} < 2 && {y} + 1 > .tid", lambda m, b: b["y"] < 2 and b["y"] + 1 > m["thread"]),
    ("xy", "{x} == {y}", lambda m, b: b["x"] == b["y"]),
    ("T", "{T} > 1", lambda m, b: b["T"] > 1),
]


class Pattern:
    def __init__(self, name, phase, args, by, condition=None):
        self.name, self.phase, self.args, self.by, self.condition = name, phase, args, by, condition
        self.variables = frozenset(a for a in args if a in ("x", "y")) | frozenset(by)

    def text(self, carets="", names={}):
        """`names`: the names of variables there."""
        called = {v: names.get(v, v) for v in "xyT"}
        text = self.name + carets
        text += f"({', '.join(str(called.get(a, a)) for a in self.args)})" if self.args else ""
        text += self.phase + (f" by {called['T']}" if self.by else "")
        return text + (f" [{self.condition[0].format(**called)}]" if self.condition else "")

    def binding(self, message):
        """The values of its variables, or None where the message is not such an event."""
        names = (self.name + self.phase,) if self.phase else (self.name, self.name + ".enter")
        if message["event"] not in names or len(self.args) > len(message["args"]):
            return None
        bound = {}
        for wanted, value in zip(self.args, message["args"]):
            if wanted != "_" and bound.setdefault(wanted, value) != value or wanted in (1, 2) and wanted != value:
                return None
        bound = {v: value for v, value in bound.items() if v in self.variables}
        if self.by:
            bound["T"] = message["thread"]
        return None if self.condition and not self.condition[1](message, bound) else bound

    def message(self, rng, values, threads):
        """A message that it matches with these values of variables, or None after many tries."""
        for _ in range(60):
            phase = self.phase or rng.choice(["", ".enter"])
            args = [rng.randint(1, 2), rng.randint(1, 2)]
            for i, wanted in enumerate(self.args):
                args[i] = args[i] if wanted == "_" else values.get(wanted, wanted)
            message = {"event": self.name + phase, "args": args,
                       "vars": {"v": rng.randint(0, 1), "w": rng.randint(0, 1)}}
            thread = values["T"] if self.by else rng.choice(threads) if threads else None
            if thread not in threads:
                return None
            message["thread"] = thread
            if phase == ".exit":
                message["ret"] = rng.randint(0, 2)
            if self.binding(message) is not None:
                return message
        return None


def draw(rng, variables, alike):
    """`alike`: each pattern of the rule binds all its variables."""
    objects = [v for v in variables if v != "T"]
    args = list(objects) if alike else [rng.choice([*objects * 3, "_", 1, 2]) for _ in range(rng.choice([0, 1, 1, 2]))]
    if alike and len(args) < 2 and rng.random() < 0.4:
        args.append(rng.choice(["_", 1, 2]))
    rng.shuffle(args)
    by = "T" if "T" in variables and (alike or rng.random() < 0.6) else ""
    pattern = Pattern(rng.choice("fgh"), rng.choice(["", "", ".enter", ".exit"]), args, by)
    if rng.random() < 0.45:
        of_own = [(text, holds) for of, text, holds in OF_VARIABLES if set(of) <= pattern.variables]
        pattern.condition = rng.choice(ANY + of_own + (AT_EXIT if pattern.phase == ".exit" else []))
    return pattern
