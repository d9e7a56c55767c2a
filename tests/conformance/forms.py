#!/usr/bin/env python3
"""The rules of rules.py where values come in other forms: numbers spelt in other ways, texts, results (`.exit = x`),
and what arguments point to (`&x`), also through the parameters of definitions. The verdicts stay those of the reference.

    forms.py [--dpe ./dpe] [--seed N] [--count N]

Prints each difference and a closing line with the seed, which reproduces it.
"""
import json
import os
import random
import sys

import limited
import patterns
import rules

JUNK = '"0x7000"'


class Forms:
    """How the events of a rule hold their arguments: plainly, behind a pointer, or, the first one of an `.exit`, as the
    result. All arguments of a rule are numbers, or all are texts."""

    def __init__(self, rng):
        self.rng, self.texts, self.chosen = rng, rng.random() < 0.4, {}

    def of(self, name, phase, position):
        def choose():
            if phase == ".exit" and position == 0 and self.rng.random() < 0.4:
                return "result"
            return "behind" if not self.texts and self.rng.random() < 0.3 else "plain"
        key = name, phase == ".exit", position
        return self.chosen[key] if key in self.chosen else self.chosen.setdefault(key, choose())

    def argument(self, argument, form):
        """In a pattern: a name or a number."""
        if self.texts:
            return f'"t{argument}"' if argument in (1, 2) else f"text({argument})"
        return f"&{argument}" if form == "behind" else str(argument)

    def number(self, value):
        return self.rng.choice([str(value), f"{value}.0", f'"0x{value}"', *(["true"] if value == 1 else [])])

    def put(self, message, position, value, form):
        """Adds the value to the members `args`, `ret`, `vars` of a message, whose values are JSON."""
        text = f'"t{value}"' if self.texts else self.number(value)
        apart = form == "behind" or self.texts and self.rng.random() < 0.5
        at = "ret@" if form == "result" else f"arg@{position}"
        if apart:
            message["vars"][f"*{at}" if form == "behind" else f"text({at})"] = text
        message["args"].append(JUNK if apart or form == "result" else text)
        if form == "result":
            message["ret"] = JUNK if apart else text


forms = Forms(random.Random(1))


def pattern_text(self, carets="", names={}):
    called, args, result = {v: names.get(v, v) for v in "xyT"}, [], ""
    conditions = [self.condition[0].format(**called)] if self.condition else []
    for position, argument in enumerate(self.args):
        form = forms.of(self.name, self.phase, position)
        shown = "_" if argument == "_" else forms.argument(called.get(argument, argument), form)
        if form == "behind" and argument in (1, 2):  # there is no `&1`
            conditions.append(f"refers{position} == {argument}")
            shown = "_"
        if form == "result" and shown != "_":
            shown, result = "_", f" = {shown}"
        args.append(shown)
    text = self.name + carets + (f"({', '.join(args)})" if args else "") + self.phase + result
    text += f" by {called['T']}" if self.by else ""
    return text + (f" [{' && '.join(f'({c})' for c in conditions)}]" if conditions else "")


def written(message):
    phase = ".exit" if message["event"].endswith(".exit") else ""
    made = {k: json.dumps(v) for k, v in message.items() if k not in ("args", "vars")}
    made |= {"args": [], "vars": {k: str(v) for k, v in message["vars"].items()}}
    for position, value in enumerate(message["args"]):
        made["vars"][f"refers{position}"] = str(value)
        forms.put(made, position, value, forms.of(message["event"][0], phase, position))
    made["args"] = f"[{', '.join(made['args'])}]"
    made["vars"] = f"{{{', '.join(f'{json.dumps(k)}: {v}' for k, v in made['vars'].items())}}}"
    return "{" + ", ".join(f'"{k}": {v}' for k, v in made.items()) + "}"


def value_of(value):
    """The number that it stands for."""
    if not isinstance(value, str):
        return int(value)
    return int(value[1:]) if value[0] == "t" else int(value, 16)


def read_verdicts(output):
    for found in map(json.loads, output.splitlines()):
        if found["type"] == "verdict":
            found["params"] = {k: value_of(v) for k, v in found["params"].items()}
            yield found


def replay(dpe, engine, spec, log, folder):
    """As that of rules.py."""
    names = [os.path.join(folder, n) for n in ("r.dpe", "r.jsonl")]
    for name, text in zip(names, (spec, "".join(written(m) + "\n" for m in log))):
        with open(name, "w") as f:
            f.write(text)
    run = limited.run([dpe, "replay", "--format=json", "--allow-unobserved", f"--engine={engine}", "-s", *names], 60)
    if run.returncode not in (0, 1):
        return f"status {run.returncode}: {run.stderr}"
    reported = {}
    for found in read_verdicts(run.stdout):
        at = found["event"] if found["verdict"] in rules.TELLS_AT_ONCE else None
        reported.setdefault(found["rule"], []).append((found["verdict"], at, rules.key(found["params"]), found.get("events")))
    return reported


def main():
    check, of_variables = rules.check, patterns.OF_VARIABLES
    patterns.ANY = [c for c in patterns.ANY if ".args" not in c[0]]
    patterns.AT_EXIT = []
    patterns.Pattern.text, rules.replay = pattern_text, replay

    def check_in_forms(dpe, rng, folder):
        global forms
        forms = Forms(random.Random(rng.random()))
        # There is no arithmetic on 1.0, and neither comparison nor arithmetic of a text and a number.
        patterns.OF_VARIABLES = [c for c in of_variables if c[0] in ("T", "xy") or not forms.texts and "+" not in c[1]]
        return check(dpe, rng, folder)

    rules.check = check_in_forms
    return rules.main()


if __name__ == "__main__":
    sys.exit(main())
