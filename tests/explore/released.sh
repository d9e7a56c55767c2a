# In programs that do not report their accesses, the code after a call that releases another thread runs before or after that
# thread's code.
. tests/tap.sh

${CC:-cc} -g -O0 "$TOP/tests/explore/targets/released.c" -o released -pthread || not_ok "compiling released.c"

# ends STATUS... -- ARGUMENT...: all runs end with one of these statuses, and each status comes
ends() {
	statuses=
	while test "$1" != --; do
		statuses="$statuses$1 "
		shift
	done
	shift
	run "$DPE" explore --runs=100 --keep-going --fails=0-255 -- ./released "$@"
	seen=$(sed -n 's/^explore: run .*: exit status \([0-9]*\) .*/\1/p' err | sort -u | tr '\n' ' ')
	says "$*: the first run ends with an exit status" 1 "explore: run 1 of 100: exit status"
	check "$*: the runs have all expected exit statuses and no others" "$seen" = "$statuses"
	check "$*: exit statuses are the only findings" -z "$(grep '^explore: run' err | grep -v 'exit status')"
}

for how in create unlock signal broadcast post rwlock spin barrier once futex cancel kill; do
	ends 0 1 -- $how
	ends 1 -- $how first
done
run "$DPE" explore --fails=0 -- ./released unlock
says "unlock: exit status 0 needs a single choice" 1 "1 of them matters"
check "unlock: the choice in the schedule is at pthread_mutex_unlock.exit" -n "$(grep 'pthread_mutex_unlock.exit .mutex. release' found.schedule)"
run "$DPE" explore --fails=0 --replay=found.schedule -- ./released unlock
says "unlock: the replay has exit status 0" 1 "exit status 0"
finish
