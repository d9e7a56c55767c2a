# --dynamic: the probe leaves out events that no rule can use yet; verdicts are the same.
. tests/tap.sh
need_live '--dynamic'
compile_target exact

# observe OPTIONS...: leaves the findings in the file "found", and the number of events in $events
observe() {
	rm -f shared && truncate -s 4096 shared
	"$DPE" run "$@" --all --on-break=continue --format=json -s rules.dpe -- ./exact shared patched 50 2 >out 2>err
	grep -o '"rule":"[A-Z]*".*"params":{[^}]*}' out | sed 's/"event":"[^"]*",//' | sort >found
	events=$(grep -o '"events":[0-9]*' out | tail -1 | cut -d: -f2)
}

# same_found NAME [nothing]: with --dynamic and without it, there are the same findings, or nothing can be found;
# the numbers of events are in $events and $without
same_found() {
	observe
	mv found wanted_found
	without=$events
	observe --dynamic
	check "$1: the run without --dynamic has findings, unless none are expected" -s wanted_found -o "$2" = nothing
	same "$1: --dynamic has the same findings as a run without it" found <wanted_found
}

printf 'detect S(i): begin(i) [i == 40];patched(i)\n' >rules.dpe
same_found 'a condition on the first event'
printf 'detect S: left;patched;patched\n' >rules.dpe
same_found 'a first event that never occurs' nothing
check '--dynamic observes no event after a first event that never occurs' "$without $events" = '50 0'
printf 'detect S: left;patched;patched\nexpect E: (begin;patched)*\n' >rules.dpe
same_found 'events that another rule needs'
check '--dynamic observes all events that another rule needs' "$events" = "$without"
printf 'detect S(i): begin(i);patched(i)\ndetect T(i): begin(i) & patched(i) observing left\n' >rules.dpe
same_found 'two events, each of which may be the first'
finish
