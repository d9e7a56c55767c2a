# dpe race without arguments: accesses by functions of the C library, and messages that order threads.
. tests/tap.sh
need_live 'races on memory in functions of the C library'

# build NAME FILE OPTION...: the program, compiled to report accesses
build() {
	name=$1
	shift
	gcc -fsanitize=thread -g -O1 -c "$@" -o "$name.o" &&
		gcc "$name.o" -o "$name" -pthread -L"$BUILD" -Wl,-rpath,"$BUILD:$PWD" -ldpe-mem $with || not_ok "building $name"
}
with= # what it is linked with, too

# ---- a larger program of C++ -----------------------------------------------------------------
if ${CXX:-g++} -std=c++17 -g -O1 -fsanitize=thread -c "$TOP/tests/live/targets/memory.cc" -o cplusplus.o &&
	${CXX:-g++} cplusplus.o -o cplusplus -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem; then
	for i in 1 2; do
		run timeout -s KILL 240 "$DPE" race -- ./cplusplus
		says "C++: the correct program has no race, run $i" 0 ' 0 lost' 'nothing found'
	done
	run timeout -s KILL 240 "$DPE" race -- ./cplusplus broken
	says 'C++: the race of the wrong program is found' 1 'push' ' 0 lost'
fi

# ---- what functions of the C library read and write ---------------------------------------------
build libc "$TOP/tests/live/targets/libc.c" -D_GNU_SOURCE= -fno-builtin
./libc list | sort >functions
check 'the program calls at least 184 functions of the C library' "$(lines functions)" -ge 184
run "$DPE" race -- ./libc
sed -n 's/^ .* call_\([a-z]*\)+.*/\1/p' err | grep -vx all | sort -u >found
same 'a race is found in each function of the C library' found <functions
run "$DPE" race -- ./libc locked
says 'functions of the C library under a lock have no race' 0 'nothing found' ' 0 lost'
cat >shared.c <<'END'
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <time.h>
static int locked, counter;
__attribute__((noinline)) static void ask(time_t now)
{
	ctime(&now);
	getpwuid(0);
}
static void *act(void *none)
{
	if (!locked)
		return ask(0), none;
	flockfile(stdout);
	counter++;
	funlockfile(stdout);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];

	locked = argc > 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, act, argv);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
build shared shared.c
run "$DPE" race -- ./shared
says 'the results of ctime and getpwuid are memory of all threads' 1 '#2 data race on ' 'at ask+' ' 0 lost'
run "$DPE" race -- ./shared locked
says 'funlockfile is before a later flockfile' 0 'nothing found' ' 0 lost'

cat >stream.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static FILE *file;
static atomic_int used;
static void *act(void *how)
{
	if (*(char *)how == 'r')
		getc(file);
	else if (*(char *)how == 'd')
		write(fileno(file), "text", 4);
	else
		fputs("text", file);
	atomic_store_explicit(&used, 1, memory_order_relaxed);
	return how;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	file = tmpfile();
	pthread_create(&thread, NULL, act, argv[1]);
	if (argc > 2)
		pthread_join(thread, NULL);
	while (!atomic_load_explicit(&used, memory_order_relaxed))
		;
	if (argv[1][0] == 'd')
		return dup2(1, fileno(file)) < 0;
	return fclose(file);
}
END
build stream stream.c
for how in read write; do
	run "$DPE" race -- ./stream $how
	says "fclose after a $how that it does not follow is a race" 1 'at act+' 'at main+' ' 0 lost'
	run "$DPE" race -- ./stream $how join
	says "fclose after a $how that it follows is none" 0 'nothing found' ' 0 lost'
done
run "$DPE" race -- ./stream dup2
says 'dup2 to a descriptor after a use that it does not follow is a race' 1 'at act+' 'at main+' ' 0 lost'
run "$DPE" race -- ./stream dup2 join
says 'dup2 to a descriptor after a use that it follows is none' 0 'nothing found' ' 0 lost'
# A newer C library has these, which headers make of strtol and sscanf.
cat >newer.c <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
long __isoc23_strtol(const char *text, char **end, int base)
{
	return strtol(text, end, base);
}
int __isoc23_vsscanf(const char *text, const char *format, va_list arguments)
{
	return vsscanf(text, format, arguments);
}
END
cat >c23.c <<'END'
#include <pthread.h>
long __isoc23_strtol(const char *text, char **end, int base);
int __isoc23_sscanf(const char *text, const char *format, ...);
static char text[] = "1", found[] = "1";
static void *call(void *none)
{
	return __isoc23_strtol(text, 0, 10) + __isoc23_sscanf("7", "%1c", found) == 2 ? none : 0;
}
int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_create(&thread, 0, call, argv);
	text[0] = '2';
	found[0] = '3';
	pthread_join(thread, 0);
	return argc > 1;
}
END
gcc -fPIC -shared newer.c -o libnewer.so || not_ok 'building libnewer.so'
with='-Wl,--no-as-needed ./libnewer.so'
build c23 c23.c
with=
run "$DPE" race -- ./c23
says 'the functions of C23 that read numbers and formats are known' 1 'data race on text' 'data race on found' ' 0 lost'

# ---- messages -----------------------------------------------------------------------------------
# ordered HOW: the message orders what comes before it and after it
ordered() {
	run "$DPE" race -- ./$program "$1"
	says "$program, $1: the message orders accesses of threads" 0 'nothing found' ' 0 lost'
}

# ordered_or_late HOW: and no access that is repeated after it
ordered_or_late() {
	ordered "$1"
	run "$DPE" race -- ./$program "$1" late
	says "$program, $1: an access repeated after the message is a race" 1 'data race on ' ' 0 lost'
}
build pipes "$TOP/tests/live/targets/pipes.c" -D_GNU_SOURCE=
program=pipes
beside ordered udp eventfd epoll handler
beside ordered_or_late pipe socket stream tcp 'end of a pipe' 'end of a socket' 'end of a stream' 'end of a tcp' signal interrupt \
	'poll of a pipe' 'select of a pipe' 'poll of a socket' 'poll of a tcp' 'poll of a end of a pipe' 'poll of a stream' \
	'epoll of a pipe' 'epoll of a socket' 'epoll of a tcp' 'epoll of a end of a pipe' 'epoll of a stream' 'epoll of a eventfd'
build transfers "$TOP/tests/live/targets/transfers.c"
program=transfers
beside ordered_or_late 'sendmmsg of datagrams' recvmmsg sendfile splice 'splice to a file' vmsplice 'sendmsg to a port' 'sendmmsg to a port' semop 'a timer'

# ---- forked children ----------------------------------------------------------------------------
cat >forked.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int counter;
static void *act(void *none)
{
	counter++;
	return none;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	pid_t child = fork();

	for (int i = 0; !child && argc > 1 && i < 2; i++)
		pthread_create(&threads[i], NULL, act, argv);
	for (int i = 0; !child && argc > 1 && i < 2; i++)
		pthread_join(threads[i], NULL);
	counter++;
	return child && wait(NULL) != child;
}
END
build forked forked.c
run "$DPE" race -- ./forked
says 'a forked child with one thread is no loss' 0 'nothing found' ' 0 lost'
run "$DPE" race -- ./forked threads
says 'a forked child that creates threads is one loss' 3 'inconclusive' ' 1 lost' 'unknown threads lost 1'

finish
