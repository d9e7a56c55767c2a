# Each event has the name that its thread has at that time, also if another thread sets it.
. tests/tap.sh
need_live 'names of threads'
compile_target comms

# names LOG: the number of its events of step, and how many of them have the wrong name of the thread.
names() {
	awk -F'"' '/"step.exit"/ {
		comm = $0; sub(/.*"comm":"/, "", comm); sub(/".*/, "", comm)
		number = $0; sub(/.*"args":\[/, "", number); sub(/\].*/, "", number)
		all++; wrong += comm != "w" number
	} END { print all + 0, wrong + 0 }' "$1"
}

echo 'detect all: step(n).exit [.tid == 0] ; step(n).enter [.tid == 0]' >step.dpe
for stack in '' --stack=0; do
	run "$DPE" record $stack -o log.jsonl -s step.dpe -- ./comms 4 2000
	check "each event has the name of its thread at that time $stack" "$(names log.jsonl)" = '8000 0'
done
run "$DPE" record --ring=4096 --stack=0 -o log.jsonl -s step.dpe -- ./comms 4 50000
check 'events have the right names of threads where others are lost' "$(names log.jsonl | sed 's/^[1-9][0-9]* //')" = 0
check 'a ring of 4096 bytes loses some of the events' "$(grep -c ' 0 lost' err)" = 0

echo 'detect all(n): odd(n) { print(n, $1.comm); }' >odd.dpe
run "$DPE" run --all --follow -s odd.dpe -- ./comms 1 1
check 'thread names that are empty, inherited, of 15 letters, or set by an exec are reported' "$(grep '^all: ' err | sort | tr '\n' ';')" = \
	'all: 0 ;all: 0 a parent;all: 0 fifteen letters;all: 1 comms;all: 2 a parent;'
finish
