# OpenMP with libgomp: its waits are operations, so bugs are found, and their schedules lead there again.
. tests/tap.sh

${CC:-cc} -g -O1 -fopenmp -fsanitize=thread -c "$TOP/tests/explore/targets/openmp.c" -o openmp.o &&
	${CC:-cc} openmp.o -o openmp -fopenmp -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling openmp.c"
${CC:-cc} -g -O1 -fopenmp "$TOP/tests/explore/targets/openmp.c" -o plain || not_ok "compiling openmp.c by itself"

# found HOW FINDING: explore has the finding, each replay has it again, and the correct variant has none
found() {
	run "$DPE" explore --runs=1000 -- ./openmp "$1"
	says "$1: the bug is found" 1 "$2" "of them matter"
	check "$1: the wrong variant is fully controlled" -z "$(grep 'not controlled' err)"
	for replay in 1 2 3; do
		run "$DPE" explore --replay=found.schedule -- ./openmp "$1"
		says "$1: replay $replay has the same finding" 1 "replay of found.schedule: $2"
		check "$1: replay $replay does not differ from the schedule" -z "$(grep 'differs\|not controlled' err)"
	done
	run "$DPE" explore --runs=100 -- ./openmp "$1" fixed
	says "$1: the correct variant has no finding" 0 "nothing found"
	check "$1: the correct variant is fully controlled" -z "$(grep 'not controlled' err)"
}

for how in update barrier loop task ordered blocking; do
	found $how "death by signal 6"
done
found locks "deadlock (2 threads)"
run "$DPE" explore --runs=100 -- ./plain locks
says "a deadlock of OpenMP locks is found without reports of accesses" 1 "deadlock (2 threads)" "thread 2 waits in futex_wait.exit of" "at locks._omp_fn.0+"
run "$DPE" explore --runs=100 -- ./plain locks fixed
says "correct OpenMP locks have no finding without reports of accesses" 0 "nothing found"
check "correct OpenMP locks are fully controlled without reports of accesses" -z "$(grep 'not controlled' err)"
finish
