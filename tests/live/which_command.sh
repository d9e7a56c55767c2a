# docs/which-command.md: each row's command, on a program that has the problem.
. tests/tap.sh
need_live 'which command for which problem'
compile_target long_waits
compile_target deadlocks
${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/predicted.c" -o predicted || not_ok 'compiling predicted.c'
${CC:-cc} -g -O1 -fsanitize=thread -c "$TOP/tests/explore/targets/raced.c" -o raced.o &&
	${CC:-cc} raced.o -o raced -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'compiling raced.c'
command -v "${CXX:-g++}" >path || {
	echo 'ok - which command for which problem # skip there is no C++ compiler'
	exit 0
}
source=$TOP/tests/live/targets/which_command.cc
"${CXX:-g++}" -g -O1 -pthread "$source" -o tasks || not_ok 'compiling which_command.cc'
"${CXX:-g++}" -g -O1 -pthread -fsanitize=thread -c "$source" -o compiled.o &&
	"${CXX:-g++}" compiled.o -o compiled -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'compiling it for dpe race'
export DPE BUILD
python3 "$TOP/tests/live/which_command.py" "$TOP/docs/which-command.md" || failures=$((failures + 1))
finish
