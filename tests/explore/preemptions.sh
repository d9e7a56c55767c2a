# Bugs that need two or more preemptions: with one less, dfs explores everything and finds nothing.
. tests/tap.sh

# needs PREEMPTIONS PROGRAM...
needs() {
	preemptions=$1
	shift
	for program; do
		run "$DPE" explore --strategy=dfs:$((preemptions - 1)) --runs=100000 -- "$BUILD/explored/$program"
		says "$program: nothing is found with fewer than $preemptions preemptions" 0 "all behaviours with at most"
		run "$DPE" explore --strategy=dfs:$preemptions --runs=100000 -- "$BUILD/explored/$program"
		says "$program: the bug is found with $preemptions preemptions" 1 "of them matter"
	done
}

needs 2 after-you alternation bakery borrowed-pointer dekker-returns descriptor-reuse fischer flag-lock hyman idle-workers \
	lamport-fast lazy-lock peterson-order reader-count reader-writer-flags semaphore-by-hand steal-race stop-flag \
	treiber-free unlocked-thief
needs 3 double-collect late-reset
needs 4 leapfrog lowest-count
finish
