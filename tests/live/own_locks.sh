# Programs that order threads by atomic instructions, which no probe sees: reports of races warn about them.
. tests/tap.sh
need_live 'locks that a program makes itself'
compile_target own_lock
compile_target races

run "$DPE" race put,put -- ./own_lock
says 'a race under a lock of atomic instructions comes with a warning about them' 1 'race_put_put' \
	'own_lock: warning: own_lock synchronises by atomic instructions, in lock_flag()' 'what they order is not observed'
for name in own_lock races; do
	gcc -D_GNU_SOURCE= -O1 -pthread "$TOP/tests/live/targets/$name.c" -o "stripped_$name" -Wl,--export-dynamic-symbol=put,--export-dynamic-symbol=get &&
		strip "stripped_$name" || not_ok "building stripped_$name"
done
run "$DPE" race put,put -- ./stripped_own_lock
says 'the warning about atomic instructions is given for a stripped program, too' 1 'race_put_put' \
	'warning: stripped_own_lock synchronises by atomic instructions, in code without symbols'
run "$DPE" race put,get -- ./stripped_races race
check 'a stripped program without atomic instructions gets no warning about them' "$status $(grep -c 'atomic instructions' err)" = '1 0'
cat >lambdas.cc <<'X'
#include <atomic>
#include <future>
#include <thread>
std::atomic<int> taken;
int value;
__attribute__((noipa)) void put(int x) { value = x; }
__attribute__((noipa)) int get() { return value; }
static void lock() { while (taken.exchange(1)) {} }
static void unlock() { taken.store(0); }
int main()
{
	std::thread one([] { lock(); put(1); unlock(); });
	std::thread other([] { lock(); get(); unlock(); });

	std::async(std::launch::async, [] {}).get();
	one.join();
	other.join();
}
X
for options in -O0 -O1 -O2; do
	${CXX:-g++} $options -g -pthread lambdas.cc -o lambdas || not_ok 'building lambdas'
	run "$DPE" race --no-predict put,get -- ./lambdas
	says "$options: the warning about atomic instructions is given where they are inlined into the functions of threads" 1 \
		'lambdas: warning: lambdas synchronises by atomic instructions, in '
done
check 'the functions of threads are named by their lambda expressions, before those of the C++ library' \
	"$(grep -c 'in \(main(), \)*main::{lambda()#[12]}(), main::{lambda()#[12]}(),* .*: what' err)" -eq 1
run "$DPE" race put,main -- ./own_lock
check 'a result without finding comes without a warning about atomic instructions' "$status $(grep -c 'atomic instructions' err)" = '0 0'
run "$DPE" race put,get -- ./races race
check 'a program without atomic instructions gets no warning about them' "$status $(grep -c 'atomic instructions' err)" = '1 0'
run "$DPE" run -e 'detect together: put & get' -- ./races race
says 'a specification without sync rules gets a warning' 1 'warning: no `sync` rule orders events of different threads'
run "$DPE" run -s pthread.dpe -e 'detect together: put & get' -- ./races race
check 'a specification with sync rules gets no warning about absent ones' "$status $(grep -c 'no `sync` rule' err)" = '1 0'
cat >by_event.c <<'X'
#include <pthread.h>
#include <sys/eventfd.h>
static int file;
__attribute__((noinline)) void put(int x) { __asm__ volatile("" : : "r"(x)); }
static void *begin(void *unused)
{
	eventfd_t count;
	eventfd_read(file, &count);
	put(2);
	return unused;
}
int main(void)
{
	pthread_t thread;
	file = eventfd(0, 0);
	pthread_create(&thread, NULL, begin, NULL);
	put(1);
	eventfd_write(file, 1);
	pthread_join(thread, NULL);
	return 0;
}
X
gcc -g by_event.c -o by_event -pthread || not_ok 'building by_event'
run "$DPE" race put,put -- ./by_event
says 'a race comes with a warning that the order by eventfd is not observed' 1 'by_event: warning: by_event calls eventfd: the order that these calls make is not observed'
run "$DPE" race put,put -e 'sync all wakeup(e): eventfd_write(e) ; eventfd_read(e).exit' -- ./by_event
gives 'a sync rule about eventfd orders the calls' 0
echo 'sync exclusive flag: put.exit ; lock_flag' >entry.dpe
run "$DPE" run -s entry.dpe -e 'detect together: put & put^' -- ./own_lock
check 'a sync rule that acquires at an entry gets a warning that suggests .exit' \
	"$(grep -c "entry.dpe:1:33: warning: 'lock_flag' occurs when the call begins.*write .exit" err)" = 1
run "$DPE" run -e 'sync exclusive flag: put.exit ; lock_flag.exit' -e 'detect together: put & put^' -- ./own_lock
says 'a sync rule that acquires at a return orders the calls' 0 'nothing found'
check 'a sync rule that acquires at a return gets no warning' "$(grep -c 'when the call begins' err)" = 0
gcc -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/own_lock.c" -o own_lock.o &&
	gcc own_lock.o -o compiled -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building it'
run "$DPE" race -- ./compiled
says 'atomic instructions of a program built with -ldpe-mem are observed' 0 'nothing found'
finish
