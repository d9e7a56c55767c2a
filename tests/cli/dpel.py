"""dpel.py LOG: a .dpel log as JSON lines, read as docs/dpel.md says and in no other way.

Prints the messages, their members in the order in which dpe writes them; fails where the page is not kept.
"""
import json
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


TABLE = []
for entry in range(256):
    for _ in range(8):
        entry = entry >> 1 ^ (0x82F63B78 if entry & 1 else 0)
    TABLE.append(entry)

PHASES = ("", ".enter", ".exit")
NONE, INT, UINT, POINTER, STRING, RAW = range(6)
SMALL = 8


class Part:
    """What stands in a block, read from front to back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        size = struct.calcsize("<" + form)
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += size
        return values[0] if len(values) == 1 else values

    def text(self, length):
        text = self.data[self.at:self.at + length]
        padded = length // 8 * 8 + 8
        padding = self.data[self.at + length:self.at + padded]
        assert padding == bytes(padded - length) and 0 not in text, "texts are padded with NUL bytes"
        self.at += padded
        return text.decode()


class Log:
    def __init__(self, data):
        header = struct.unpack_from("<8sHHIII", data)
        assert header[0] == b"\x89DPEL\r\n\x1a" and header[1] == 3 and header[3] == 24 and header[4] == 0
        assert header[5] == crc32c(data[:20]), "the header's checksum"
        self.ordered = header[2] & 1
        self.data, self.strings, self.count = data, [None], 0

    def value(self, kind, word):
        """The value as JSON text."""
        if kind == INT:
            return str(word - (1 << 64) if word >> 63 else word)
        if kind == UINT:
            assert word >> 63
            return str(word)
        if kind == POINTER:
            return f'"{word:#x}"'
        if kind == STRING:
            return quote(self.strings[word])
        assert kind == RAW
        return self.strings[word]

    def messages(self):
        at = 24
        while True:
            header = self.data[at:at + 48]
            kind, size, nstrings, nsources, nshapes, nrecords, before, time, content, checksum = struct.unpack(
                "<4sIIIIIQQII", header)
            part = Part(self.data[at + 48:at + 48 + size])
            assert checksum == crc32c(header[:44]) and content == crc32c(part.data) and before == self.count
            at += 48 + size
            if kind == b"END ":
                assert at == len(self.data)
                return
            assert kind == b"DATA"
            yield from self.records(part, nstrings, nsources, nshapes, nrecords, time)
            assert part.at == size

    def records(self, part, nstrings, nsources, nshapes, nrecords, time):
        self.strings += [part.text(part.take("Q")) for _ in range(nstrings)]
        sources = [[0] * 9] + [list(part.take("BBBBIQQQQ")) for _ in range(nsources)]
        shapes = [None] + [part.take("IIBBBBBBBBB7s") for _ in range(nshapes)]
        self.time = time
        for _ in range(nrecords):
            self.count += 1
            shape, source, later = part.take("HHi")
            if shape:
                yield self.short(part, shapes[shape], sources[source], later)
            else:
                part.at -= 8
                yield self.long(part)

    def short(self, part, shape, source, later):
        name, module, phase, seq, time, id, members, nargs, nstack, npcs, ret, args = shape
        begin, found = part.at, {}
        number = None
        if seq == 2:
            number = part.take("Q")
        elif seq == 1:
            number = source[8]
        if seq:
            source[8] = number + 1
        if time == 2:
            self.time = part.take("Q")
        elif time == 1:
            self.time = self.time + later & (1 << 64) - 1
        kinds = list(args[:nargs]) + [ret]
        for small in (False, True):
            for i, kind in enumerate(kinds):
                if kind == NONE or small != (kind in (STRING, RAW) or kind > SMALL):
                    continue
                word = part.take("i") & (1 << 64) - 1 if kind > SMALL else part.take("I" if small else "Q")
                found[i] = self.value(kind % SMALL, word)
            if not small:
                pcs = [part.take("Q") for _ in range(npcs)]
        extra = self.strings[part.take("I")] if members else None
        stack = [self.strings[part.take("I")] for _ in range(nstack)]
        part.at += (begin - part.at) % 8
        thread, process, host = (self.value(k, w) if k else None for k, w in zip(source[:3], source[5:8]))
        return write(
            event=self.strings[name] + PHASES[phase],
            id=quote(f"{json.loads(thread)}:{number}") if id else None,
            host=host, process=process, thread=thread, comm=self.strings[source[4]], seq=number,
            time=self.time if time else None, module=self.strings[module],
            args=[found.get(i, "null") for i in range(nargs)], ret=found.get(nargs),
            stack=stack or [f"{pc:#x}" for pc in pcs], extra=extra)

    def long(self, part):
        assert part.take("Q") == 0
        text = part.text(part.take("Q"))
        self.time = json.loads(text).get("time", self.time)
        return text


def quote(text):
    return json.dumps(text, ensure_ascii=False)


def write(extra, **members):
    texts = []
    for name, value in members.items():
        if value is None or value == []:
            continue
        if name in ("event", "comm", "module"):
            value = quote(value)
        elif name == "stack":
            value = "[" + ",".join(map(quote, value)) + "]"
        elif isinstance(value, list):
            value = "[" + ",".join(value) + "]"
        texts.append(f'"{name}":{value}')
    return "{" + ",".join(texts + ([extra] if extra else [])) + "}"


with open(sys.argv[1], "rb") as file:
    log = Log(file.read())
print('{"dpe_log":1,"ordered":true}' if log.ordered else '{"dpe_log":1}')
for message in log.messages():
    print(message)
