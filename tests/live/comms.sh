# What threads are called at each event, anybody who changes that.
. tests/tap.sh
need_live 'names of threads'
compile_target comms

# How many events of step there are in the log, and how many have another name than their number says.
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
	check "each event has its thread's name $stack" "$(names log.jsonl)" = '8000 0'
done
run "$DPE" record --ring=4096 --stack=0 -o log.jsonl -s step.dpe -- ./comms 4 50000
check 'and where events are lost' "$(names log.jsonl | sed 's/^[1-9][0-9]* //')" = 0
check 'which some are' "$(grep -c ' 0 lost' err)" = 0

echo 'detect all(n): odd(n) { print(n, $1.comm); }' >odd.dpe
run "$DPE" run --all --follow -s odd.dpe -- ./comms 1 1
check 'odd names' "$(grep '^all: ' err | sort | tr '\n' ';')" = \
	'all: 0 ;all: 0 a parent;all: 0 fifteen letters;all: 1 comms;all: 2 a parent;'
finish
