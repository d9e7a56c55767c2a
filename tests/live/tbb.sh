# dpe race without arguments, for programs that use oneTBB: ordered accesses are no race, unordered ones are found.
. tests/tap.sh
need_live 'oneTBB'
runs=1
test -n "${DPE_TEST_LONG:-}" && runs=3

g++ -std=c++17 -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/tbb.cc" -o tbb.o &&
	g++ tbb.o -o tbb -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -ltbb || not_ok 'building it'
run ./tbb right
check 'the program runs without dpe and prints nothing' "$status $(lines out) $(lines err)" = '0 0 0'
for i in $(seq $runs); do
	run timeout -s KILL 120 "$DPE" race -- ./tbb right
	says "accesses ordered by oneTBB are no race, run $i" 0 'nothing found' ' 0 lost' 'note: oneTBB: tbb.dpe'
done
run timeout -s KILL 120 "$DPE" race --all --max-findings=0 -- ./tbb wrong
grep -o 'wrong_[a-z_]*' err | sed 's/wrong_//' | sort -u >found
./tbb list | sort >all
check 'the program has at least 25 wrong cases' "$(lines all)" -ge 25
same 'the race of each wrong case is found' found <all
check 'wrong cases lose no event and get no warning about atomic instructions' "$(grep -c ' 0 lost' err) $(grep -c 'atomic instructions' err)" = '1 0'

cat >uninstrumented.cc <<'E'
#include <tbb/task_group.h>

[[gnu::noipa]] static void work(int)
{
}

int main()
{
	tbb::task_group group;

	group.run([] { work(1); });
	group.wait();
	work(2);
}
E
g++ -std=c++17 -g -O1 uninstrumented.cc -o uninstrumented -ltbb || not_ok 'building without'
run "$DPE" race 'work,work' -- ./uninstrumented
check 'race with functions warns that the order by oneTBB is not observed' "$(grep -c 'libtbb.so.*warning: oneTBB: what it orders is not observed' err)" = 1

cat >suspends.cc <<'E'
#define TBB_PREVIEW_RESUMABLE_TASKS 1
#include <tbb/task.h>

int main()
{
	tbb::task::suspend([](tbb::task::suspend_point point) { tbb::task::resume(point); });
}
E
g++ -std=c++17 -fsanitize=thread -g -O1 -c suspends.cc -o suspends.o &&
	g++ suspends.o -o suspends -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -ltbb || not_ok 'building what suspends tasks'
run "$DPE" race -- ./suspends
says 'a program with resumable tasks is refused, as it switches stacks' 2 'libtbb.so' 'switches stacks (makecontext)'
finish
