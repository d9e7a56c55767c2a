# What runs the tests: suites that never end.
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
check 'which is told' "$(grep -c 'FAIL cli/endless: 1 passed, 1 failed' out) $(grep -c "did not end within $seconds s" out)" = '1 1'
is_gone() {
	! kill -0 "$(cat "$1")"
}
for process in first other; do
	await is_gone $process.pid
	check "$process: nothing of it is left" "$(is_gone $process.pid 2>/dev/null && echo gone)" = gone
done
finish
