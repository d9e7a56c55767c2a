# dpe race without arguments: what a program says by annotations, of dynamic annotations and tsan_interface.h.
. tests/tap.sh
need_live 'annotations'

cases=$(sed -n 's/^	CASE(\([a-z]*\)),$/\1/p' "$TOP/tests/live/targets/annotations.c")

# judge CASE: the right program has no race, and the wrong one has
judge() {
	run timeout -s KILL 60 "$DPE" race -- ./annotations "$1" right
	says "$1: what annotations say is no race" 0 'nothing found' ' 0 lost'
	run timeout -s KILL 60 "$DPE" race -- ./annotations "$1" wrong
	says "$1: what they do not say is a race" 1 'data race on ' ' 0 lost'
}

gcc -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/annotations.c" -o annotations.o &&
	gcc annotations.o -o annotations -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building annotations'
beside judge $cases
finish
