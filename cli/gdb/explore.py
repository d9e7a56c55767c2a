"""gdb on a run of dpe explore that follows a schedule: it stops where the library ends the run, as at a deadlock;
`dpe-switch` goes to the next switch of the schedule, `dpe-step` to the next macrostep, `dpe-back` to an earlier one by another run,
`dpe-save` and `dpe-goto` name a place and go there, `dpe-tree` prints what was visited.

The run stands before main. gdb's numbers of threads are those of the schedule.
"""
import os
import struct
import time

import gdb

LIBRARIES = "libdpe-", "libc.so", "libpthread.so", "ld-linux", "libstdc++", "libgcc_s"


def argument(number):
    """An argument of the function in the library where the run stands."""
    return gdb.parse_and_eval(("$rdi", "$rsi")[number])


def is_library(frame):
    return os.path.basename(gdb.solib_name(frame.pc()) or "").startswith(LIBRARIES)


def program_frame():
    """The frame that called the library, or the C library; None: there is none."""
    frame = gdb.newest_frame()
    while frame and is_library(frame):
        frame = frame.older()
    return frame


def select_program():
    frame = program_frame()
    if frame:
        frame.select()
        gdb.execute("frame")


def continue_to(function):
    """Whether the run comes there."""
    there = gdb.Breakpoint(function, internal=True)
    there.silent = True
    try:
        gdb.execute("continue")
        return bool(gdb.selected_inferior().pid and there.hit_count)
    finally:
        there.delete()


# ---- the execution tree ----------------------------------------------------------------------

class Node:
    """A choice that was visited, or an end; the tree has it by the threads that were chosen before."""

    def __init__(self, number):
        self.number = number
        self.places = {}  # of threads that can proceed
        self.end = None


tree = {}
saved = {}


def choices():
    """The threads that were chosen up to where the run stands, which is a choice where it is at one."""
    if not gdb.selected_inferior().pid:
        raise gdb.GdbError("the run has ended")
    count = int(gdb.parse_and_eval("dpe_sched->asked"))
    answers = gdb.parse_and_eval("&dpe_sched->answers")
    if count > int(gdb.parse_and_eval("sizeof(dpe_sched->answers) / sizeof(dpe_sched->answers[0])")):
        raise gdb.GdbError("there are more choices than dpe keeps")
    at_choice = question() is not None
    count -= at_choice
    memory = gdb.selected_inferior().read_memory(int(answers), 2 * count) if count else b""
    return tuple(number + 1 for number in struct.unpack(f"{count}H", bytes(memory)))


def visit():
    key = choices()
    if key not in tree:
        tree[key] = Node(len(tree) + 1)
    return tree[key]


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
        state, parent = file.read().rpartition(")")[2].split()[:2]
    return None if state == "Z" else int(parent)


def child_of(maker):
    """The process that it makes a run in; it does so at once."""
    for _ in range(1000):
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if parent_of(entry) == maker:
                    return int(entry)
            except OSError:
                continue  # it has ended
        time.sleep(0.01)
    raise gdb.GdbError("dpe makes no other run")


def go_to(key):
    """Another run, up to the choice that has these before it."""
    if int(gdb.parse_and_eval("dpe_sched->once")):
        raise gdb.GdbError("rules follow this run, which cannot be made again")
    maker = parent_of(gdb.selected_inferior().pid)
    for index, number in enumerate(key):
        gdb.parse_and_eval(f"dpe_sched->answers[{index}] = {number - 1}")
    gdb.parse_and_eval(f"dpe_sched->nfollow = {len(key)}")
    gdb.parse_and_eval("dpe_sched->again = 1")
    gdb.execute("with confirm off -- kill", to_string=True)
    gdb.execute(f"attach {child_of(maker)}", to_string=True)
    if continue_to("dpe_sched_asking"):
        show()


class Ended(gdb.Breakpoint):
    """Where the library ends the run."""

    def __init__(self):
        super().__init__("dpe_sched_ended", internal=True)
        self.silent = True
        gdb.events.stop.connect(self.show)

    def show(self, event):
        if self not in getattr(event, "breakpoints", []):
            return
        how = argument(0).cast(gdb.lookup_type("char").pointer()).string()
        visit().end = how
        print(f"dpe: {how}: the run ends here; 'thread apply all backtrace' shows where the threads are")
        select_program()


class DpeSwitch(gdb.Command):
    """dpe-switch: continue to the next switch of the schedule, or to the end."""

    def __init__(self):
        super().__init__("dpe-switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument_text, from_tty):
        if continue_to("dpe_sched_switching"):
            print(f"dpe: thread {int(argument(0)) + 1} is here, and thread {int(argument(1)) + 1} continues")
            select_program()


def place_of(number):
    """The program's function in which a thread stands, and its line; gdb has the run at a choice."""
    for thread in gdb.selected_inferior().threads():
        if thread.num == number:
            thread.switch()
            frame = program_frame()
            if not frame:
                return "its start"
            line = frame.find_sal()
            file = f" ({line.symtab.filename}:{line.line})" if line and line.symtab else ""
            return f"{frame.name() or '?'}{file}"
    return "it has ended"


def question():
    """Of the run, which stands at a choice; None: it does not."""
    selected = gdb.selected_thread()
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        if gdb.newest_frame().name() == "dpe_sched_asking":
            return gdb.parse_and_eval("dpe_sched->question")
    if selected:
        selected.switch()
    return None


def possible(asked):
    return [int(asked["possible"][i]) + 1 for i in range(int(asked["count"]))]


def show():
    asked = question()
    chooser = gdb.selected_thread()
    if not asked:
        return
    node = visit()
    print(f"dpe: #{node.number}: threads that can proceed:")
    for number in sorted(possible(asked)):
        mark = ">" if number == int(asked["by_default"]) + 1 else " "
        node.places[number] = place_of(number)
        print(f"{mark} thread {number} at {node.places[number]}")
    chooser.switch()


class DpeStep(gdb.Command):
    """dpe-step [N]: continue to the next macrostep, where every thread stands at an operation and several can proceed.
At one, thread N continues, or without N the one that the schedule says, which is marked '>'."""

    def __init__(self):
        super().__init__("dpe-step", gdb.COMMAND_RUNNING)

    def choose(self, text):
        asked = question()
        if not asked:
            raise gdb.GdbError("the run is at no choice: dpe-step without a number goes to the next one")
        numbers = possible(asked)
        if text not in map(str, numbers):
            raise gdb.GdbError("dpe-step takes the number of a thread that can proceed: " +
                               ", ".join(map(str, sorted(numbers))))
        gdb.parse_and_eval(f"dpe_sched->question.answer = {int(text) - 1}")

    def invoke(self, argument_text, from_tty):
        if argument_text.strip():
            self.choose(argument_text.strip())
        if continue_to("dpe_sched_asking"):
            show()


class DpeBack(gdb.Command):
    """dpe-back [N]: go back N macrosteps, one without a number. The run is made again up to there."""

    def __init__(self):
        super().__init__("dpe-back", gdb.COMMAND_RUNNING)

    def invoke(self, argument_text, from_tty):
        before, count = choices(), argument_text.strip() or "1"
        if not count.isdigit() or not 1 <= int(count) <= len(before):
            raise gdb.GdbError(f"dpe-back takes a number up to {len(before)}, that of the macrosteps before")
        go_to(before[:len(before) - int(count)])


class DpeSave(gdb.Command):
    """dpe-save NAME: name this place, for dpe-goto."""

    def __init__(self):
        super().__init__("dpe-save", gdb.COMMAND_RUNNING)

    def invoke(self, argument_text, from_tty):
        if not argument_text.strip():
            raise gdb.GdbError("dpe-save takes a name")
        visit()
        saved[argument_text.strip()] = choices()


class DpeGoto(gdb.Command):
    """dpe-goto NAME or #N: go to a place that was saved, or to a macrostep of dpe-tree."""

    def __init__(self):
        super().__init__("dpe-goto", gdb.COMMAND_RUNNING)

    def invoke(self, argument_text, from_tty):
        name = argument_text.strip()
        numbered = {f"#{node.number}": key for key, node in tree.items() if not node.end}
        key = saved.get(name, numbered.get(name))
        if key is None:
            raise gdb.GdbError("dpe-goto takes what was saved, or the number of a macrostep that was visited: " +
                               ", ".join([*saved, *numbered]))
        go_to(key)


class DpeTree(gdb.Command):
    """dpe-tree: print the macrosteps that were visited, and how runs ended."""

    def __init__(self):
        super().__init__("dpe-tree", gdb.COMMAND_STATUS)

    def invoke(self, argument_text, from_tty):
        names = {key: name for name, key in saved.items()}
        for key, node in sorted(tree.items()):
            above = [tree[key[:i]] for i in range(len(key)) if key[:i] in tree]
            line = f"{'  ' * len(above)}#{node.number}"
            if key:
                before = tree.get(key[:-1])
                place = before.places.get(key[-1]) if before else None
                line += f" after thread {key[-1]}" + (f" at {place}" if place else "")
            line += f" [{names[key]}]" if key in names else ""
            print(line + (f": {node.end}" if node.end else ""))


gdb.execute("handle SIGSYS nostop noprint pass", to_string=True)  # a thread in a loop is watched for system calls
Ended()
DpeSwitch()
DpeStep()
DpeBack()
DpeSave()
DpeGoto()
DpeTree()
