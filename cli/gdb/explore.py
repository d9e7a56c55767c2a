"""gdb on a run of dpe explore that follows a schedule: it stops where the library ends the run, as at a deadlock;
`dpe-switch` goes to the next switch of the schedule, `dpe-step` to the next macrostep.

The run stands before main. gdb's numbers of threads are those of the schedule.
"""
import gdb

LIBRARY = "libdpe-sched"


def argument(number):
    """An argument of the function in the library where the run stands."""
    return gdb.parse_and_eval(("$rdi", "$rsi")[number])


def is_library(frame):
    return LIBRARY in (gdb.solib_name(frame.pc()) or "")


def program_frame():
    """The frame that called the library; None: there is none."""
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
        print(f"dpe: {how}: the run ends here; 'thread apply all backtrace' shows where the threads are")
        select_program()


class DpeSwitch(gdb.Command):
    """dpe-switch: go on to the next switch of the schedule, or to the end."""

    def __init__(self):
        super().__init__("dpe-switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument_text, from_tty):
        if continue_to("dpe_sched_switching"):
            print(f"dpe: thread {int(argument(0)) + 1} stands here, and thread {int(argument(1)) + 1} goes on")
            select_program()


def place_of(number):
    """The program's function in which a thread stands, and its line; gdb has the run at a choice."""
    for thread in gdb.selected_inferior().threads():
        if thread.num == number:
            thread.switch()
            frame = program_frame()
            line = frame.find_sal() if frame else None
            file = f" ({line.symtab.filename}:{line.line})" if line and line.symtab else ""
            return f"{frame.name() or '?'}{file}" if frame else "?"
    return "it has ended"


class DpeStep(gdb.Command):
    """dpe-step [N]: go on to the next macrostep, where every thread stands at an operation and several can go on.
At one, thread N goes on, or without N the one that the schedule says, which is marked '>'."""

    def __init__(self):
        super().__init__("dpe-step", gdb.COMMAND_RUNNING)

    def question(self):
        """Of the run, which stands at a choice; None: it does not."""
        selected = gdb.selected_thread()
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            if gdb.newest_frame().name() == "dpe_sched_asking":
                return gdb.parse_and_eval("dpe_sched->question")
        if selected:
            selected.switch()
        return None

    def possible(self, question):
        return [int(question["possible"][i]) + 1 for i in range(int(question["count"]))]

    def show(self):
        question = self.question()
        chooser = gdb.selected_thread()
        if not question:
            return
        print("dpe: who can go on:")
        for number in sorted(self.possible(question)):
            mark = ">" if number == int(question["usual"]) + 1 else " "
            print(f"{mark} thread {number} at {place_of(number)}")
        chooser.switch()

    def choose(self, text):
        question = self.question()
        if not question:
            raise gdb.GdbError("the run is at no choice: dpe-step without a number goes to the next one")
        possible = self.possible(question)
        if text not in map(str, possible):
            raise gdb.GdbError("dpe-step takes the number of a thread that can go on: " +
                               ", ".join(map(str, sorted(possible))))
        gdb.parse_and_eval(f"dpe_sched->question.answer = {int(text) - 1}")

    def invoke(self, argument_text, from_tty):
        if argument_text.strip():
            self.choose(argument_text.strip())
        if continue_to("dpe_sched_asking"):
            self.show()


gdb.execute("handle SIGSYS nostop noprint pass", to_string=True)  # a thread in a loop is watched for system calls
Ended()
DpeSwitch()
DpeStep()
