"""What gdb knows of the match at which dpe stopped the program: `info dpe`, `dpe-match [N]`.

dpe runs gdb with this file and says by $DPE_MATCH where the match is, if there is one: one JSON object as its report
has them, with the positions of the events. Values of the rule's variables are convenience variables: x is $dpe_x.
"""
import json
import os
import signal

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


def positions():
    """The numbers of the events, $1 and so on, as in the report."""
    return match.get("positions") or list(range(1, len(messages()) + 1))


def stopped_at():
    """The number of the event at which the program was stopped."""
    for number, message in zip(positions(), messages()):
        if message.get("id") == match.get("event"):
            return number
    return positions()[-1]


def call_of(message):
    event = plain(message.get("event", "?"))
    if "args" in message or event.endswith((".enter", ".exit")):
        event = f"{event.removesuffix('.enter')}({', '.join(plain(a) for a in message.get('args', []))})"
    return event + (f" = {plain(message['ret'])}" if "ret" in message else "")


def variables_of(message):
    """The variables that it carries: X = 1 (was 0), Y = 2."""
    values = message.get("vars", {})
    reported = [f"{plain(name)} = {plain(value)}" +
            (f" (was {plain(values[name + chr(39)])})" if name + "'" in values else "")
            for name, value in values.items() if not name.endswith("'")]
    return f"  {', '.join(reported)}" if reported else ""


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
    print(f"  ${number} {call_of(message)}{variables_of(message)}  {where}{'' if thread else ', which has ended'}")
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
        for number, message in zip(positions(), events):
            show(number, message, True)


class DpeMatch(gdb.Command):
    """dpe-match [N]: go to the thread of event N of the match; without N, of the one at which the program was stopped."""

    def __init__(self):
        super().__init__("dpe-match", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        events = messages()
        numbers = positions()
        argument = argument.strip() or str(stopped_at())
        if argument not in map(str, numbers):
            raise gdb.GdbError("dpe-match takes the number of an event: " +
                               ", ".join(map(str, sorted(numbers))))
        number = int(argument)
        event = events[numbers.index(number)]
        thread = thread_of(event)
        if not thread:
            raise gdb.GdbError(f"the thread of event {number} has ended")
        thread.switch()
        show(number, event, False)
        gdb.execute("frame", from_tty)


def drop_stops():
    """dpe has stopped the program by SIGSTOP, and each of its threads has another one by gdb's attaching, which gdb
    would stop at as soon as the program is continued. SIGCONT takes them back."""
    gdb.execute("handle SIGCONT nostop noprint pass", to_string=True)
    os.kill(gdb.selected_inferior().pid, signal.SIGCONT)


drop_stops()
InfoDpe()
DpeMatch()
if os.environ.get("DPE_MATCH"):
    load(os.environ["DPE_MATCH"])
