"""interrupts.py [--quit] WHEN COMMAND...: runs it, and interrupts it and all that it starts, as Ctrl-C does (or Ctrl-\\), as soon as
the file err, its standard error, has the regular expression WHEN, or after five minutes. Also where a shell
runs this in the background, which lets it ignore such signals."""
import os
import re
import signal
import subprocess
import sys
import time

end = signal.SIGINT
if sys.argv[1] == "--quit":
    end = signal.SIGQUIT
    del sys.argv[1]
signal.signal(end, signal.SIG_DFL)
process = subprocess.Popen(sys.argv[2:], start_new_session=True)
deadline = time.monotonic() + 300
while not re.search(sys.argv[1], open("err", errors="replace").read()) and time.monotonic() < deadline:
    if process.poll() is not None:
        break
    time.sleep(0.05)
else:
    os.killpg(process.pid, end)
status = process.wait(timeout=300)
sys.exit(status if status >= 0 else 128 - status)
