# Variables of the specification with one value for each value of a rule's variables.
. tests/tap.sh

cat >kept.dpe <<'END'
var length(q), puts(q, T), total;

expect count(q): (put(q) { length++; total++; } + get(q) { length--; })*
detect overflow(q): put(q) [length > 2]
expect each(q, T): (put(q) by T { puts = puts + 1; print(q, T, puts, length, total); })*
END
run "$DPE" fmt --check kept.dpe
gives 'dpe fmt leaves var with keys unchanged' 0
run "$DPE" check --dump=resolved kept.dpe
check 'the resolved dump shows the keys of each variable' "$(grep -c '^var length(q) = 0$\|^var puts(q, T) = 0$\|^var total = 0$\|puts(q, T) = (puts(q, T) + 1)' out)" -eq 4

# Two queues with one element each are not one with two.
cat >queues.jsonl <<'END'
{"event":"put","thread":1,"args":["a"]}
{"event":"put","thread":1,"args":["b"]}
{"event":"put","thread":1,"args":["a"]}
{"event":"put","thread":1,"args":["a"]}
{"event":"get","thread":1,"args":["b"]}
{"event":"get","thread":1,"args":["a"]}
{"event":"put","thread":1,"args":["a"]}
END
run "$DPE" replay -s kept.dpe queues.jsonl
says 'a variable for each queue finds only the queue that overflows' 1 'overflow: match' 'where q = "a"' ': 2 matches'

# Random logs: each overflow and each printed value, computed independently.
cat >compare.py <<'END'
import json, random, subprocess, sys
dpe, rng, bad = sys.argv[1], random.Random(7), 0
for _ in range(40):
    log, length, puts, over, lines, total = [], {}, {}, [], [], 0
    for number in range(rng.randint(1, 60)):
        event, queue, thread = rng.choice(["put", "put", "get"]), rng.choice(["a", "b", 1, 2]), rng.randint(1, 3)
        log.append({"event": event, "id": str(number), "pred": [str(number - 1)] if number else [],
                    "thread": thread, "args": [queue]})
        length[queue] = length.get(queue, 0) + (1 if event == "put" else -1)
        if event == "get":
            continue
        total += 1
        puts[queue, thread] = puts.get((queue, thread), 0) + 1
        over += [queue] * (length[queue] > 2)
        lines.append(f"{queue} {thread} {puts[queue, thread]} {length[queue]} {total}")
    with open("random.jsonl", "w") as out:
        for message in log:
            print(json.dumps(message), file=out)
    run = subprocess.run([dpe, "replay", "--format=json", "-s", "kept.dpe", "random.jsonl"], capture_output=True, text=True)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    matches = [f["params"]["q"] for f in found if f.get("verdict") == "match"]
    printed = [f["text"].removeprefix("each: ") for f in found if f["type"] == "print"]
    if matches != over or printed != lines:
        bad += 1
        print(matches, over, printed, lines, run.stderr, file=sys.stderr)
print(bad)
END
run python3 compare.py "$DPE"
check 'variables with keys have the values computed independently, in 40 random logs' "$(cat out)" = 0

# wrong TEXT ERROR: the specification is refused with these words
wrong() {
	printf '%s\n' "$1" >wrong.dpe
	run "$DPE" check wrong.dpe
	says "dpe check refuses: $1" 2 "$2"
}
wrong 'var n(q); expect x(y): put(y) { n = 1; }' "'n' has a value for each 'q', and this rule has no variable of that name"
wrong 'var n(a, b, c, d); expect x(y): put(y)' 'a `var` has at most 3 variables of a rule'
wrong 'var n(; expect x(y): put(y)' 'unexpected'
finish
