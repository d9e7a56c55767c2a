"""What the programs of this folder share: their options, a folder for their files, the count of cases with the closing line that
tests/run reads, and a replay with its specification and log."""
import argparse
import json
import random
import subprocess
import tempfile


def options(description, count=None, vectors=None, **others):
    """From the command line: --dpe; if cases are drawn, --seed and --count, of this default; the vectors' files, as many as
    argparse's `nargs` says; and other options by name, with their defaults."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dpe", default="./dpe")
    if count is not None:
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--count", type=int, default=count)
    for name, default in others.items():
        if default is False:
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(f"--{name}", type=type(default), default=default)
    if vectors:
        parser.add_argument("vectors", nargs=vectors)
    return parser.parse_args()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def write_log(path, messages):
    write(path, "".join(json.dumps(message) + "\n" for message in messages))


def read(path):
    """The values of a file of JSON Lines."""
    with open(path) as file:
        return [json.loads(line) for line in file]


def replay(dpe, spec, log, *more):
    """The finished process, and the lines of its report."""
    done = subprocess.run([dpe, "replay", "--format=json", *more, "-s", spec, log], capture_output=True, text=True)
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def reasons(check, *arguments):
    """What the check finds wrong; that it fails is a reason, too."""
    try:
        return check(*arguments)
    except (RuntimeError, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return [f"{type(error).__name__}: {error}"]


class Cases:
    """Use it by `with`: then `folder` is there. Where cases are drawn, prints the seed, which draws the same ones again."""

    def __init__(self, args):
        self.args, self.dpe, self.passed, self.failed = args, args.dpe, 0, 0
        self.directory = tempfile.TemporaryDirectory()
        self.folder = self.directory.name
        if hasattr(args, "seed"):
            print(f"seed {args.seed}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.directory.cleanup()

    def judge(self, wrong, *case):
        """Counts a case, and prints what is wrong, each behind the description of the case."""
        self.passed += not wrong
        self.failed += bool(wrong)
        for what in wrong:
            print(*case, what, flush=True)

    def draw(self, check):
        """Until enough cases are judged: check(dpe, rng, folder) says what is wrong, or None if it drew no case."""
        number = 0
        while self.passed + self.failed < self.args.count:
            number += 1
            wrong = check(self.dpe, random.Random(f"{self.args.seed} {number}"), self.folder)
            if wrong is not None:
                self.judge(wrong, number)

    def require(self, holds, otherwise):
        """A condition on all cases: where it does not hold, one more has failed."""
        if not holds:
            self.failed += 1
            print(otherwise)

    def finish(self):
        """Prints the closing line, and returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
