# --dynamic: what no rule can make use of yet is left out in the probe; verdicts are the same.
. tests/tap.sh
need_live '--dynamic'
compile_target exact

# observe OPTIONS...: leaves the findings and the number of events
observe() {
	rm -f shared && truncate -s 4096 shared
	"$DPE" run "$@" --all --on-break=continue --format=json -s rules.dpe -- ./exact shared patched 50 2 >out 2>err
	grep -o '"rule":"[A-Z]*".*"params":{[^}]*}' out | sed 's/"event":"[^"]*",//' | sort >found
	events=$(grep -o '"events":[0-9]*' out | tail -1 | cut -d: -f2)
}

# same_found NAME: with and without, and the events of both, in $without and $events
same_found() {
	observe
	mv found wanted_found
	without=$events
	observe --dynamic
	check "$1: something was found, or nothing could be" -s wanted_found -o "$2" = nothing
	same "$1: found as without" found <wanted_found
}

printf 'detect S(i): begin(i) [i == 40];patched(i)\n' >rules.dpe
same_found 'a condition on the first event'
printf 'detect S: left;patched;patched\n' >rules.dpe
same_found 'the first event never comes' nothing
check 'so nothing is observed' "$without $events" = '50 0'
printf 'detect S: left;patched;patched\nexpect E: (begin;patched)*\n' >rules.dpe
same_found 'what another rule wants is observed'
check 'all of it' "$events" = "$without"
printf 'detect S(i): begin(i);patched(i)\ndetect T(i): begin(i) & patched(i) observing left\n' >rules.dpe
same_found 'both may be first'
finish
