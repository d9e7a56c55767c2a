# Which threads created those of a finding, and where: in each way to observe a program, and from its log.
. tests/tap.sh
need_live 'creations of threads' '[first]'
source=$TOP/tests/live/targets/creations.c
gcc -g -O2 -fomit-frame-pointer -pthread "$source" -o creations &&
	gcc -g -O2 -fomit-frame-pointer -fsanitize=thread -c "$source" -o compiled.o &&
	gcc compiled.o -o compiled -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building creations.c'
outer=$(grep -n '/\* outer' "$source" | cut -d: -f1)
inner=$(grep -n '/\* inner' "$source" | cut -d: -f1)
main=$(grep -n '/\* main' "$source" | cut -d: -f1)
work=$(($(grep -n '^static void \*work(' "$source" | cut -d: -f1) + 2))

# created: the report's lines about creations of threads, without the numbers that differ from run to run
created() {
	sed -n '/^  thread [0-9]* was created/,/^\( *[^ a]\|#\|  \$\|  mem\)/p' err | grep '^  thread\|^       [ab]' |
		sed 's/+0x[0-9a-f]*//; s/, at [0-9.]* s//; s/(.*creations\.c/(creations.c/'
}

cat >both <<END
  thread INNER was created by thread OUTER
       at create_inner (creations.c:$inner)
       by work (creations.c:$work)
  thread OUTER was created by main thread MAIN
       at create_outer (creations.c:$outer)
       by main (creations.c:$main)
END

# shows NAME COMMAND...: a finding has both creations, each once. The BPF programs cannot read a process whose mappings are being
# changed at that moment, so a stack may be cut short: then the command is run again.
shows() {
	name=$1
	shift
	for attempt in 1 2 3; do
		run "$@"
		grep -q 'at create_outer' err && grep -q 'at create_inner' err && break
	done
	by=$(sed -n 's/^  thread \([0-9]*\) was created by thread \([0-9]*\),.*/s, \1 , INNER ,; s, \2, OUTER,/p' err)
	main_thread=$(sed -n 's/.* by main thread \([0-9]*\),.*/\1/p' err)
	got=$(created | sed "$by; s/ $main_thread\$/ MAIN/")
	# The order of the two accesses differs from run to run.
	test "$(printf '%s\n' "$got" | head -3)" = "$(head -3 both)" || got=$(printf '%s\n' "$got" | sed -n '4,6p; 1,3H; $ {x; s/^\n//; p}')
	check "$name" "$status $got" = "1 $(cat both)"
}

printf 'include "pthread.dpe"\ndetect r: touch(1) & touch(2)\n' >touch.dpe
shows 'a race on a watched variable tells where its threads were created' "$DPE" race shared -- ./creations
shows 'with --preload, a race on a variable tells where its threads were created' "$DPE" race --preload shared -- ./creations
shows 'a race of functions tells where its threads were created' "$DPE" race touch,touch^ -- ./creations
shows 'a match of a rule tells where its threads were created' "$DPE" run -s touch.dpe -- ./creations
shows 'a race of a program compiled for dpe tells where its threads were created' "$DPE" race -- ./compiled

run "$DPE" run --stack=32 --full-stacks -s touch.dpe -- ./creations
check '--full-stacks shows pthread_create in the stacks of creations' "$(grep -c 'pthread_create' err)" -ge 2

run "$DPE" record -s touch.dpe -o log.dpel -- ./creations
shows 'a replay of a log tells where the threads of a match were created' "$DPE" replay -s touch.dpe log.dpel
run "$DPE" convert log.dpel log.jsonl
shows 'a replay of a converted log tells where the threads of a match were created' "$DPE" replay -s touch.dpe log.jsonl
run "$DPE" replay --format=json -s touch.dpe log.jsonl
check 'creations of threads are messages with their stacks in JSON' "$(grep '"verdict":"match"' out | python3 -c '
import json, sys
for line in sys.stdin:
    finding = json.loads(line)
    threads = {message["thread"] for message in finding["messages"]}
    print(threads == {message["args"][0] for message in finding["created"]},
          sorted(frame.split("+")[0] for message in finding["created"] for frame in message["stack"]
                 if frame.startswith(("create_inner", "create_outer"))))
')" = "True ['create_inner', 'create_outer']"
run "$DPE" replay --format=sarif -s touch.dpe log.jsonl
check 'creations of threads are related locations in SARIF' "$(python3 -c '
import json
result, = json.load(open("out"))["runs"][0]["results"]
print(sorted({place["physicalLocation"]["region"]["startLine"]: place["message"]["text"].split()[2:5]
              for place in result["relatedLocations"] if "created" in place["message"]["text"]}.items()))')" = \
	"[($inner, ['was', 'created', 'by']), ($outer, ['was', 'created', 'by'])]"
shows 'with --html, a match tells where its threads were created' "$DPE" run -s touch.dpe --html=page.html -- ./creations
check 'the page names the function that created a thread' "$(grep -c 'create_inner' page.html)" -ge 1

cat >crossed.c <<'END'
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static volatile int crossed;

static void *cross(void *swapped)
{
	while (swapped && !crossed)
		;
	pthread_mutex_lock(swapped ? &second : &first);
	pthread_mutex_lock(swapped ? &first : &second);
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	crossed = 1;
	return swapped;
}

int main(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, cross, NULL);
	pthread_create(&other, NULL, cross, &other);
	pthread_join(one, NULL);
	return pthread_join(other, NULL);
}
END
gcc -g -O1 -pthread crossed.c -o crossed || not_ok 'building crossed.c'
run "$DPE" deadlock -- ./crossed
check 'a potential deadlock tells where its threads were created' "$(grep -A1 '^  thread [0-9]* was created by main thread' err | sed -n 's/^       at main.*crossed.c:\([0-9]*\))/\1/p' | sort | tr '\n' ' ')" = '23 24 '
run "$DPE" deadlock --format=json -- ./crossed
check 'a potential deadlock in JSON tells where its threads were created' "$(sed -n 's/.*"created"://p' out | grep -o '"main+[^"]*crossed.c:[0-9]*' | sed 's/.*://' | sort | tr '\n' ' ')" = '23 24 '
run "$DPE" deadlock --format=sarif -- ./crossed
check 'a potential deadlock in SARIF tells which thread created its threads' "$(grep -c 'thread [0-9]* was created by thread [0-9]*"' out)" = 2

cat >parallel.c <<'END'
int sum;
int main(void)
{
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 8; i++)
		sum += i;
	return 0;
}
END
gcc -g -O1 -fopenmp -fsanitize=thread -c parallel.c &&
	gcc -fopenmp parallel.o -o parallel -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok 'building parallel.c'
run "$DPE" race -- ./parallel
check 'the creation of an OpenMP thread is shown without the frames of libgomp' \
	"$(created | sed 's/[0-9][0-9]*/N/g' | tr '\n' ';')" = '  thread N was created by main thread N;       at main (parallel.c:N);'
finish
