# Data events of objects: watchpoints that one event sets and another one removes.
. tests/tap.sh
need_live 'data events of objects' '[first]'
compile_target objects

count_seen() {
	grep -c "$1" err
}

cat >use.dpe <<'END'
include "pthread.dpe"
expect use(p): create(_, p).exit ; ([p->count' = p->count - 1] from create(_, p).exit to destroy(p).enter)* ;
	destroy(p).enter observing destroy(p).enter ends
END
# Each update is a match: one of the thread that made the object, and two of a thread created later.
cat >each.dpe <<'END'
detect each(p): [p->count'] from create(_, p).exit to destroy(p).enter { print("count", p->count', p->count); }
END
times=0
while test $times -lt 4; do
	run "$DPE" run --stack=0 -s each.dpe -- ./objects turn 15
	test "$(grep -c '^each: count' err)" -eq 45 || break
	grep -q ', 0 lost; 1 rule: 45 matches' err || break
	times=$((times + 1))
done
check 'objects in turn: each update within the watch is seen once, and no other' $times -eq 4
check 'objects in turn: updates have the values before and after' "$(count_seen '^each: count 0 1') $(count_seen '^each: count 2 3')" = '15 15'
check 'objects in turn: the program prints its usual result' "$(cat out)" = 'done 15'

run "$DPE" run --stack=0 --max-instances=10 -s use.dpe -- ./objects turn 12
says 'an object at the address of a destroyed one is watched in a slice of its own' 0 '12 satisfied'

run "$DPE" record -o five.jsonl -s use.dpe -- ./objects once 5
check 'the log has watch::begin and watch::end of each watched object' \
	"$(grep -c '"watch::begin"' five.jsonl) $(grep -c '"watch::end"' five.jsonl)" = '4 4'
check 'the log has watch::refused of the object without a watchpoint' "$(grep -c '"watch::refused".*all watchpoints were in use' five.jsonl)" -eq 1
cat >five.dpe <<'END'
include "pthread.dpe"
expect use(p): create(_, p).exit ; ([p->count'] from create(_, p).exit to destroy(p).enter)* ; destroy(p).enter
END
run "$DPE" run -s five.dpe -- ./objects once 5
says 'five objects at a time: the verdict about the unwatched one is inconclusive' 3 'is not watched: all watchpoints were in use' \
	'was not watched: all watchpoints were in use' '1 inconclusive, 4 satisfied' '1 time an object was not watched'
run "$DPE" record -o five.jsonl -s five.dpe -- ./objects once 5
run "$DPE" replay -s five.dpe five.jsonl
says 'five objects at a time: a replay has the same verdicts' 3 '1 inconclusive, 4 satisfied'
run "$DPE" run -s five.dpe -- ./objects once 4
says 'four objects at a time are all watched' 0 ' 4 satisfied'

cat >parts.dpe <<'END'
detect small(p): [p->small < 0] from create(_, p).exit { print(p->small); }
detect tag(p): [p->tag'] from create(_, p).exit { print(p->tag); }
detect deep(p): [p->part.number[2]'] from create(_, p).exit to destroy(p).enter { print(p->part.number[2]); }
detect real(p): [p->real] from create(_, p).exit { print(p->real); }
END
run "$DPE" run -s parts.dpe -- ./objects parts
for text in 'small: -3' 'tag: -4' 'deep: 7' 'real: 2.5'; do
	check "a watched part of an object is printed: $text" "$(count_seen "^$text\$")" -eq 1
done
cat >cells.dpe <<'END'
detect first(p): [*p] from begin_cell(p) { print(*p); }
detect fourth(p): [p[3]'] from begin_cell(p) { print(p[3]', p[3]); }
END
run "$DPE" run -s cells.dpe -- ./objects parts
check 'the target of a pointer and an element after it are watched' \
	"$(count_seen '^first: 5$') $(count_seen '^fourth: 0 6$')" = '1 1'

cat >made.dpe <<'END'
detect made(p): [p->count'] from make(_).ret to destroy(p).enter { print(p->count', p->count); }
expect twice(p): ([p->count'] from make().ret to destroy(p).enter)* ; destroy(p) observing destroy(p).exit ends
END
run "$DPE" run --stack=0 -s made.dpe -- ./objects made 3
check 'an object that a function returns is watched' "$(count_seen '^made: 0 1$') $(count_seen '^made: 1 2$')" = '3 3'
check 'objects that a function returns have a slice each' "$(count_seen '3 satisfied')" -eq 1
check 'objects that a function returns: no event is lost, no watch refused' "$(count_seen ', 0 lost') $(count_seen 'not watched')" = '1 0'
run "$DPE" record --stack=0 -o made.jsonl -s made.dpe -- ./objects made 3
run "$DPE" replay --all -s made.dpe made.jsonl
check 'objects that a function returns: a replay has the same verdicts' "$(count_seen '^made: ') $(count_seen '3 satisfied')" = '6 1'
sed -i 1d made.dpe
run "$DPE" run --stack=0 -s made.dpe -- ./objects another
says 'a program that calls exec loses its watchpoints, which counts as a loss' 3 \
	'the program replaced itself (exec): nothing was watched from then on, which counts as a loss' ' 1 lost;' \
	'nothing found, 3 inconclusive'

# Threads begin and end while watchpoints are set in all existing threads.
run "$DPE" run --stack=0 -s each.dpe -- ./objects churn 20
seen=$(count_seen '^each: count')
refused=$(count_seen 'the kernel refused')
check 'threads created while watchpoints are set are observed, or refusals reported' "$seen" -eq 60 -o "$refused" -gt 0
check 'no update by threads created while watchpoints are set is reported twice' "$(sed -n 's/^each: count //p' err | sort | uniq -c |
	awk '$1 > 20 || $3 != $2 + 1' | wc -l)" -eq 0

# attached COUNT: the target runs as $target and dpe as $observer, all probes are in place, and the
# target continues with its objects when file 3 is closed.
cp each.dpe ticks.dpe
echo 'detect ticks: tick' >>ticks.dpe
mkfifo gate
attached() {
	: >attached.err
	./objects turn "$1" wait <gate >answer 3>&- &
	target=$!
	exec 3>gate
	await grep -q objects /proc/$target/comm # the shell is in its place before
	"$DPE" attach --stack=0 -s ticks.dpe -p $target 2>attached.err 3>&- &
	observer=$!
	await grep -q 'ticks: match' attached.err
}

attached 3
exec 3>&-
wait $target
wait $observer
check 'attach: all updates of watched objects are seen' "$(grep -c '^each: count' attached.err)" -eq 9
check 'attach: no event is lost' "$(grep -c ' 0 lost' attached.err)" -eq 1
check 'attach: the program continues to its end' "$(cat answer)" = 'done 3'

# dpe is stopped, then killed, while a thread waits for it.
for way in KILL CONT; do
	attached 2
	kill -STOP $observer
	since=$(kernel_time $target)
	exec 3>&-
	await waits_for_dpe $target $since
	kill -$way $observer
	wait $target
	check "SIG$way to a dpe that a thread waits for: the program continues" "$(cat answer)" = 'done 2'
	wait $observer 2>/dev/null
done
cp attached.err err
check 'SIGCONT to a dpe that a thread waits for: all updates are seen' "$(grep -c '^each: count' attached.err)" -eq 6

fails() {
	printf '%s\n' "$2" >wrong.dpe
	run "$DPE" run -s wrong.dpe -- ./objects parts
	says "$1" 2 "$3"
	check 'the refusal of a watch comes before the program starts' ! -s out
}
fails 'a watch of a bit field is refused' "detect a(p): [p->bit'] from create(_, p).exit" "'bit' is a bit field"
fails 'a watch of a part that is too large is refused' "detect a(p): [p->part] from create(_, p).exit" 'on 1, 2, 4 or 8 aligned bytes, not on 24'
fails 'a watch through a pointer in the object is refused' "detect a(p): [p->next->id] from create(_, p).exit" 'can change its address'
fails 'a watch of an absent member is refused' "detect a(p): [p->none] from create(_, p).exit" "it has no member 'none'"
fails 'a watch that begins at an absent function is refused' "detect a(p): [p->id] from made(p).exit" "'made'"
fails 'a watch through an argument that is no pointer is refused' "detect a(p): [p->id] from create(p, _).exit" 'it is not a pointer'
fails 'a watch through a returned value that is no pointer is refused' "detect a(p): [p->id] from main().ret" 'it is not a pointer'
fails 'a watch that no event with the pointer begins is refused' "detect a: [p->id']" 'is watched from an event that has the pointer'
fails 'a watch that begins at a line is refused, as lines have no arguments' 'detect a(p): [p->id] from "objects.c:30"(p)' 'neither entered nor left'
fails 'more watched parts than watchpoints are refused' "detect a(p): [p->id] from create(_, p) + [p->count] from create(_, p) +
[p->small] from create(_, p) + [p->tag] from create(_, p) + [p->real] from create(_, p)" \
	'the rules watch 0 variables and 5 parts of objects, the processor has watchpoints for 4'
cp objects stripped
strip -g stripped
run "$DPE" run -s each.dpe -- ./stripped parts
says 'a watch in a program without debug information is refused' 2 "has no debug information that describes the arguments of 'create'"
finish
