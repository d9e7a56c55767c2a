# What runs the tests: suites that never end, that fail, and that fail only once.
. tests/tap.sh
mkdir -p own/tests/cli
cp "$TOP/tests/run" own/tests
cat >own/tests/cli/endless.sh <<X
echo 'ok - a check'
setsid sh -c 'echo \$\$ >$folder/other.pid; exec tail -f /dev/null' &
echo \$\$ >$folder/first.pid
wait
X
for seconds in 2 20 200; do # the first that is enough for it to begin
	DPE_SECONDS=$seconds DPE_ONLY=cli/endless run own/tests/run
	test ! -s other.pid || test ! -s first.pid || break
done
gives 'a suite that does not end has failed' 1
check 'which is reported' "$(grep -c 'FAIL cli/endless: 1 passed, 1 failed' out) $(grep -c "did not end within $seconds s" out)" = '1 2'
is_gone() {
	! kill -0 "$(cat "$1")"
}
for process in first other; do
	await is_gone $process.pid
	check "$process: nothing of it is left" "$(is_gone $process.pid 2>/dev/null && echo gone)" = gone
done

# ---- failures -----------------------------------------------------------------------------------
unset DPE_UNSTEADY
mkdir own/tests/live
rm own/tests/cli/endless.sh
cat >own/tests/cli/own_wrong.sh <<'X'
echo 'a warning'
echo 'ok - first'
echo 'not ok - second'
seq -f '# line %g of its explanation' 60
echo 'ok - third'
exit 1
X
echo 'exit 3' >own/tests/cli/own_silent.sh
cat >own/tests/live/own_once.sh <<X
echo 'ok - begins'
test -e $folder/began || { echo 'not ok - only the first time'; echo '# because it was'; }
touch $folder/began
X
printf "echo 'not ok - each time'\\n" >own/tests/live/own_twice.sh
DPE_ONLY=/own_ run own/tests/run
gives 'suites that fail make the run fail' 1
sed 's/ ([0-9.]* s)$//' out >all
sed -n '/^FAIL cli.own_wrong/,/a warning/p' all | sed '4,41d' >wrong
same 'failed checks come first, with explanations of a bounded length, and no check that passed' wrong <<'X'
FAIL cli/own_wrong: 2 passed, 1 failed
     | not ok - second
     | # line 1 of its explanation
     | # (21 more lines are left out)
     | a warning
X
check 'a suite that is silent has failed' "$(grep -c '^FAIL cli/own_silent: 0 passed, 1 failed' all)" -eq 1
check 'a live suite is run again' "$(grep -c '^AGAIN live/own_once: 1 passed, 1 failed' all) $(grep -c '^AGAIN live/own_twice:' all)" = '1 1'
grep -A 2 '^UNSTEADY' all >unsteady
same 'one that then passes is unsteady' unsteady <<'X'
UNSTEADY live/own_once: passed when run again alone; 1 failed before:
     | not ok - only the first time
     | # because it was
X
sed -n '/^failed/,$p' all | sort >end
same 'all failures are listed at the end' end <<'X'
     | cli/own_silent: exit status 3
     | cli/own_wrong: not ok - second
     | live/own_twice: not ok - each time
3 passed, 3 failed
failed:
X
rm began
DPE_ONLY=live/own_once run own/tests/run
gives 'what is unsteady passes' 0
check 'and is counted so' "$(tail -1 out)" = '1 passed, 0 failed'
rm began
DPE_UNSTEADY=fail DPE_ONLY=live/own_once run own/tests/run
gives 'unless it must not be' 1
check 'and is counted so as well' "$(tail -1 out)" = '1 passed, 1 failed'
sed -i 's/^def divide.*/&\n    raise ValueError("of a lane")/' own/tests/run
DPE_ONLY=cli/own_wrong run own/tests/run
says 'an exception in a lane makes the run fail' 1 'ValueError: of a lane'
finish
