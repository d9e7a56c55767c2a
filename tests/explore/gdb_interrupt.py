#!/usr/bin/env python3
"""Interrupts a replayed run under gdb from a terminal, and continues it: gdb_interrupt.py DPE SCHEDULE PROGRAM.

Prints the last lines of dpe, and exits with its status.
"""
import os
import pty
import sys

process, terminal = pty.fork()
if not process:
    os.execv(sys.argv[1], ["dpe", "explore", f"--replay={sys.argv[2]}", "--gdb", "--", sys.argv[3]])
read = b""


def await_text(text):
    """Reads up to it."""
    global read
    while text not in read:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            more = b""
        if not more:
            sys.exit(f"no {text} in {read}")
        read += more
    read = read[read.index(text) + len(text):]


def say(text):
    os.write(terminal, text)


await_text(b"(gdb) ")
say(b"continue\n")
await_text(b"it spins")
say(b"\x03")
await_text(b"SIGINT")
await_text(b"(gdb) ")
say(b"set var go = 1\n")
await_text(b"(gdb) ")
say(b"continue\n")
await_text(b"exited normally")
await_text(b"(gdb) ")
say(b"quit\n")
await_text(b"explore: replay of ")
print(read.decode().split("\r\n")[0])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
