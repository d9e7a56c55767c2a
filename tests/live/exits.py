#!/usr/bin/env python3
"""Random functions, and what dpe saw of their returns.

    exits.py make SEED      a C program on standard output, and its rules as functions.dpe
    exits.py compare TOLD LOG
    exits.py locks TOLD LOG

The program reports each call, in the order in which calls return: the function, its arguments, its
result. The log must have the same exits; and as many of each mutex as the other program tells. Prints
whether it has, and what is wrong.
"""
import json
import random
import sys

FUNCTIONS = 24


def expression(rng, depth=0):
    if depth > 2 or rng.random() < 0.35:
        return rng.choice(["a", "b", "c", str(rng.randrange(-3, 9)), f"shared[{rng.randrange(8)}]", "x"])
    return f"({expression(rng, depth + 1)} {rng.choice('+-*^&|')} {expression(rng, depth + 1)})"


def condition(rng):
    return f"{expression(rng)} {rng.choice(['<', '>', '==', '!=', '<=', '>='])} {expression(rng)}"


def call(rng, number, tail=False):
    return f"{'TAIL' if tail else 'CALL'}({rng.randrange(number)}, {expression(rng)}, {expression(rng)}, {expression(rng)})"


def statement(rng, number, depth):
    kind = rng.choice(["set", "store", "if", "if", "call", "loop", "return", "tail", "switch"])
    if depth > 2 or (not number and kind in ("call", "tail")):
        kind = "set"
    if kind == "set":
        return f"x = {expression(rng)};"
    if kind == "store":
        return f"shared[{rng.randrange(8)}] = {expression(rng)};"
    if kind == "call":
        return f"x += {call(rng, number)};"
    if kind == "loop":
        return f"for (int i = 0; i < {rng.randrange(1, 4)}; i++) {{ {block(rng, number, depth + 1)} }}"
    if kind == "return":
        return f"if ({condition(rng)}) return {rng.choice([expression(rng), '0', '-1', '7', 'x'])};"
    if kind == "tail":
        return f"if ({condition(rng)}) {call(rng, number, True)};"
    if kind == "switch":
        cases = " ".join(f"case {i}: {block(rng, number, depth + 1)} break;" for i in range(rng.randrange(2, 6)))
        return f"switch (x & 7) {{ {cases} }}"
    other = f" else {{ {block(rng, number, depth + 1)} }}" if rng.random() < 0.4 else ""
    return f"if ({condition(rng)}) {{ {block(rng, number, depth + 1)} }}{other}"


def block(rng, number, depth):
    return " ".join(statement(rng, number, depth) for _ in range(rng.randrange(1, 4)))


def small(rng):
    """Returns here and there, after little."""
    ways = []
    for _ in range(rng.randrange(1, 5)):
        then = rng.choice(["", "", "shared[1];", f"x += shared[{rng.randrange(8)}];"])
        ways.append(f"if ({rng.choice(['shared[0]', 'shared[3]', 'a', 'b'])} {rng.choice(['<', '==', '!='])} {rng.randrange(-3, 60)}) "
                    f"{{ {then} return {rng.choice(['0', '1', '-5', 'x', 'a', 'c'])}; }}")
    ways.insert(0, rng.choice(["", f"shared[{rng.randrange(8)}] = c;", f"x ^= {rng.randrange(64)};"]))
    ways.append(rng.choice(["return 3;", "", "TAIL(0, a, b, c);"]))
    return "\n".join(ways)


def wanted_of(number):
    """How many of its arguments the rules ask for; without debug information that is all that is reported."""
    return (0, 1, 0, 2, 1, 3)[number % 6]


HEAD = """#include <stdio.h>
#define ALONE __attribute__((weak, noinline)) /* callers know nothing of it */
volatile long shared[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static long budget;
static struct { int number; long a, b, c; } pending[4096];
static int npending;
static void reported(int number, long a, long b, long c, long result)
{
	printf("%d %ld %ld %ld %ld\\n", number, a, b, c, result);
}
/* What was called last of all returns first, and all return the same. */
static long returned(int since, int number, long a, long b, long c, long result)
{
	while (npending > since) {
		npending--;
		reported(pending[npending].number, pending[npending].a, pending[npending].b, pending[npending].c, result);
	}
	reported(number, a, b, c, result);
	return result;
}
#define CALL(n, p, q, r) ({ long p_ = p, q_ = q, r_ = r; int since_ = npending; \\
	budget-- > 0 ? (long)returned(since_, n, p_, q_, r_, f##n(p_, q_, r_)) : (long)1; })
#define TAIL(n, p, q, r) do { long p_ = p, q_ = q, r_ = r; if (budget-- <= 0 || npending > 4000) return 2; \\
	pending[npending].number = n; pending[npending].a = p_; pending[npending].b = q_; \\
	pending[npending++].c = r_; return f##n(p_, q_, r_); } while (0)
"""


def make(seed):
    rng = random.Random(seed)
    print(HEAD)
    for n in range(FUNCTIONS):
        body = block(rng, n, 0) if not n or rng.random() < 0.3 else small(rng)
        print(f"ALONE long f{n}(long a, long b, long c)\n{{ long x = b;\n{body}\nreturn {rng.choice(['x', 'x', '0', expression(rng)])}; }}")
    print("int main(void)\n{")
    for _ in range(200):
        print(f"budget = 200; CALL({rng.randrange(FUNCTIONS)}, {rng.randrange(-9, 99)}, {rng.randrange(-9, 99)}, {rng.randrange(9)});")
    print("return 0;\n}")
    with open("functions.dpe", "w") as spec:
        for n in range(FUNCTIONS):
            args = ["", "(a)", "(a, b)", "(a, b, c)"][wanted_of(n)]
            spec.write(f"detect r{n}: f{n}{args}.exit [.ret == 123456789]\n")


def compare(reported, log):
    wanted = []
    for line in open(reported):
        number, *args, result = map(int, line.split())
        wanted.append((number, *args[:wanted_of(number)], result))
    seen = []
    for line in open(log):
        message = json.loads(line)
        if message.get("event", "").endswith(".exit"):
            seen.append((int(message["event"][1:-len(".exit")]), *message.get("args", []), message["ret"]))
    print(len(seen) > 150 and len(seen) == len(wanted), end=" ")
    wrong = [(n, a, b) for n, (a, b) in enumerate(zip(wanted, seen)) if a != b]
    print(len(wrong), *(f"call {n}: {a}, seen {b}" for n, a, b in wrong[:3]))


def locks(reported, log):
    """Each mutex by its address, and how often it was taken, or refused."""
    wanted = {}
    for line in open(reported):
        kind, address, taken, refused = line.split()
        wanted[int(address, 16)] = (int(taken), int(refused))
    seen = {address: [0, 0, 0] for address in wanted}
    for line in open(log):
        message = json.loads(line)
        address = int(str(message["args"][0]), 0) if message.get("args") else 0
        if address in seen and message["event"] == "pthread_mutex_lock.exit":
            seen[address][message["ret"] != 0] += 1
        elif address in seen and message["event"] == "pthread_mutex_unlock.exit":
            seen[address][2] += message["ret"] == 0
    wrong = [f"{address:x}: {wanted[address]}, seen {seen[address]}" for address in wanted
             if seen[address] != [*wanted[address], wanted[address][0]]]
    print(not wrong, *wrong)


if sys.argv[1] == "make":
    make(int(sys.argv[2]))
elif sys.argv[1] == "compare":
    compare(sys.argv[2], sys.argv[3])
else:
    locks(sys.argv[2], sys.argv[3])
