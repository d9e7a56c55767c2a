# Functions of the C library access memory as the program's own code does.
. tests/tap.sh

${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/strings.c" -o strings.o &&
	${CC:-cc} strings.o -o strings -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling strings.c"

for strategy in dfs delay; do
	for name in memcpy memmove memset strcpy strncpy; do
		run "$DPE" explore --strategy=$strategy --runs=1000 -- ./strings $name
		says "$strategy switches threads at the accesses of $name" 1 "exit status 1, and 0 in the first run"
	done
	run "$DPE" explore --strategy=$strategy --runs=1000 -- ./strings freed
	says "$strategy finds memcmp of freed memory" 1 "use of freed memory" "at compare_heap"
done
finish
