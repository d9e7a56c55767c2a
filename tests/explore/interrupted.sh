# Explorations that a signal ends, and signals of the program to others.
. tests/tap.sh

explored=$BUILD/explored
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/signals.c" -o signals || not_ok "compiling signals.c"
begun=$folder/begun
mkfifo "$begun"

# ---- from a terminal ----
run timeout 60 python3 "$TOP/tests/explore/ctrl_c.py" "$begun" "$DPE" explore --runs=9 -- ./signals "$begun"
says "Ctrl-C during a run: the report is of the runs before it, and inconclusive" 3 "interrupted before run 3 of 9; another --seed makes other runs" \
	"explore: 2 runs, portfolio, seed 1: nothing found"
check "Ctrl-C during a run: the run has ended" -z "$(pgrep -f "^./signals $begun")"
# A shell that is about to start a command notices the signal once that ends, so each is short.
run timeout 60 python3 "$TOP/tests/explore/ctrl_c.py" "$begun" "$DPE" explore --setup=': >begun; while :; do sleep 0.1; done' -- ./signals
says "Ctrl-C during --setup ends the exploration as well" 3 "interrupted before run 1 of 10000" "explore: 0 runs"

# ---- at a given run ----
# until RUN SIGNAL: a command for --setup that sends dpe the signal before this run; shorter schedules are sought by runs, too
until_run() {
	echo "echo >>setups; test \$(wc -l <setups) -ne $1 || kill -$2 \$PPID"
	rm -f setups
}

for signal in TERM HUP INT; do
	run env --default-signal=$signal "$DPE" explore --strategy=dfs-full --setup="$(until_run 5 $signal)" -- "$explored/ab-ba-fixed"
	says "SIG$signal ends the exploration" 3 "interrupted before run 5 of 10000" "explore: 4 runs, dfs-full, seed 1: nothing found"
done
run "$DPE" explore -- "$explored/three-way-cycle"
found=$(sed -n 's/^explore: run \([0-9]*\) .*/\1/p' err)
run "$DPE" explore --keep-going --setup="$(until_run $((found + 1)) TERM)" -- "$explored/three-way-cycle"
says "interrupted before its schedule is tried again, a finding is reported" 1 "explore: run $found of 10000: deadlock (3 threads)" \
	"left when minimising was interrupted, not tried again" "interrupted before run $((found + 1)) of 10000" "1 finding"
run "$DPE" explore --setup="$(until_run $((found + 3)) TERM)" -- "$explored/three-way-cycle"
says "interrupted while its schedule is minimised, a finding is reported" 1 "explore: run $found of 10000: deadlock (3 threads)" \
	"left when minimising was interrupted"
check "… and it is known to lead there" -z "$(grep 'tried again\|before run' err)"
run "$DPE" explore --replay=found.schedule -- "$explored/three-way-cycle"
says "the schedule found when it was interrupted leads to the finding" 1 "replay of found.schedule: deadlock (3 threads)"

# ---- the program's own signals ----
run "$DPE" explore --runs=3 --allow-unobserved -- ./signals group
says "a signal that the program sends to its process group reaches neither dpe nor other runs" 0 "nothing found"

# ---- what a run leaves ----
# The FIFO ends when no child is left.
(timeout 60 cat "$begun" >bytes; echo $? >ended) &
run "$DPE" explore --runs=1 --run-seconds=1 -- ./signals forks "$begun"
says "a run that waits for ever with a child is ended" 3 "1 run created processes" "1 run did not end in time"
wait
check "processes that a run created end with a run that dpe ends" "$(cat ended)$(wc -c <bytes)" -eq 01
finish
