"""stacks.py own OUTPUT LOG FUNCTION: the log has the stacks of `marked`, or of a function that it calls, that the program printed.
stacks.py gdb OUTPUT LOG FUNCTION: at the function's first event the log has the callers that gdb found.

Prints what differs, then "N stacks, M frames"."""
import json
import re
import sys


def events(path):
    with open(path) as log:
        for line in log:
            message = json.loads(line)
            if "stack" in message:
                yield message


def physical(stack):
    return [frame for frame in stack if "(inlined)" not in frame]


def differences(name, wanted, found):
    for i in range(max(len(wanted), len(found))):
        left = wanted[i] if i < len(wanted) else "nothing"
        right = found[i] if i < len(found) else "nothing"
        if left != right:
            print(f"{name}: frame {i}: {left}, but dpe {right}")


def callers_of_marked(stack):
    while stack and not stack[0].startswith("marked+"):
        stack = stack[1:]
    return stack[1:]


def own(output, log, function):
    """The call of `marked` returns elsewhere than that of backtrace: of that frame only the function is compared."""
    stacks = [line.split()[1:] for line in open(output) if line.startswith("stack ")]
    functions = {frame.split("+")[0] for _, *stack in stacks for frame in stack} | {"report"}
    found = [message["stack"] for message in events(log) if message["event"].split(".")[0] == function]
    count = 0
    for (number, *stack), frames in zip(stacks, found):
        frames = [frame.split(" ")[0] for frame in callers_of_marked(physical(frames))]
        frames = [frame if frame.split("+")[0] in functions else "-" for frame in frames]
        differences(f"stack {number}", ["report", *stack], [frames[0].split("+")[0], *frames[1:]])
        count += len(frames)
    if len(stacks) != len(found):
        print(f"{len(stacks)} stacks, but dpe has {len(found)}")
    print(f"{len(found)} stacks, {count} frames")


def place(frame):
    """What does not depend on where files are mapped: function and offset, or the address within its page."""
    known = re.match(r"([^ ]+)\+(0x[0-9a-f]+)(?: |$)", frame)
    unknown = re.match(r"0x([0-9a-f]+)", frame)
    if unknown:
        return f"…{int(unknown[1], 16) % 4096:03x}"
    return f"{known[1]}+{known[2]}" if known else frame


def with_gdb(output, log, function):
    """gdb knows other names of stripped code: two names count as equal where the offset is. It ends at main, if it knows it."""
    wanted = [line.split()[1:] for line in open(output) if line.startswith("frame ")]
    found = next((physical(message["stack"]) for message in events(log) if message["event"].split(".")[0] == function), [])
    left = [place(known) if known != "-" else f"…{int(address, 16) % 4096:03x}" for address, known in wanted[1:]]
    right = [place(frame) for frame in found[1:]]
    left = [f"…+{frame.split('+')[1]}" if "+" in frame else frame for frame in left]
    right = [f"…+{frame.split('+')[1]}" if "+" in frame else frame for frame in right]
    if wanted and wanted[-1][1].startswith("main+"):
        right = right[:len(left)]
    differences(function, left, right)
    print(f"{1 if found else 0} stacks, {len(right)} frames")


own(*sys.argv[2:]) if sys.argv[1] == "own" else with_gdb(*sys.argv[2:])
