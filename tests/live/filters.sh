# Programs that let the kernel filter their system calls (seccomp): the libraries make none for which a filter kills them.
. tests/tap.sh
need_live 'filters of system calls'
compile_target filtered
gcc -D_GNU_SOURCE= -g -O1 -fsanitize=thread -c "$TOP/tests/live/targets/filtered.c" -o filtered.o &&
	gcc filtered.o -o filtered-mem -L"$BUILD" -ldpe-mem -Wl,-rpath,"$BUILD" -pthread || not_ok 'building filtered-mem'

for way in late call; do
	for then in exit fill; do
		run "$DPE" deadlock --preload -- ./filtered $way $then
		says "--preload: a program with a filter ($way, $then) runs to its end, and nothing is lost" 0 'exited with status 7' ' 0 lost'
	done
done
for then in exit fill; do
	run "$DPE" race -- ./filtered-mem late $then
	says "libdpe-mem: a program with a filter ($then) runs to its end, and its race is found" 1 'exited with status 7' 'data race on begun'
done
check 'libdpe-mem: a write of which the filter hides the file counts as lost' -n "$(grep ' lost 1 from' err)"
run "$DPE" deadlock --preload -- ./filtered exec exit
says '--preload: a program that begins with a filter runs to its end, and its events count as lost' 3 'exited with status 7' 'unknown threads lost 1'
run "$DPE" race -- ./filtered-mem exec exit
says 'libdpe-mem: a program that begins with a filter runs to its end, and its events count as lost' 3 'exited with status 7' 'unknown threads lost 1'
run ./filtered around "$DPE" deadlock --preload -- ./filtered late exit
says '--preload: a program that has a filter of dpe, too, is observed' 0 'exited with status 7' ' 0 lost'
finish
