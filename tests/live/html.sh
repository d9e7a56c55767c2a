# Pages of live runs: objects by their variables, stacks, source lines; and files where a run fails.
. tests/tap.sh
need_live 'pages of programs'

mkdir examples
cp -r "$TOP/examples/producer-consumer" examples
run "$DPE" run -s examples/producer-consumer/race.dpe --on-break=continue --html=page.html -- "$BUILD/examples/producer-consumer-broken"
says 'dpe run with --html reports the race' 1 'race: match of'
check 'the page names semaphores by their variables' "$(grep -c '"deposited"' page.html)" -ge 1
check 'stacks on the page have line numbers' "$(grep -c 'producer-consumer.c:35' page.html)" -ge 1
check 'the page has the text of source lines' "$(grep -cF 'queue[last] = item' page.html)" -ge 1
run "$DPE" deadlock --html=order.html -- "$BUILD/examples/lock-inversion"
gives 'dpe deadlock with --html reports the lock order' 1
check 'the page of dpe deadlock has edges of mutexes' "$(grep -c '"mutex"' order.html)" -ge 1
check 'the page of dpe deadlock names locks that actions of rules hold' "$(grep -c '"journal"' order.html)" -ge 1

# A run that cannot begin creates no file and leaves an earlier one unchanged.
broken=$BUILD/examples/producer-consumer-broken
for words in "run -e enqeue -- $broken" 'run -e enqueue -- ./missing' 'race enqeue -- ./missing' 'deadlock -- ./missing' 'attach -e enqueue -p 4194304' \
	'deadlock -p 4194304' "record -e enqeue -- $broken" 'record -e enqueue -- ./missing' "explore --replay=missing.schedule -- $broken"; do
	rm -f page.html report log.jsonl
	for round in new earlier; do
		case $words in
		record*) outputs='-o log.jsonl' ;;
		*) outputs='--html=page.html --report=report' ;;
		esac
		# shellcheck disable=SC2086
		run "$DPE" ${words%% *} $outputs ${words#* }
		gives "dpe ${words%% *} that cannot begin exits with status 2 ($round files)" 2
		test $round = earlier || check 'a run that cannot begin creates no file' "$(ls page.html report log.jsonl 2>/dev/null)" = ''
		test $round = new || check 'a run that cannot begin leaves earlier files unchanged' "$(cat page.html report log.jsonl | sort | uniq -c | tr -s ' ')" = ' 3 earlier'
		for file in page.html report log.jsonl; do
			echo earlier >$file
		done
	done
done
run "$DPE" run -e 'detect race: enqueue() & dequeue()' --report=no/report --html=new.html -- "$broken"
check 'a run whose report cannot be created creates no page' "$status $(ls new.html 2>/dev/null)" = '2 '
run "$DPE" run -e 'detect race: enqueue() & dequeue()' --report=report --html=page.html -- "$broken"
check 'a run replaces an earlier report and page' "$status $(grep -cx earlier report page.html | tr '\n' ' ')" = '1 report:0 page.html:0 '

# A page that dpe has not written yet says so. At SIGTERM, dpe writes the page.
compile_target long_waits
for signal in TERM KILL; do
	rm -f page.html end
	"$DPE" run -e 'detect x: sem_wait & sem_post' --html=page.html -- ./long_waits post >out 2>err &
	observer=$!
	await eval 'pgrep -P $observer -x long_waits >pid'
	check 'during the run, the page says that dpe writes it when it ends' "$(grep -c 'dpe writes this page when it ends' page.html)" -eq 1
	kill -$signal $observer
	wait $observer
	: >end
	await eval '! kill -0 "$(cat pid)"'
	check "SIG$signal: $(test $signal = TERM && echo dpe writes the page || echo the page still says that dpe writes it later)" \
		"$(grep -c 'dpe writes this page when it ends' page.html) $(grep -ci '</html>' page.html)" = \
		"$(test $signal = TERM && echo '0 1' || echo '1 0')"
done

rm -f report.sarif end
"$DPE" run -e 'detect x: sem_wait & sem_post' --format=sarif --report=report.sarif -- ./long_waits post >out 2>err &
observer=$!
await eval 'pgrep -P $observer -x long_waits >pid'
kill -KILL $observer
wait $observer
: >end
await eval '! kill -0 "$(cat pid)"'
check 'a report in SARIF says that dpe was killed' "$(python3 -c '
import json
invocation, = json.load(open("report.sarif"))["runs"][0]["invocations"]
print(invocation["executionSuccessful"], "killed" in invocation["toolExecutionNotifications"][0]["message"]["text"])')" = 'False True'
finish
