# dpe is killed at any moment, and nobody waits for it: what waits for it in the target, in the kernel or in the library, continues.
. tests/tap.sh
need_live 'targets of a dpe that is killed'
compile_target beats

# grown: each of the target's counters has grown by 20 since `before` was written
grown() {
	paste before beats.out | awk '{ good += $2 >= $1 + 20 } END { exit good < 3 }'
}

locked() {
	paste before beats.out | awk 'NR == 1 { print $2 - $1 }'
}

started() {
	awk '{ good += $1 >= 3 } END { exit good < 3 }' beats.out
}

# Its threads load libraries, and make processes that begin programs, each of which waits until dpe has put its probes in.
for options in '' --follow; do
	for i in 1 2 3; do
		rm -f beats.out
		"$DPE" deadlock $options -- ./beats beats.out >killed.out 2>killed.err &
		dpe=$!
		await started
		kill -9 $dpe
		cp beats.out before
		await grown
		check "dpe ${options:+$options }is killed, $i: each thread continues" $? -eq 0
		check "dpe ${options:+$options }is killed, $i: no thread waits while another one locks 10,000 times" "$(locked)" -lt 10000
		kill -9 "$(tail -n 1 beats.out)"
		wait $dpe 2>/dev/null
	done
done

# The library waits for room in its rings, but not for a dpe that has ended, whose parent has not waited for it. Each look at that is
# a sleep.
cat >writer.c <<'X'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
	char line[128];
	FILE *status;

	puts("begun");
	fflush(stdout);
	while (access("killed", F_OK))
		;
	for (long i = 0; i < 3000000; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, "voluntary", 9))
			puts(line);
	return 0;
}
X
gcc -fsanitize=thread -g -O1 -c writer.c -o writer.o && gcc writer.o -o writer -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building writer.c'
sh -c '"$1" race -- ./writer >writer.out 2>writer.err & echo $! >dpe.pid; exec sleep 1000' sh "$DPE" &
parent=$!
await grep -q begun writer.out
kill -9 "$(cat dpe.pid)"
await grep -q '^State:.*Z' "/proc/$(cat dpe.pid)/status"
: >killed
await grep -q voluntary writer.out
check 'the target does not wait for a dpe that is a zombie' "$(sed -n 's/^voluntary.*:[^0-9]*//p' writer.out)" -lt 20000
kill $parent

# dpe is killed while the kernel puts in or takes out many probes, which the target sees in its own text: none is left.
compile_target own_text
functions=$(seq 101 499 | sed 's/.*/ + f&/')
mkfifo id
for moment in 'puts in' 'takes out'; do
	for i in 1 2; do
		./own_text $(test "$moment" = 'puts in' || echo taken) <id >text.out &
		target=$!
		exec 3>id
		await grep -q begun text.out
		"$DPE" attach -e "detect never: f100 ; (f100$(echo $functions))" -p $target 2>text.err &
		dpe=$!
		echo $dpe >&3
		exec 3>&-
		await grep -q whole text.out
		check "dpe is killed while the kernel $moment probes, $i: none is left" "$(tail -n 1 text.out)" = whole
		kill -9 $target 2>/dev/null
		wait $target $dpe 2>/dev/null
	done
done
finish
