#!/usr/bin/env python3
"""which_command.py PAGE: does what each row of the page's table of tasks says, on a program that has the problem. Prints TAP.

A row without a case here has failed, and a case without a row; commands are taken from the row, and only words in capitals are replaced.
"""
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
import time

PATIENCE = 120  # seconds
TASKS, LONG_WAITS = "./tasks", "./long_waits"
EXAMPLES, EXPLORED = os.environ["BUILD"] + "/examples/", os.environ["BUILD"] + "/explored/"
PAIR = "-e 'detect r: get & put'"
RACE = r"r: match of get&put.*\$1 get\(.*\$2 put\("
SPAN = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "0a", "spanId": "0b", "name": "pay", "startTimeUnixNano": "1",
        "endTimeUnixNano": "2"}]}]}]}


class Case:
    """Words of the command and what replaces them, what follows it; its exit status, and patterns of the output, in this order;
    the program with the id PID; as soon as the output has the first text of `then`, the file that is its second is made, or
    that is typed on the terminal."""

    def __init__(self, words, status, *texts, more="", beside=None, then=None, terminal=False):
        self.words, self.status, self.texts, self.more = words, status, texts, more
        self.beside, self.then, self.terminal = beside, then, terminal


def on(program):
    return {"PROGRAM": program}


OBSERVED = ("continues as user", "go")
# The problem's first words, and a case for each command of the row.
CASES = {
    "it hangs now": [Case({}, 1, "deadlock of 2 threads", r"which_command\.cc", beside=f"{TASKS} service", then=("", "go"))],
    "it hangs sometimes": [Case(on(EXAMPLES + "lock-inversion"), 1, "potential deadlock of 2 threads", r"lock-inversion\.c:")],
    "a mutex is unlocked twice": [Case(on("./deadlocks unlocks-twice"), 1, "unlock_of_unlocked: match", r"by misuse\+")],
    "a service hangs": [Case({}, 1, "#1 deadlock of 2 threads", "waits for .*a", more="--debug=probes:1 --on-deadlock=kill",
                             beside=f"{TASKS} service", then=OBSERVED)],
    "a wakeup is lost": [Case({"SECONDS": "1", **on(f"{LONG_WAITS} wakeup")}, 0, "possible hang: 1 thread has waited", "by lose_wakeup",
                              then=("possible hang", "end"))],
    "a variable has the wrong value": [Case({"VARIABLE": "counter", **on(f"{TASKS} variable")}, 1, "data race on counter: write",
                                            r"at add\(")],
    "two functions must not": [Case(on(f"{TASKS} functions"), 1, "match of get", r"\$1 get\(.*\$2 put\(")],
    "heap memory is used after": [Case(on("./compiled freed"), 1, "use after free on", "by read_freed|at read_freed")],
    "any data race": [Case(on("./compiled variable"), 1, "data race on counter: .* by thread", "at add")],
    "calls come in the wrong order": [Case(on(f"{TASKS} calls"), 1, "session: violation", r"at send_to\(")],
    "something is not released": [Case(on(f"{TASKS} leaks"), 1, "file: incomplete", r"stopped after fopen\.exit\(")],
    "a descriptor is never closed": [Case(on(f"{TASKS} leaks"), 1, "open: incomplete", r"stopped after open\.exit\(")],
    "an object of C++": [Case(on(f"{TASKS} leaks"), 1, "life: incomplete", r"stopped after session::session\(")],
    "a descriptor is closed twice": [Case(on(f"{TASKS} twice"), 1, "twice: match", r"\$2 close\.exit\(\d+\) = -1")],
    "memory is never freed": [Case(on(f"{TASKS} leaks"), 1, "leak: incomplete", r"stopped after malloc\.exit\(100\)", r"which_command\.cc")],
    "something must never happen": [Case(on(f"{TASKS} calls"), 1, "late: match", r"\$1 hang_up\(.*\$2 send_to\(")],
    "how long does it take": [Case(on(f"{TASKS} lasts"), 0, "m: hist of 1 value", r"m\[7\]: count 1")],
    "traces of OpenTelemetry": [Case({"RULE": "'detect paid: pay'", "traces.otlp": "traces.otlp"}, 1, "paid: match")],
    "the program already runs": [Case({"…": f"{PAIR} --debug=probes:1"}, 1, RACE, beside=f"{TASKS} runs", then=OBSERVED)],
    "you want to watch": [Case({"…": f"{PAIR} -- {TASKS} functions"}, 1, "1 finding", "r: match of get&put", then=("has ended", "q"), terminal=True)],
    "it happens where dpe cannot run": [
        Case({}, 0, "events recorded in run.jsonl", more=f"{PAIR} -o run.jsonl -- {TASKS} functions"),
        Case({}, 1, RACE, more=f"{PAIR} run.jsonl")],
    "it did not happen, but could": [Case({}, 1, "predicted match of get", more=f"get,put -- {TASKS} predicted")],
    "it fails once in a thousand runs": [Case(on(EXPLORED + "ab-ba"), 1, "deadlock", r"found\.schedule")],
    "a race of functions, or a deadlock": [Case({"RULES": "race.dpe", **on("./predicted race")}, 1, "confirmed: race: predicted match",
                                                "1 of 1 predictions confirmed"),
                                           Case({"FINDINGS": "raced.json", **on("./raced before ordered")}, 1),
                                           Case({"FINDINGS": "raced.json", **on("./raced before")}, 1, "1 of 1 predictions confirmed")],
    "what happened, and what waited": [Case({"LOG": "run.jsonl"}, 0, more="-o page.html")],
    "what can be named": [Case({"PROGRAM": TASKS, "PATTERN": "*_to"}, 0, r"connect_to\(.*send_to\(")],
    "what does this rule mean": [Case({}, 0, "late", "slices", "accepted|rejected")],
}


def rows(page):
    table = page.split("# Why did it find nothing?")[0]
    return re.findall(r"^\| (?!problem |---)(.*?) \| (.*) \|$", table, re.M)


def commands_of(answer):
    return [span for span in re.findall(r"`([^`]*)`", answer) if span.startswith("dpe ")]


class Said:
    """What a command writes, read as it comes."""

    def __init__(self, file, case):
        self.file, self.case, self.text = file, case, ""
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        while True:
            try:
                part = os.read(self.file, 65536)
            except OSError:  # as a terminal says that it has ended
                return
            if not part:
                return
            self.text += part.decode(errors="replace")
            if self.case.then and self.case.then[0] in self.text:
                self.act(self.case.then[1])

    def act(self, what):
        if self.case.terminal:
            os.write(self.file, what.encode())
        else:
            open(what, "w").close()


def observe(command, case):
    """(exit status, output)"""
    master, slave = pty.openpty() if case.terminal else os.pipe()
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(command, stdin=slave if case.terminal else subprocess.DEVNULL, stdout=slave, stderr=slave, env=environment,
                               start_new_session=True)
    os.close(slave)
    said = Said(master, case)
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    said.thread.join()
    os.close(master)
    return status, said.text


def is_right(case, status, said):
    return status == case.status and re.search(".*".join(case.texts), said, re.S)


def words_of(command, case, process):
    if case.beside:
        case.words["PID"] = str(process.pid)
    for word, text in case.words.items():
        if word not in command:
            raise ValueError(f"'{command}' has no {word}")
        command = command.replace(word, text)
    return [os.environ["DPE"], *shlex.split(f"{command} {case.more}")[1:]]


def try_case(command, case):
    """None, or what was wrong"""
    for file in "go", "end":
        if os.path.exists(file):
            os.remove(file)
    process = subprocess.Popen(shlex.split(case.beside), stdin=subprocess.DEVNULL) if case.beside else None
    words = words_of(command, case, process)
    if case.then and not case.then[0]:  # before the command, which is repeated until the program is there
        open(case.then[1], "w").close()
    deadline = time.monotonic() + PATIENCE
    status, said = observe(words, case)
    while case.then and not case.then[0] and not is_right(case, status, said) and time.monotonic() < deadline:
        status, said = observe(words, case)
    if process:
        process.kill()
        process.wait()
    return None if is_right(case, status, said) else f"{shlex.join(words)}\nexit status {status}\n{said}"


def check(problem, answer, cases):
    commands = commands_of(answer)
    if len(commands) != len(cases):
        return f"the row has {len(commands)} commands, and {len(cases)} cases"
    for command, case in zip(commands, cases):
        if wrong := try_case(command, case):
            return wrong
    return None


def main(argv):
    with open(argv[1]) as file:
        table = rows(file.read())
    with open("traces.otlp", "w") as file:
        file.write(str(SPAN).replace("'", '"') + "\n")
    with open("race.dpe", "w") as file:
        file.write('include "pthread.dpe"\npredict race: put() & get()\n')
    failed, left = 0, dict(CASES)
    for problem, answer in table:
        key = next((key for key in left if problem.startswith(key)), None)
        wrong = check(problem, answer, left.pop(key)) if key else "no case has this row"
        skip = " # skip watchpoints do not fire" if wrong and "watchpoints do not fire" in wrong else ""
        failed += bool(wrong and not skip)
        print(f"{'not ok' if wrong and not skip else 'ok'} - {problem}{skip}", flush=True)
        if wrong and not skip:
            print("\n".join("#   " + line for line in wrong[:4000].splitlines()))
    for key in left:
        print(f"not ok - no row is about '{key}'")
    return 1 if failed or left or not table else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
