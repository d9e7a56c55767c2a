# Measure rules on running programs: the figures are those of the program.
. tests/tap.sh
need_live 'measuring'
cat >work.c <<'END'
#include <pthread.h>
#include <stdio.h>
__attribute__((noinline)) long work(int kind, long n) { __asm__ volatile("" : "+r"(n)); return n * kind; }
static void *run(void *arg) { for (long i = 0; i < 3000; i++) work(i % 3, (long)arg + i); return NULL; }
int main(void)
{
	pthread_t threads[3];
	for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, run, (void *)(1000 * i));
	for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
	return 0;
}
END
${CC:-cc} -g -O1 -pthread work.c -o work || exit 1
run "$DPE" run --ring=33554432 --stack=0 -e 'measure calls: work(kind, n) { count(kind); sum(n); quantiles(n); }' \
	-e 'measure took(t): work(_, _).enter by t ; work(_, _).exit by t { hist($2.time - $1.time, $1.tid); }' --format=json --report=report -- ./work
python3 -c '
import json
found = [json.loads(line) for line in open("report")]
measured = [f for f in found if f["type"] == "measurement"]
count = {f["key"]: f["count"] for f in measured if f["call"] == "count"}
total = [f for f in measured if f["call"] == "sum"][0]
print(count == {"0": 3000, "1": 3000, "2": 3000}, total["sum"], total["min"], total["max"], found[-1]["lost"])' >seen
check 'count and sum of a measure rule are those of the program' "$(cat seen)" = "True $((3 * 3000 * 2999 / 2 + 3000 * 3000)) 0 4999 0"
cat >slow.c <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) void step(int n) { __asm__ volatile("" : : "r"(n)); }
int main(void)
{
	int i = 0;
	for (; access("enough", F_OK); usleep(100000)) step(i++);
	printf("%d\n", i);
	return 0;
}
END
${CC:-cc} -g -O1 slow.c -o slow || exit 1
reported() {
	grep -c '^steps: count' err
}
twice() {
	test "$(reported)" -ge 2
}
: >err
(await twice; : >enough) &
run "$DPE" run --interval=1 -e 'measure steps: step(n) { count(); }' -- ./slow
check '--interval reports the count of a measure rule repeatedly' "$(reported)" -ge 3
grep '^steps: count' err >counts
check 'the counts reported with --interval grow' "$(sort -n -k 3 counts | cmp - counts)" = '' -a "$(head -n 1 counts)" != "$(tail -n 1 counts)"
check 'the last count is the number of all events' "$(tail -n 1 counts)" = "steps: count $(cat out)"
wait
finish
