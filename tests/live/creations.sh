# Who created the threads of a finding, and where: in each form of observing a program, and from its log.
. tests/tap.sh
need_live 'creations of threads' '[first]'
source=$TOP/tests/live/targets/creations.c
gcc -g -O2 -fomit-frame-pointer -pthread "$source" -o creations &&
	gcc -g -O2 -fomit-frame-pointer -fsanitize=thread -c "$source" -o compiled.o &&
	gcc compiled.o -o compiled -pthread -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok building
outer=$(grep -n '/\* outer' "$source" | cut -d: -f1)
inner=$(grep -n '/\* inner' "$source" | cut -d: -f1)
main=$(grep -n '/\* main' "$source" | cut -d: -f1)
work=$(($(grep -n '^static void \*work(' "$source" | cut -d: -f1) + 2))

# created: what the report says of the creations, without numbers that differ from run to run
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

# shows NAME COMMAND...: a finding, with both creations, each once. The kernel's side cannot look at a process whose mappings are being
# changed at that moment, and so a stack may be cut: then it is another run that shows it.
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
	# Which of the two accesses came first, this run has decided.
	test "$(printf '%s\n' "$got" | head -3)" = "$(head -3 both)" || got=$(printf '%s\n' "$got" | sed -n '4,6p; 1,3H; $ {x; s/^\n//; p}')
	check "$name" "$status $got" = "1 $(cat both)"
}

printf 'include "pthread.dpe"\ndetect r: touch(1) & touch(2)\n' >touch.dpe
shows 'of a watched variable' "$DPE" race shared -- ./creations
shows 'of a watched variable, with the preloaded library' "$DPE" race --preload shared -- ./creations
shows 'of functions' "$DPE" race touch,touch^ -- ./creations
shows 'of a rule' "$DPE" run -s touch.dpe -- ./creations
shows 'of memory, in a program compiled for it' "$DPE" race -- ./compiled

run "$DPE" run --stack=32 --full-stacks -s touch.dpe -- ./creations
check 'whole stacks on demand' "$(grep -c 'pthread_create' err)" -ge 2

run "$DPE" record -s touch.dpe -o log.dpel -- ./creations
shows 'from a log' "$DPE" replay -s touch.dpe log.dpel
run "$DPE" convert log.dpel log.jsonl
shows 'from a log that was converted' "$DPE" replay -s touch.dpe log.jsonl
run "$DPE" replay --format=json -s touch.dpe log.jsonl
check 'as messages in JSON' "$(grep '"verdict":"match"' out | python3 -c '
import json, sys
for line in sys.stdin:
    finding = json.loads(line)
    threads = {message["thread"] for message in finding["messages"]}
    print(threads == {message["args"][0] for message in finding["created"]},
          sorted(frame.split("+")[0] for message in finding["created"] for frame in message["stack"]
                 if frame.startswith(("create_inner", "create_outer"))))
')" = "True ['create_inner', 'create_outer']"
run "$DPE" replay --format=sarif -s touch.dpe log.jsonl
check 'as locations in SARIF' "$(python3 -c '
import json
result, = json.load(open("out"))["runs"][0]["results"]
print(sorted({place["physicalLocation"]["region"]["startLine"]: place["message"]["text"].split()[2:5]
              for place in result["relatedLocations"] if "created" in place["message"]["text"]}.items()))')" = \
	"[($inner, ['was', 'created', 'by']), ($outer, ['was', 'created', 'by'])]"
shows 'with a page' "$DPE" run -s touch.dpe --html=page.html -- ./creations
check 'on a page' "$(grep -c 'create_inner' page.html)" -ge 1

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
gcc -g -O1 -pthread crossed.c -o crossed || not_ok building
run "$DPE" deadlock -- ./crossed
check 'of a deadlock' "$(grep -A1 '^  thread [0-9]* was created by main thread' err | sed -n 's/^       at main.*crossed.c:\([0-9]*\))/\1/p' | sort | tr '\n' ' ')" = '23 24 '
run "$DPE" deadlock --format=json -- ./crossed
check 'of a deadlock, in JSON' "$(sed -n 's/.*"created"://p' out | grep -o '"main+[^"]*crossed.c:[0-9]*' | sed 's/.*://' | sort | tr '\n' ' ')" = '23 24 '
run "$DPE" deadlock --format=sarif -- ./crossed
check 'of a deadlock, in SARIF' "$(grep -c 'thread [0-9]* was created by thread [0-9]*"' out)" = 2

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
	gcc -fopenmp parallel.o -o parallel -L"$BUILD" -Wl,-rpath,"$BUILD" -ldpe-mem || not_ok building
run "$DPE" race -- ./parallel
check 'of a parallel region, without the frames of libgomp' \
	"$(created | sed 's/[0-9][0-9]*/N/g' | tr '\n' ';')" = '  thread N was created by main thread N;       at main (parallel.c:N);'
finish
