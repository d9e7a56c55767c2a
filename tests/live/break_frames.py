"""break_frames.py FROM TO CHANGE: a copy of an ELF file whose call frame information is broken."""
import random
import struct
import subprocess
import sys

source, target, change = sys.argv[1:]
data = bytearray(open(source, "rb").read())


def section(name):
    for line in subprocess.run(["readelf", "-SW", source], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split("]")[-1].split()
        if fields and fields[0] == name:
            return int(fields[3], 16), int(fields[4], 16)
    raise SystemExit(f"no section {name}")


header, size = section(".eh_frame_hdr")
what, how = change.split("=")
dice = random.Random(1)
if what == "fde_count":
    struct.pack_into("<I", data, header + 8, int(how))
elif what == "encoding":
    data[header + 3] = int(how)
elif how == "reversed":
    entries = [data[i:i + 8] for i in range(header + 12, header + size - 7, 8)]
    data[header + 12:header + 12 + 8 * len(entries)] = b"".join(reversed(entries))
else:
    begin, length = (header + 12, size - 12) if what == "table" else section(".eh_frame")
    for i in range(begin, begin + length):
        if dice.random() < 0.3:
            data[i] = dice.randrange(256)
open(target, "wb").write(data)
