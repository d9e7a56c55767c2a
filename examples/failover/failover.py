#!/usr/bin/python3
"""A primary, its standby and a watcher of both, each on a host of its own with its own journal (as root, in namespaces):
failover.py writes primary.journal, standby.journal and watcher.journal. The watcher takes silence for death."""
import ctypes
import json
import os
import socket
import subprocess
import time

SILENCE = 0.1  # seconds
JOURNAL = "/run/systemd/journal/dev-log"
FIELDS = ("__REALTIME_TIMESTAMP", "_HOSTNAME", "_PID", "_COMM", "SYSLOG_IDENTIFIER", "PRIORITY", "MESSAGE")
NEWNS, NEWUTS, REC_PRIVATE = 0x00020000, 0x04000000, 0x4000 | 0x40000


class Host:
    """In namespaces of its own, with a journal that is in memory."""

    def __init__(self, name, sockets):
        self.name, self.sockets, self.sent = name, sockets, 0
        libc = ctypes.CDLL(None, use_errno=True)
        for failed in (libc.unshare(NEWNS | NEWUTS), libc.mount(None, b"/", None, REC_PRIVATE, None), libc.mount(b"run", b"/run", b"tmpfs", 0, None)):
            if failed:
                raise OSError(ctypes.get_errno(), "no namespaces: this needs root")
        socket.sethostname(name)
        os.makedirs("/run/systemd/journald.conf.d")
        with open("/run/systemd/journald.conf.d/apart.conf", "w") as conf: # nothing of the machine's, nothing outside
            conf.write("[Journal]\nStorage=volatile\nAudit=no\nReadKMsg=no\n")
        self.journald = subprocess.Popen(["/lib/systemd/systemd-journald"], stderr=subprocess.DEVNULL)
        while not os.path.exists(JOURNAL):
            time.sleep(0.01)
        self.log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def say(self, text):
        self.log.sendto(f"<30>failover[{os.getpid()}]: {text}".encode(), JOURNAL)

    def send(self, to, what):
        self.sent += 1
        message = f"{self.name}{self.sent}"
        self.say(f"send id={message} {what} to {to}")
        self.sockets[to][1].send(json.dumps([message, what]).encode())

    def receive(self, seconds=None):
        mine = self.sockets[self.name][0]
        mine.settimeout(seconds)
        try:
            message, what = json.loads(mine.recv(4096))
        except socket.timeout:
            return None
        self.say(f"receive id={message} {what}")
        return what

    def close(self):
        subprocess.run(["journalctl", "--sync"], check=True)
        printed = subprocess.run(["journalctl", "--quiet", "--identifier=failover", "-o", "json"], capture_output=True, check=True).stdout
        with open(f"{self.name}.journal", "w") as to:
            for entry in map(json.loads, printed.splitlines()):
                to.write(json.dumps({field: entry[field] for field in FIELDS}) + "\n")
        self.journald.terminate()
        self.journald.wait()


def primary(host):
    for turn in range(4):
        host.send("watcher", "alive")
        host.say(f"serve id=request{turn} as primary")
        time.sleep(4 * SILENCE if turn == 2 else SILENCE / 4)


def standby(host):
    host.receive()
    for turn in range(2):
        host.say(f"serve id=request{turn} as the new primary")


def watcher(host):
    host.receive()
    while host.receive(SILENCE):
        pass
    host.send("standby", "promote")
    host.receive()


def main():
    nodes = (primary, standby, watcher)
    sockets = {node.__name__: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for node in nodes}
    begin, ready = os.pipe(), os.pipe()
    for node in nodes:
        if os.fork() == 0:
            host = Host(node.__name__, sockets)
            os.write(ready[1], b".")
            os.read(begin[0], 1)
            node(host)
            host.close()
            os._exit(0)
    for _ in nodes:
        os.read(ready[0], 1)
    os.write(begin[1], b"...")
    for _ in nodes:
        os.wait()


main()
