#!/usr/bin/env python3
"""sessions.py PAGE [HEADING]: does what a page, or its section, shows, in this folder, and compares what comes out.

A block whose first line is a comment with a file's name (`// queue.c`) is that file; a program in C is compiled as the page says:
"`cc … NAME.c -o NAME`". In a block without a language, `$ COMMAND` is run by a shell, one for each section; what follows is its output.
`$ cat FILE` makes the file, unless it is there. A line `…` stands for any lines, `…` at an end of a line for the rest. Threads,
processes and addresses have other numbers each time: any, but equal where the page's are equal, and different where they differ;
times, and offsets in functions, have any value; several blanks may be more or fewer. Behind `$ COMMAND &`, commands are
repeated until their output is right. `<!-- varies: REGEX -->` in a section: what fits it there may be anything else that does. A section is skipped where a command says that the machine's watchpoints do not fire. Prints TAP. With DPE_UPDATE=1 a wrong output is replaced in the page.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time

SHOWN = 200  # lines of a failure
LONGEST = 60  # seconds for a command
PATIENCE = 20  # seconds for a process in the background to come to where the page shows it
THREAD = re.compile(r"(?:\b(?:thread|process) |\"(?:thread|process)\":)(\d{3,})")  # explored threads have small numbers, which are the same each time
SKIPPED = "watchpoints do not fire"
VARIES = (r"(?P<address>0x[0-9a-f]{6,})|(?P<offset>(?<=\w)\+0x[0-9a-f]+)|(?P<time>\d+(?:\.\d+)? (?:ns|us|ms|s)\b)|(?P<blanks> {2,})|"
          r"(?P<rest>…$|^…)")
ANY = {"thread": r"\d+", "address": "0x[0-9a-f]+", "offset": r"\+0x[0-9a-f]+", "time": r"\d+(?:\.\d+)? (?:ns|us|ms|s)", "blanks": " {2,}",
       "rest": ".*"}


def pattern_of(expected, others=()):
    """(a regular expression for the output, the names of its groups for what is renamed); `others` also vary"""
    names, parts = {}, []
    threads = "|".join(sorted(set(THREAD.findall(expected)))) or "(?!)"
    varies = re.compile(rf"(?P<thread>(?<![\w.])(?:{threads})(?![\w.]))|{VARIES}" + "".join(f"|{other}" for other in others))
    for line in expected.splitlines():
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
            continue
        at = 0
        for found in varies.finditer(line):
            parts.append(re.escape(line[at:found.start()]))
            at = found.end()
            kind, text = found.lastgroup, found.group()
            if not kind:
                parts.append(next(f"(?:{other})" for other in others if re.fullmatch(other, text)))
            elif kind not in ("thread", "address"):
                parts.append(ANY[kind])
            elif text in names:
                parts.append(f"(?P={names[text]})")
            else:
                names[text] = f"n{len(names)}"
                parts.append(f"(?P<{names[text]}>{ANY[kind]})")
        parts.append(re.escape(line[at:]) + r"\n")
    return re.compile("".join(parts)), names.values()


def is_as_expected(expected, said, others=()):
    pattern, names = pattern_of(expected, others)
    found = pattern.fullmatch(said)
    return bool(found) and len({found[name] for name in names}) == len(names)


class Shell:
    """One shell, which says when a command is done; it ends with all that it has begun."""

    def __init__(self):
        self.count = 0
        self.process = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def run(self, command):
        self.count += 1
        late = threading.Timer(LONGEST, self.kill)
        late.start()
        self.process.stdin.write(f"{{ {command}\n}} </dev/null >.said{self.count} 2>&1\necho\n")
        self.process.stdin.flush()
        done = self.process.stdout.readline()
        late.cancel()
        with open(f".said{self.count}", errors="replace") as file:
            return file.read() + ("" if done else f"killed after {LONGEST} s\n")

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)

    def close(self):
        if self.process.poll() is None:
            self.kill()
        self.process.wait()


def blocks_of(section):
    return re.findall(r"^```(\w*)\n(.*?)^```$", section, re.M | re.S)


def commands_of(block):
    """(command, output) of a block; a command ends where its line does not end in a backslash."""
    return re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block, re.M)


def write_file(name, text, compiler):
    with open(name, "w") as file:
        file.write(text)
    os.chmod(name, 0o755)
    if name.endswith(".c") and compiler:
        subprocess.run(compiler[1].replace("NAME", name[:-2]).split(), check=True)


def follow(shell, command, expected, background, others):
    made = re.fullmatch(r"cat (\S+)", command)
    if made and not os.path.exists(made[1]):
        write_file(made[1], expected, None)
    deadline = time.monotonic() + PATIENCE
    said = shell.run(command)
    while background and not is_as_expected(expected, said, others) and time.monotonic() < deadline:
        time.sleep(0.05)
        said = shell.run(command)
    return said


def check(section, compiler):
    """(how many commands, [(command, expected, said)] of what differs)"""
    count, wrong, background, shell = 0, [], False, Shell()
    others = re.findall(r"^<!-- varies: (.*) -->$", section, re.M)
    for language, block in blocks_of(section):
        name = re.search(r"\A(?:#!.*\n)?(?://|#) (\S+\.\w+)$", block, re.M)
        if language and name:
            write_file(name[1], block, compiler)
        for command, expected in commands_of(block) if not language else ():
            count += 1
            said = follow(shell, command, expected, background, others)
            background = background or command.endswith("&")
            if not is_as_expected(expected, said, others):
                wrong.append((command, expected, said))
    shell.close()
    return count, wrong


def main(argv):
    with open(argv[1]) as file:
        text = updated = file.read()
    compiler = re.search(r"`(cc [^`]*NAME\.c -o NAME)`", text)
    failed = total = 0
    for section in re.split(r"^(?=## )", text, flags=re.M):
        heading = section.split("\n")[0].strip("# ")
        if argv[2:] and heading not in argv[2:]:
            continue
        count, wrong = check(section, compiler)
        total += count
        title = f"{os.path.basename(argv[1])}, '{heading}': commands print what the page shows"
        if any(SKIPPED in said for _, _, said in wrong):
            print(f"ok - {title} # skip {SKIPPED}", flush=True)
            continue
        failed += bool(wrong)
        if count:
            print(("not ok" if wrong else "ok") + " - " + title, flush=True)
        for command, expected, said in wrong:
            updated = updated.replace(f"$ {command}\n{expected}", f"$ {command}\n{said}")
            shown = [f"$ {command}", "expected:", *expected.splitlines(), "but:", *said.splitlines()]
            print("\n".join("#   " + line for line in shown[:SHOWN]))
    if updated != text and os.environ.get("DPE_UPDATE"):
        with open(argv[1], "w") as file:
            file.write(updated)
    if not total:
        print(f"not ok - {argv[1]} shows no command")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
