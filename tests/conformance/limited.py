"""Runs of dpe that may take so many seconds of a processor: on a busy machine that is any time."""
import os
import resource
import signal
import subprocess

WALL = 60  # times as long it may take in all, with processors and without
peak = 0.0  # seconds that the longest run had of a processor


def run(words, seconds):
    """As subprocess.run with its output captured as text; subprocess.TimeoutExpired where it takes longer."""
    global peak
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
            out, err = process.communicate(timeout=seconds * WALL)
        except ProcessLookupError:
            out, err = process.communicate()
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = max(peak, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    if process.returncode == -signal.SIGXCPU:
        raise subprocess.TimeoutExpired(words, seconds)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def used():
    """Seconds of processors that all runs up to now had."""
    all_runs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return all_runs.ru_utime + all_runs.ru_stime
