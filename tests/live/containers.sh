# Accesses of libstdc++ to the nodes of lists and trees are observed.
. tests/tap.sh
need_live 'containers of libstdc++'
for optimised in -O0 -O2; do
	${CXX:-c++} -std=c++17 -D_GNU_SOURCE= -fsanitize=thread -g $optimised -c "$TOP/tests/live/targets/containers.cc" -o containers.o &&
		${CXX:-c++} containers.o -o containers -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building containers'
	for case in list-pop list-insert list-splice list-append list-move map-erase map-insert set-erase set-insert; do
		run "$DPE" race -- ./containers $case
		says "$optimised, $case: under a mutex it is no race, and none is predicted" 0 'nothing found' ' 0 lost'
		run "$DPE" race --no-predict -- ./containers $case wrong
		says "$optimised, $case: without the mutex it is a data race" 1 'data race on ' ' 0 lost'
	done
done
finish
