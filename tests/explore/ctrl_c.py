#!/usr/bin/env python3
"""Presses Ctrl-C in a terminal as soon as the FIFO is opened: ctrl_c.py FIFO COMMAND...

Prints what the command prints, and exits with its status.
"""
import os
import pty
import signal
import sys

process, terminal = pty.fork()
if not process:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what a shell starts in the background ignores it
    os.execv(sys.argv[2], sys.argv[2:])
os.close(os.open(sys.argv[1], os.O_RDONLY))
os.write(terminal, b"\x03")
while True:
    try:
        text = os.read(terminal, 4096)
    except OSError:
        text = b""
    if not text:
        break
    print(text.decode(), end="", file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
