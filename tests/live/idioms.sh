# dpe race without arguments, for ways in which threads order what they do, and wrong twins of them.
. tests/tap.sh
need_live 'idioms of threads'

# found: the variables of wrong cases that races are reported on, and functions that free
found() {
	sed -n 's/^#[0-9]* \(predicted \)*data race on \(wrong_[a-z_]*\):.*/\2/p; s/^ .*[ab][ty] \(wrong_drop\|wrong_map_over\|wrong_move\)+.*/\1/p' err | sort -u
}
cat >expected <<'X'
wrong_beside_call_once
wrong_beside_once
wrong_cancelled_wait_count
wrong_drop
wrong_failed_wide
wrong_fence_of_other
wrong_in_another_order
wrong_late_mutex
wrong_late_rwlock
wrong_map_over
wrong_move
wrong_unfenced
wrong_wide_count
X

# cases COMPILER
cases() {
	"$1" -fsanitize=thread -g -O1 -fno-inline -c "$TOP/tests/live/targets/idioms.c" -o "$1.o" &&
		"$1" "$1.o" -o "$1" -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -latomic || not_ok "building $1"
	for i in 1 2 3; do
		run timeout -s KILL 120 "$DPE" race -- ./"$1" right
		says "$1: ordered accesses are no race, run $i" 0 'nothing found' ' 0 lost'
	done
	run timeout -s KILL 120 "$DPE" race -- ./"$1" wrong
	found >named
	same "$1: the race of each wrong case is found" named <expected
	check "$1: wrong cases give exit status 1, and no event is lost" "$status $(grep -c ' 0 lost' err)" = '1 1'
}
# logs COMPILER
logs() {
	run "$DPE" record -s predicted_race.dpe -s ipc.dpe -o "$1.jsonl" -- ./"$1" right_count
	run "$DPE" convert "$1.jsonl" "$1.dpel"
	run "$DPE" convert --stabilize "$1.dpel" "$1-ordered.jsonl"
	for log in "$1.jsonl" "$1.dpel" "$1-ordered.jsonl"; do
		run "$DPE" replay -s predicted_race.dpe -s ipc.dpe "$log"
		says "$log: what depends on a read that is not reported is not predicted from a log" 0 'nothing found' ' 0 lost'
	done
}
cases gcc
cases clang
logs gcc
logs clang
sed '1s/,"omits_reads":true//' clang.jsonl >unmarked.jsonl
run "$DPE" replay -s predicted_race.dpe -s ipc.dpe unmarked.jsonl
says 'a log of clang without the header that says so: it is predicted' 1 'predicted data race'
check 'a log of a program that gcc compiled lacks no reads' "$(head -1 gcc.jsonl)" = '{"dpe_log":1,"ordered":true}'
finish
