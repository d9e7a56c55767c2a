# A loss of one thread leaves verdicts about another thread certain; verdicts about a thread that ran before it was
# observed are inconclusive, those about a later thread are not.
. tests/tap.sh
need_live 'losses, and threads that ran before they were observed'
compile_target doubt
cat >own.dpe <<'DPE'
expect own(T): (begin() by T ; end() by T)*
DPE
cat >both.dpe <<'DPE'
include "own.dpe"
expect hits(T): (hit(_) by T)*
expect ordered: hit(_)* ; begin()
DPE

# When dpe has answered SIGUSR1 twice, it has read all events before.
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
says 'a violation of a thread without losses is certain; rules with lost events are inconclusive' 1 'own: violation of (begin() by T;end() by T)*' \
	'hits: inconclusive verdict on' 'ordered: inconclusive verdict on' '3 rules: 1 violated, '
check 'one thread is reported with its lost events and their times' "$(grep -c '^  thread [0-9]* lost [1-9][0-9]* from [0-9.]* s to [0-9.]* s' err)" -eq 1
run "$DPE" replay -s both.dpe log.jsonl
says 'a replay of a log with losses has the same verdicts' 1 'own: violation of' 'hits: inconclusive verdict on' 'ordered: inconclusive verdict on' '3 rules: 1 violated, '

attaches './doubt wait' --stack=0 -o found.jsonl -s own.dpe
says 'dpe attach: the verdict on a thread that ran before it was observed is inconclusive' 1 'own: inconclusive verdict on' 'its thread ran before it was observed' \
	'own: violation of' ' 1 violated, 1 inconclusive'
run "$DPE" replay -s own.dpe found.jsonl
says 'a replay: the verdict on a thread that ran before it was observed is inconclusive' 1 'its thread ran before it was observed' '1 rule: 1 violated, 1 inconclusive'

# Losses do not make verdicts inconclusive that end before them.
compile_target early
cat >early.dpe <<'END'
detect first: early() ; early_too()
detect never: late() [.tid == 0] ; late()
END
times=0 runs=3
test -n "${DPE_TEST_LONG:-}" && runs=10
while test $times -lt $runs; do
	run "$DPE" run --ring=4096 -s early.dpe -- ./early 50000
	grep -q '^#1 first: match of' err && grep -q 'events, [1-9][0-9]* lost; 2 rules: 1 match' err || break
	times=$((times + 1))
done
check 'a match that ends before the first loss is certain, in each run' $times -eq $runs

# Reading the counters of all programs takes ten system calls; traced, dpe is later than the program.
echo 'detect each: late()' >each.dpe
run strace -c -e trace=bpf -o calls "$DPE" run --stack=0 -s each.dpe -- ./early 10000
check 'each of 20,000 findings is a match' "$(grep -c '1 rule: 20000 matches' err)" -eq 1
check 'findings that wait for each other do not read what was lost for each' "$(awk '$NF == "bpf" { print $4 }' calls)" -lt 80000
finish
