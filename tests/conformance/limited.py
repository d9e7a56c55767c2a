"""Runs of dpe with a limit on processor time, so that a busy machine does not matter. Where DPE_MANY names
the program many_commands, they run there, in one process; one in SAMPLE runs as a process of its own as well, and has
to give the same output."""
import atexit
import os
import resource
import signal
import subprocess

WALL = 60     # times the limit: the bound for the elapsed time
SAMPLE = 50
peak = 0.0    # processor time of the longest run, in seconds


def processor():
    all_runs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return all_runs.ru_utime + all_runs.ru_stime


def run_alone(words, seconds):
    """A process for this command."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
            out, err = process.communicate(timeout=seconds * WALL)
        except ProcessLookupError:
            out, err = process.communicate()
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    if process.returncode == -signal.SIGXCPU:
        raise subprocess.TimeoutExpired(words, seconds)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


class Many:
    """A process of many_commands, begun when it is needed."""

    def __init__(self, program):
        self.program, self.process, self.runs, self.seconds = program, None, 0, 0.0
        atexit.register(self.end)

    def end(self):
        """Returns the exit status."""
        process, self.process = self.process, None
        if process is None:
            return None
        process.stdin.close()
        process.stdout.close()
        return process.wait()

    def run(self, words, seconds):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.seconds = 0.0
        request = f"{len(words)} {seconds}\n" + "".join(word + "\0" for word in words)
        self.process.stdin.write(request.encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            return self.died(words, seconds)
        status, output, errors, microseconds = map(int, line.split())
        out, err = (self.process.stdout.read(size).decode() for size in (output, errors))
        self.seconds += microseconds / 1e6
        return subprocess.CompletedProcess(words, status, out, err)

    def died(self, words, seconds):
        status = self.end()
        if status == -signal.SIGXCPU:
            raise subprocess.TimeoutExpired(words, seconds)
        return subprocess.CompletedProcess(words, status, "", "many_commands died")


many = Many(os.environ["DPE_MANY"]) if os.environ.get("DPE_MANY") else None


def run_sampled(words, seconds):
    done = many.run(words, seconds)
    if many.runs % SAMPLE == 0:
        alone = run_alone(words, seconds)
        if (done.returncode, done.stdout, done.stderr) != (alone.returncode, alone.stdout, alone.stderr):
            raise RuntimeError(f"another run of the process {done}, alone {alone}")
    many.runs += 1
    return done


def run(words, seconds):
    """As subprocess.run with captured output; raises subprocess.TimeoutExpired if it takes longer."""
    global peak
    before = used()
    done = run_sampled(list(words), seconds) if many else run_alone(words, seconds)
    peak = max(peak, used() - before)
    return done


def used():
    """Processor time of all runs so far, in seconds."""
    return processor() + (many.seconds if many and many.process else 0.0)
