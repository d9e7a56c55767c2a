# A loss of one thread leaves what is reported about another one certain; and what began before dpe came is
# in doubt, what began later is not.
. tests/tap.sh
need_live 'losses, and threads that ran already'
compile_target doubt
cat >own.dpe <<'DPE'
expect own(T): (begin() by T ; end() by T)*
DPE
cat >both.dpe <<'DPE'
include "own.dpe"
expect hits(T): (hit(_) by T)*
expect ordered: hit(_)* ; begin()
DPE

# When dpe has answered twice, all that was sent before is read.
"$DPE" run --stack=0 --ring=4096 -o log.jsonl -s both.dpe -- ./doubt flood >out 2>err &
dpe=$!
answered() {
	test "$(grep -c '^dpe: so far' err)" -eq "$1"
}
await test -e stands-by
for time in 1 2; do
	kill -USR1 $dpe
	await answered $time
done
rm stands-by
wait $dpe
status=$?
says 'a thread that lost nothing' 1 'own: violation of (begin() by T;end() by T)*' \
	'hits: inconclusive verdict on' 'ordered: inconclusive verdict on' '3 rules: 1 violated, '
check 'what the other one lost, with times' "$(grep -c '^  thread [0-9]* lost [1-9][0-9]* from [0-9.]* s to [0-9.]* s' err)" -eq 1
run "$DPE" replay -s both.dpe log.jsonl
says 'a replay says the same' 1 'own: violation of' 'hits: inconclusive verdict on' 'ordered: inconclusive verdict on' '3 rules: 1 violated, '

attaches './doubt wait' --stack=0 -o found.jsonl -s own.dpe
says 'it had begun before' 1 'own: inconclusive verdict on' 'its thread ran before it was observed' \
	'own: violation of' ' 1 violated, 1 inconclusive'
run "$DPE" replay -s own.dpe found.jsonl
says 'nor does a replay know' 1 'its thread ran before it was observed' '1 rule: 1 violated, 1 inconclusive'

# Losses do not make events inconclusive that happened before them and only waited for a processor.
compile_target early
cat >early.dpe <<'END'
detect first: early() ; early_too()
detect never: late() [.tid == 0] ; late()
END
times=0
while test $times -lt 10; do
	run "$DPE" run --ring=4096 -s early.dpe -- ./early 50000
	grep -q '^#1 first: match of' err && grep -q 'events, [1-9][0-9]* lost; 2 rules: 1 match' err || break
	times=$((times + 1))
done
check 'what ended before the first loss is certain' $times -eq 10
finish
