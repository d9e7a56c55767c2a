#!/usr/bin/python3
"""A store that leases itself to one writer at a time, as three processes that log with vector clocks, as GoVector does:
lease.py >lease.shiviz. A lease ends by the clock of the store; a writer that was paused does not notice."""
import json
import os
import socket
import time

LEASE = 0.05  # seconds


class Node:
    def __init__(self, name, sockets):
        self.name, self.sockets, self.clock = name, sockets, {}

    def log(self, text):
        """Two short lines, which are written whole."""
        self.clock[self.name] = self.clock.get(self.name, 0) + 1
        os.write(1, f"{self.name} {json.dumps(self.clock)}\n{text}\n".encode())

    def send(self, to, what):
        self.log(f"send_{what}")
        self.sockets[to][1].send(json.dumps([self.name, what, self.clock]).encode())

    def receive(self, seconds=None):
        """Who sent what; None where nothing comes in that time."""
        mine = self.sockets[self.name][0]
        mine.settimeout(seconds)
        try:
            sender, what, clock = json.loads(mine.recv(4096))
        except socket.timeout:
            return None, None
        for name, count in clock.items():
            self.clock[name] = max(self.clock.get(name, 0), count)
        self.log(f"receive_{what}")
        return sender, what


def store(node):
    waiting, holder, released = [], None, 0
    while released < 3:
        sender, what = node.receive(LEASE if holder else None)
        if what == "ask":
            waiting.append(sender)
        elif what == "release":
            released += 1
            holder = None if sender == holder else holder
        else:
            node.log("expire")
            holder = None
        if not holder and waiting:
            holder = waiting.pop(0)
            node.send(holder, "grant")


def write_once(node, pause):
    node.send("store", "ask")
    node.receive()
    time.sleep(pause)
    node.log("write")
    node.send("store", "release")


def ann(node):
    write_once(node, 0)
    write_once(node, 4 * LEASE)


def bob(node):
    time.sleep(LEASE)
    write_once(node, 0)


def main():
    nodes = (store, ann, bob)
    sockets = {node.__name__: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for node in nodes}
    for node in nodes:
        if os.fork() == 0:
            node(Node(node.__name__, sockets))
            os._exit(0)
    for node in nodes:
        os.wait()


main()
