"""What gdb knows of the match at which dpe stopped the program: `info dpe`, `dpe-match [N]`.

dpe runs gdb with this file and says by $DPE_MATCH where the match is, one JSON object as its report
has them. Values of the rule's variables are convenience variables: x is $dpe_x.
"""
import json
import os

import gdb

match = None


def plain(text):
    """Without what could drive a terminal: names come from the program."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def load(path):
    global match
    with open(path, encoding="utf-8") as file:
        match = json.load(file)
    for name, value in match.get("params", {}).items():
        value = as_number(value)
        if value is not None and name.isidentifier():
            gdb.set_convenience_variable("dpe_" + name, gdb.Value(value))


def as_number(value):
    """An integer, or a pointer as reports write it; else None."""
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.startswith("0x"):
        try:
            return int(value, 16)
        except ValueError:
            pass
    return None


def messages():
    if match is None:
        raise gdb.GdbError("dpe stopped the program at no match")
    return match.get("messages", [])


def call_of(message):
    args = ", ".join(plain(a) for a in message.get("args", []))
    return f"{plain(message.get('event', '?'))}({args})"


def thread_of(message):
    """The thread of the event, if it is still there."""
    for inferior in gdb.inferiors():
        for thread in inferior.threads():
            if message.get("thread") in thread.ptid[1:]:
                return thread
    return None


def show(number, message, stack):
    thread = thread_of(message)
    where = f"thread {message.get('thread')}"
    if thread:
        where += f", gdb's {thread.num}"
    print(f"  ${number} {call_of(message)}  {where}{'' if thread else ', which has ended'}")
    for i, frame in enumerate(message.get("stack", []) if stack else []):
        print(f"       {'by' if i else 'at'} {plain(frame)}")


class InfoDpe(gdb.Command):
    """Show the match at which dpe stopped the program: rule, values, events."""

    def __init__(self):
        super().__init__("info dpe", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        events = messages()
        print(f"{plain(match['rule'])}: {plain(match.get('verdict', 'break'))}")
        for name, value in match.get("params", {}).items():
            print(f"  {plain(name)} = {plain(value)}")
        for number, message in enumerate(events, 1):
            show(number, message, True)


class DpeMatch(gdb.Command):
    """dpe-match [N]: go to the thread of event N of the match, the last one without N."""

    def __init__(self):
        super().__init__("dpe-match", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        events = messages()
        number = int(argument) if argument.strip().isdigit() else len(events)
        if argument.strip() and not argument.strip().isdigit() or not 0 < number <= len(events):
            raise gdb.GdbError(f"dpe-match takes the number of an event, 1 to {len(events)}")
        thread = thread_of(events[number - 1])
        if not thread:
            raise gdb.GdbError(f"the thread of event {number} has ended")
        thread.switch()
        show(number, events[number - 1], False)
        gdb.execute("frame", from_tty)


InfoDpe()
DpeMatch()
if os.environ.get("DPE_MATCH"):
    load(os.environ["DPE_MATCH"])
