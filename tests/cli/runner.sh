# tests/run: suites that never end, that fail, and that fail only once.
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
gives 'tests/run fails if a suite does not end' 1
check 'tests/run reports the suite that did not end' "$(grep -c 'FAIL cli/endless: 1 passed, 1 failed' out) $(grep -c "did not end within $seconds s" out)" = '1 2'
is_gone() {
	! kill -0 "$(cat "$1")"
}
for process in first other; do
	await is_gone $process.pid
	check "tests/run ends the $process process of a suite that did not end" "$(is_gone $process.pid 2>/dev/null && echo gone)" = gone
done

DPE_ONLY=cli/endles/s run own/tests/run
says 'tests/run fails if no suite is chosen' 2 "tests/run: no suite's name contains 'cli/endles/s'"

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
gives 'tests/run fails if suites fail' 1
sed 's/ ([0-9.]* s)$//' out >all
sed -n '/^FAIL cli.own_wrong/,/a warning/p' all | sed '4,41d' >wrong
same 'tests/run shows failed checks first, with bounded explanations, and no passed check' wrong <<'X'
FAIL cli/own_wrong: 2 passed, 1 failed
     | not ok - second
     | # line 1 of its explanation
     | # (21 more lines are left out)
     | a warning
X
check 'tests/run counts a suite without output as failed' "$(grep -c '^FAIL cli/own_silent: 0 passed, 1 failed' all)" -eq 1
check 'tests/run runs a failed live suite again' "$(grep -c '^AGAIN live/own_once: 1 passed, 1 failed' all) $(grep -c '^AGAIN live/own_twice:' all)" = '1 1'
grep -A 2 '^UNSTEADY' all >unsteady
same 'tests/run reports a suite that passes the second time as unsteady' unsteady <<'X'
UNSTEADY live/own_once: passed when run again alone; 1 failed before:
     | not ok - only the first time
     | # because it was
X
sed -n '/^failed/,$p' all | sort >end
same 'tests/run lists all failures at the end' end <<'X'
     | cli/own_silent: exit status 3
     | cli/own_wrong: not ok - second
     | live/own_twice: not ok - each time
3 passed, 3 failed
failed:
X
rm began
DPE_ONLY=live/own_once run own/tests/run
gives 'tests/run succeeds with an unsteady suite' 0
check 'tests/run counts an unsteady suite as passed' "$(tail -1 out)" = '1 passed, 0 failed'
rm began
DPE_UNSTEADY=fail DPE_ONLY=live/own_once run own/tests/run
gives 'tests/run fails with an unsteady suite under DPE_UNSTEADY=fail' 1
check 'tests/run counts an unsteady suite as failed under DPE_UNSTEADY=fail' "$(tail -1 out)" = '1 passed, 1 failed'
sed -i 's/^def divide.*/&\n    raise ValueError("of a lane")/' own/tests/run
DPE_ONLY=cli/own_wrong run own/tests/run
says 'tests/run fails after an exception in a lane' 1 'ValueError: of a lane'
finish
