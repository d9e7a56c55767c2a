# Uses of freed memory are found in every order that leads to them; correct programs have no finding.
. tests/tap.sh

${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/heap.c" -o heap || not_ok "compiling heap.c"
run "$DPE" explore --runs=5 --fails=1-255 -- ./heap
says "a correct program that allocates and frees has no finding" 0 "nothing found"

cat >deleted.cc <<'END'
#include <thread>
struct session { int users = 0; };
static session *shared = new session;
int main()
{
	std::thread other([] { delete shared; });
	shared->users++;
	other.join();
}
END
${CXX:-c++} -g -O1 -fsanitize=thread -c deleted.cc -o deleted.o &&
	${CXX:-c++} deleted.o -o deleted -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem -pthread || not_ok "compiling deleted.cc"

# Every strategy that can explore all schedules tries both orders.
for strategy in dfs dfs-full delay portfolio; do
	run "$DPE" explore --strategy=$strategy --runs=1000 -- ./deleted
	says "$strategy finds the use of a deleted object" 1 ": use of freed memory " " at main+" "deleted.cc:7)" "thread 2 freed it at " "deleted.cc:6)"
	run "$DPE" explore --strategy=$strategy --runs=1000 -- "$BUILD/explored/use-after-teardown"
	says "$strategy finds the use of freed memory in use-after-teardown" 1 ": use of freed memory " "freed it at tear_down"
	run "$DPE" explore --strategy=$strategy --runs=1000 -- "$BUILD/explored/freed-twice"
	says "$strategy finds memory freed twice" 1 ": memory freed twice " "free of " " at leave" "freed it at leave"
	run "$DPE" explore --strategy=$strategy --runs=1000 -- "$BUILD/explored/freed-lock"
	says "$strategy finds the use of a freed lock" 1 ": use of freed memory " "by use+" "freed it at end"
done
for program in use-after-teardown freed-twice freed-lock; do
	run "$DPE" explore --strategy=dfs -- "$BUILD/explored/$program-fixed"
	says "$program-fixed: all behaviours are explored without finding" 0 "behaviours explored"
done

run "$DPE" explore --format=json -- "$BUILD/explored/use-after-teardown"
check "the JSON report has the place of the free" -n "$(jq -e '.places[]? | select(.operation == "free" and (.place | contains("tear_down")))' out)"
finish
