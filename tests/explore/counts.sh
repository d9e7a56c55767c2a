# As many schedules are explored as a program of a few lines counts.
. tests/tap.sh

# counts PROGRAM STATUS
counts() {
	counted=$(python3 "$TOP/tests/explore/counts.py" "$1")
	run "$DPE" explore --strategy=delay --keep-going -- ./counted "$1"
	says "$1: all $counted schedules" "$2" "all $counted schedules explored"
}

${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/counted.c" -o counted || not_ok "compiling counted.c"
counts one-lock 0
counts semaphore 0
counts detached 0
counts ab-ba 1
check "ab-ba: its deadlock is reported once" "$(grep -c 'deadlock (2 threads)   found' err)" -eq 1
check "ab-ba: how often it was seen" -n "$(grep 'times: deadlock' err)"
finish
