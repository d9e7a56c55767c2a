# What happens to the program when it or dpe ends unexpectedly.
. tests/tap.sh
need_live 'what becomes of the program'
compile_target steps
printf 'detect seen: stride(1).exit\n' >seen.dpe
printf 'detect never: write(99)\n' >write.dpe

# dpe is killed in the middle: the program continues. Only its parent can see its status.
"$DPE" run -s write.dpe -- sh -c 'echo begun; ./steps beyond enough; echo "status $?"' >killed.out 2>killed.err &
await grep -q begun killed.out
kill -9 $!
wait $! 2>/dev/null
: >enough
await grep -q status killed.out
rm enough
printf 'begun\nsum 55\nstatus 7\n' | same 'dpe is killed: the program ends as if alone' killed.out

"$DPE" run -s seen.dpe -- ./steps beyond enough >killed.out 2>killed.err &
await grep -q 'seen: match' killed.err
kill -9 $!
wait $! 2>/dev/null
: >enough
await grep -q sum killed.out
rm enough
printf 'sum 55\n' | same 'dpe is killed while it observes: the program ends as if alone' killed.out

# A stopped process of the same group, and no process of the session outside of that group.
cat >stopped.sh <<'X'
sleep 1000 &
kill -STOP $!
"$1" run $2 -s seen.dpe -- ./steps end 0 || test $? -eq 1 || exit
while pgrep -s 0 -x dpe >/dev/null; do sleep 0.05; done
kill -KILL $!
echo survived
X
for follow in '' --follow; do
	run setsid --wait sh stopped.sh "$DPE" $follow
	check "a stopped process of the same group gets no SIGHUP${follow:+, with $follow}" "$(cat out)" = 'survived'
done

run "$DPE" run -s seen.dpe -- ./steps crash
says 'a crash is reported, and the match before it' 1 'seen: match' 'signal 11 (Segmentation fault)'
run "$DPE" run --target-status -s seen.dpe -- ./steps end 5
gives '--target-status: a finding takes precedence' 1
none='detect none: stride(1) ; stride(99)'
run "$DPE" run -e "$none" -- ./steps crash
gives 'a crash gives the exit status of its signal if nothing is found' 139
run "$DPE" run -e "$none" -- ./steps end 200
gives 'an exit status of the program gives 0 if nothing is found' 0
run "$DPE" run --target-status -e "$none" -- ./steps crash
check "--target-status: the shell's status of a signal" "$status" -eq 139
run "$DPE" run --target-status -e "$none" -- ./steps end 5
check "--target-status: the program's own exit status" "$status" -eq 5
run "$DPE" run --target-status -e 'detect never: usleep' -- ./steps end 0
gives '--target-status: nothing observed is no success' 3
run "$DPE" run --target-status --allow-unobserved -e 'detect never: usleep' -- ./steps end 0
gives '--target-status --allow-unobserved: nothing observed is a success' 0
run "$DPE" run -s seen.dpe -- ./steps end 5
says 'the exit status of the program is reported' 1 'exited with status 5'

run sh -c 'seq 1 2000 | "$0" run -s seen.dpe -- ./steps copy' "$DPE"
seq 1 2000 | same 'standard input and output are those of the program' out
run "$DPE" run --format=json --report=report.json -s write.dpe -- sh -c 'echo out; echo err >&2; exit 3'
check '--report: standard error is that of the program' \
	"$status $(cat out) $(head -1 err)" = '0 out err'
check '--report: the report is complete' "$(grep -c '"type":"summary"' report.json)" -eq 1

for format in json sarif; do
	run "$DPE" run --format=$format -s write.dpe -- sh -c 'echo out; echo err >&2'
	check "$format on standard output is apart from what the program writes" \
		"$status $(grep -c '^out$' out) $(grep -c '^out$' err) $(grep -c '^err$' err)" = '0 0 1 1'
	python3 -c 'import json, sys; [json.loads(t) for t in (sys.stdin if sys.argv[1] == "json" else [sys.stdin.read()])]' $format <out &&
		ok "$format is whole" || not_ok "$format is whole"
done

# dpe and the program are ended together, as by a service manager.
cat >together.sh <<'X'
"$1" deadlock -- sh -c 'echo $$ >begun; exec sleep 1000' &
while ! test -s begun; do kill -0 $! || exit; sleep 0.05; done
trap '' TERM
kill -TERM 0
wait $!
X
run setsid --wait sh together.sh "$DPE"
says 'SIGTERM for dpe and the program: the signal of the program is reported' "$status" 'sh was killed by signal 15'
check 'SIGTERM for dpe and the program: no error is reported' "$(grep -c 'runs on\|error:' err)" -eq 0

# A copy of the program's own code has copies of our breakpoints.
compile_target own_copy
run "$DPE" run -e 'detect never: work(-1)' -- ./own_copy
says 'a program that has copied its own code: why it dies is said' 133 'own_copy was killed by signal 5' \
	"dpe: note: a program that copies its own code (large pages) copies dpe's breakpoints, too"
run "$DPE" run --allow-unobserved -e 'detect never: usleep' -- ./own_copy
check 'a program that has copied its own code, without breakpoints of ours: it runs as usual' "$status $(cat out)" = '0 copied'

run "$DPE" run -s seen.dpe -- ./no-such-program
says 'an absent program is refused' 2 './no-such-program: error: ' 'No such file or directory'
check 'the refusal of an absent program is one line' "$(lines err)" -eq 1
printf 'no program\n' >text
run "$DPE" run -s seen.dpe -- ./text
says 'a program without execute permission is refused' 2 './text: error: '
check 'the refusal of a program without execute permission is one line' "$(lines err)" -eq 1
chmod +x text
run "$DPE" run -s seen.dpe -- ./text
says 'a text file as the program is refused' 2 'text: error: this is not an ELF program or library; a script begins with #! and its interpreter'
run "$DPE" attach -s seen.dpe -p 4194304
says 'attach to an absent process is refused' 2 '4194304'

printf 'detect seen: strid(1).exit\n' >misspelt.dpe
run "$DPE" run -s misspelt.dpe -- ./steps slowly 1
says 'a misspelt function gets a suggestion' 2 'misspelt.dpe:1:14: error: ' "'strid'" "'stride'"
check 'the program is not started with a misspelt function' "$(lines out)" -eq 0
printf 'detect seen: libx::stride(1)\n' >library.dpe
run "$DPE" run -s library.dpe -- ./steps slowly 1
says 'a function of an absent library is refused' 2 'library.dpe:1:14: error: ' 'libx'
printf 'detect a: foo\ndetect b: bar & stride\n' >both.dpe
run "$DPE" run -s both.dpe -- ./steps slowly 1
check 'two absent functions are two errors' "$status $(grep -c ': error: ' err)" = '2 2'

if command -v setpriv >/dev/null; then
	chmod 755 . && cp "$DPE" dpe-copy && chmod 755 dpe-copy steps && chmod 644 seen.dpe
	run setpriv --reuid=65534 --regid=65534 --clear-groups ./dpe-copy run -s seen.dpe -- ./steps slowly 1
	says 'dpe without root is refused, and CAP_BPF named' 2 'CAP_BPF' 'run dpe as root'
	check 'the refusal of dpe without root is one line' "$(lines err)" -eq 1
fi

# Ctrl-C: SIGINT for the whole process group.
run python3 "$TOP/tests/live/interrupts.py" 'seen: match' "$DPE" run -s seen.dpe -- ./steps beyond never
says 'Ctrl-C ends dpe and the program, with a summary' 1 'seen: match' 'signal 2 (Interrupt)' '1 rule: 1 match'
run python3 "$TOP/tests/live/interrupts.py" --quit 'seen: match' "$DPE" run -s seen.dpe -- ./steps beyond never
says 'Ctrl-\ ends dpe and the program, with a summary' 1 'seen: match' 'signal 3 (Quit)' '1 rule: 1 match'

# The log and the exit status of a run that finds nothing.
printf 'detect never: stride(-5)\n' >never.dpe
run "$DPE" run -o log.jsonl -s never.dpe -- ./steps slowly 3
says 'a run that finds nothing has exit status 0' 0 'nothing found'
check 'the log of a run that finds nothing has every call' "$(grep -c '"event":"stride.enter"' log.jsonl)" -eq 3

# attach
./steps beyond enough >attached.out &
target=$!
await grep -q steps /proc/$target/comm
run python3 "$TOP/tests/live/interrupts.py" '[0-9]{3} events \(' "$DPE" attach --progress=1 -s never.dpe -o attached.jsonl -p $target
: >enough
says 'attach that a signal ends finds nothing' 0 'nothing found'
check 'attach sees events until the signal' "$(grep -c '"event":"stride.enter"' attached.jsonl)" -gt 100
wait $target
check 'the program ends as if alone after attach' "$? $(cat attached.out)" = '7 sum 55'
finish
