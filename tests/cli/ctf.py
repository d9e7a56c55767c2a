"""Writes a small trace in CTF 1.8, as LTTng does: ctf.py FOLDER [DISCARDED]."""
import os
import struct
import sys

METADATA = """/* CTF 1.8 */
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := address;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real;
trace {
	major = 1; minor = 8; byte_order = le;
	packet.header := struct { u32 magic; u32 stream_id; };
};
env { hostname = "h"; };
clock { name = c; freq = 1000000000; offset = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := clock_t;
stream {
	id = 0;
	packet.context := struct { clock_t timestamp_begin; clock_t timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded; };
	event.header := struct { u32 id; clock_t timestamp; };
	event.context := struct { s32 vpid; s32 vtid; };
};
"""
EVENTS = {
    "lttng_ust_pthread:pthread_mutex_lock_req": "address mutex;",
    "lttng_ust_pthread:pthread_mutex_lock_acq": "address mutex; s32 status;",
    "lttng_ust_pthread:pthread_mutex_trylock": "address mutex; s32 status;",
    "lttng_ust_pthread:pthread_mutex_unlock": "address mutex; s32 status;",
    "work:step": "u64 n; s32 below; string label; real share;",
    "work:array": "u64 values[2];",
}
IDS = {name: number for number, name in enumerate(EVENTS)}


def event(time, thread, name, payload):
    return struct.pack("<IQii", IDS[name], time, 1, thread) + payload


def mutex(time, thread, what, status=None):
    payload = struct.pack("<Q", 0x10) + (b"" if status is None else struct.pack("<i", status))
    return event(time, thread, "lttng_ust_pthread:pthread_mutex_" + what, payload)


def step(time, thread, n, signed, text, real):
    return event(time, thread, "work:step", struct.pack("<Qi", n, signed) + text + b"\0" + struct.pack("<d", real))


def packet(begin, end, discarded, content):
    header = struct.pack("<II", 0xC1FC1FC1, 0)
    size = (len(header) + 40 + len(content)) * 8
    return header + struct.pack("<QQQQQ", begin, end, size, size, discarded) + content


def main(folder, discarded):
    os.mkdir(folder)
    with open(os.path.join(folder, "metadata"), "w") as file:
        file.write(METADATA)
        for name, fields in EVENTS.items():
            file.write(f'event {{ name = "{name}"; id = {IDS[name]}; stream_id = 0; fields := struct {{ {fields} }}; }};\n')
    first = mutex(100, 11, "lock_req") + mutex(110, 11, "lock_acq", 0) + step(115, 11, 5, -3, b'a "text"', 0.5) + mutex(120, 12, "lock_req")
    # Thread 12 has it before what thread 11 did is written.
    second = mutex(130, 12, "lock_acq", 0) + mutex(135, 11, "unlock", 0) + mutex(135, 11, "trylock", 16) + step(140, 12, 6, 0, b"", 1)
    second += mutex(150, 12, "unlock", 0) + event(160, 12, "work:array", struct.pack("<QQ", 1, 2))
    with open(os.path.join(folder, "stream"), "wb") as file:
        file.write(packet(100, 120, 0, first) + packet(130, 160, discarded, second))


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
