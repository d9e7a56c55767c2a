# What libstdc++ does to the nodes of lists and trees is seen.
. tests/tap.sh
need_live 'containers'
for optimised in -O0 -O2; do
	${CXX:-c++} -std=c++17 -D_GNU_SOURCE= -fsanitize=thread -g $optimised -c "$TOP/tests/live/targets/containers.cc" -o containers.o &&
		${CXX:-c++} containers.o -o containers -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building containers'
	for case in list-pop list-insert list-splice list-move map-erase map-insert set-erase set-insert; do
		run "$DPE" race --no-predict -- ./containers $case
		says "$optimised, $case: with the mutex" 0 'nothing found' ' 0 lost'
		run "$DPE" race --no-predict -- ./containers $case wrong
		says "$optimised, $case: without it" 1 'data race on ' ' 0 lost'
	done
done
finish
