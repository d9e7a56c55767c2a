"""gdb on a run of dpe explore that follows a schedule: it stops where the library ends the run, as at a deadlock; and
`dpe-switch` goes to the next switch of the schedule.

The run stands before main. gdb's numbers of threads are those of the schedule.
"""
import gdb

LIBRARY = "libdpe-sched"


def argument(number):
    """An argument of the function in the library where the run stands."""
    return gdb.parse_and_eval(("$rdi", "$rsi")[number])


def is_library(frame):
    return LIBRARY in (gdb.solib_name(frame.pc()) or "")


def select_program():
    """The frame that called the library."""
    frame = gdb.newest_frame()
    while frame and is_library(frame):
        frame = frame.older()
    if frame:
        frame.select()
        gdb.execute("frame")


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
        switch = gdb.Breakpoint("dpe_sched_switching", internal=True)
        switch.silent = True
        try:
            gdb.execute("continue")
            if not gdb.selected_inferior().pid or not switch.hit_count:
                return
            print(f"dpe: thread {int(argument(0)) + 1} stands here, and thread {int(argument(1)) + 1} goes on")
            select_program()
        finally:
            switch.delete()


Ended()
DpeSwitch()
