# dpe race of a program that reports its accesses, with a library that does not: what the library hands over is ordered by its locks.
. tests/tap.sh
need_live 'code that reports no accesses'
targets=$TOP/tests/live/targets
${CC:-cc} -g -O1 -shared -fPIC "$targets/mailbox.c" -o libmailbox.so -pthread || not_ok 'building the library'
for compiler in gcc clang; do
	$compiler -g -O1 -fsanitize=thread -c "$targets/mailbox_user.c" -o user.o &&
		$compiler user.o -o $compiler -pthread -L. -lmailbox "-Wl,-rpath,.:$BUILD" -L"$BUILD" -ldpe-mem || not_ok "building with $compiler"
done

for kind in mutex try rwlock spin wait; do
	run "$DPE" race -- ./gcc $kind
	says "an object that a library hands over under a lock ($kind) is in no race, not even a predicted one" 0 'nothing found' ' 0 lost'
done
run "$DPE" race -- ./clang mutex
says 'the same compiled by clang' 0 'nothing found' ' 0 lost'
run "$DPE" race -- ./gcc mutex racy
says 'a race between which only a lock of the program lies is reported' 1 'data race on between' ' 0 lost'
