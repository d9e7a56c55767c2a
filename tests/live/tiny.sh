# The command of `make TINY=1`, whose limits are 2 or 3, with reservations in rings and updates of maps that fail:
# losses are reported, and no verdict is wrong.
. tests/tap.sh
need_live 'tiny limits, live'
TINY=${DPE_TINY:-$TOP/build-tiny/dpe}
if test ! -x "$TINY" && test "${DPE_LIVE:-}" != require; then
	echo "ok - tiny limits, live # skip $TINY was not built: make TINY=1"
	finish
fi
compile_target follow
printf 'include "pthread.dpe"\ndetect race: enqueue() & dequeue()\n' >race.dpe
printf 'detect step(x): step(x) ; step(x)\n' >twice.dpe
inconclusive=0
errors=0

# sound NAME STATUS [VARIABLE=N]... COMMAND...: the exit status is STATUS, inconclusive with reported losses, or an error
sound() {
	name=$1
	right=$2
	shift 2
	run timeout 120 env "$@"
	case $status in
	3) inconclusive=$((inconclusive + 1)) && says "$name: inconclusive, with reported losses" 3 ' lost' ;;
	2) errors=$((errors + 1)) && says "$name: an error about memory" 2 'error: ' 'Cannot allocate memory' ;;
	*) gives "$name: exit status $right" "$right" ;;
	esac
}

for fails in RESERVATION=0 RESERVATION=1 RESERVATION=3 UPDATE=1 UPDATE=7; do
	sound "the race of the broken program, $fails" 1 DPE_FAIL_$fails "$TINY" run -s race.dpe -- "$BUILD/examples/producer-consumer-broken"
	sound "the correct program has no race, $fails" 0 DPE_FAIL_$fails "$TINY" run -s race.dpe -- "$BUILD/examples/producer-consumer"
	sound "followed processes have no match, $fails" 0 DPE_FAIL_$fails "$TINY" run --follow -s twice.dpe -- ./follow fork
done
# Where an argument is in memory cannot be looked up while the mappings change: at the return it is tried again.
cat >locks.c <<'EOT'
#include <pthread.h>
int main(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
}
EOT
${CC:-cc} -O0 -pthread locks.c -o locks || not_ok 'building locks'
look_up() {
	run timeout 120 env DPE_FAIL_PLACE=$1 "$TINY" run --follow -e 'expect locks(m): pthread_mutex_lock(m).exit*' -- ./locks
}
unplaced='threads or observers were changing the memory mappings'
look_up 2
check 'every second look-up of an argument fails: no return is lost' "$(grep -c "$unplaced" err) $(grep -c ' events, 0 lost' err)" = '0 1'
look_up 1
says 'every look-up of an argument fails: returns are lost, with the cause' 3 " events are lost: $unplaced"
sound 'the race of the broken program, with --preload' 1 "$TINY" run --preload -s race.dpe -- "$BUILD/examples/producer-consumer-broken"
sound 'the correct program has no race, with --preload' 0 "$TINY" run --preload -s race.dpe -- "$BUILD/examples/producer-consumer"
tiny=${TINY%/*}
gcc -D_GNU_SOURCE= -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/pipes.c" -o pipes.o &&
	gcc pipes.o -o pipes -pthread -L"$tiny" -Wl,-rpath,"$tiny" -ldpe-mem || not_ok 'building pipes'
sound 'more descriptors in an epoll than dpe remembers are no race' 0 "$TINY" race --no-predict -- ./pipes 'epoll of a pipe'
# That many calls are few in this build.
for option in '' --preload; do
	run timeout 120 "$TINY" run $option -s race.dpe -- "$BUILD/examples/producer-consumer"
	test -z "$option" && wanted=1 || wanted=0
	check "run $option: what probes on many thread functions cost is reported $wanted times" \
		"$(grep -c 'note: 3 events of thread functions in .*: --preload observes them' err)" = $wanted
done
check 'at least 4 runs are inconclusive' "$inconclusive" -ge 4
check 'at least 2 runs have an error about memory' "$errors" -ge 2
finish
