# dpe race without words, for programs that use oneTBB: what orders is known, and what does not is found.
. tests/tap.sh
need_live 'oneTBB'

g++ -std=c++17 -fsanitize=thread -g -O1 -c "$TOP/tests/live/targets/tbb.cc" -o tbb.o &&
	g++ tbb.o -o tbb -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -ltbb || not_ok 'building it'
run ./tbb right
check 'without dpe it runs as ever' "$status $(lines out) $(lines err)" = '0 0 0'
for i in 1 2 3; do
	run timeout -s KILL 120 "$DPE" race -- ./tbb right
	says "what is ordered is no race, run $i" 0 'nothing found' ' 0 lost' 'note: oneTBB: tbb.dpe'
done
run timeout -s KILL 120 "$DPE" race --all --max-findings=0 -- ./tbb wrong
grep -o 'wrong_[a-z_]*' err | sed 's/wrong_//' | sort -u >found
./tbb list | sort >all
check 'there are cases' "$(lines all)" -ge 25
same 'each race is found' found <all
check 'nothing is lost, and nothing unobserved' "$(grep -c ' 0 lost' err) $(grep -c 'atomic instructions' err)" = '1 0'

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
check 'what is not observed is reported' "$(grep -c 'libtbb.so.*warning: oneTBB: what it orders is not observed' err)" = 1

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
says 'resumable tasks switch stacks' 2 'libtbb.so' 'switches stacks (makecontext)'
finish
