# Floating point numbers that are handed over in registers, which the kernel shows no probe.
. tests/tap.sh
need_live 'floating point numbers in registers'

count_seen() {
	grep -c "$1" err
}

# compile OPTION...
compile() {
	${CC:-cc} -D_GNU_SOURCE -g -pthread "$@" "$TOP/tests/live/targets/reals.c" -lm -o reals ||
		not_ok "compiling reals.c $*"
}

cat >reals.dpe <<'DPE'
detect big: add(x, y, n) [x > 98.1] { printf("%s %s %d", x, y, n); }
detect result(x): add(x, _, 99).exit [.ret >= 297.1875] { print(x, $1.ret); }
detect half(x): half(x).exit { print(x, $1.ret); }
detect members(m, t, z): members(m, t, z) [m.real = 1.5 && m.number = 2 && t.second = 0.25] {
	print(m.real, m.number, t.first, t.second, t.third, z); }
detect many: many(a, b, c, d, e, f, g, h, i, j).exit { print(a, b, c, d, e, f, g, h, i, j, $1.ret); }
detect crowd: crowd(a, b, c, d, e, f, _, h, i, j, k, l, m) { print(a, b, c, d, e, f, h, m); }
detect beside: both(_, _).exit [.ret = 3]
detect down(x): down(x) [x > 3] ; down(x).exit { print(x, $2.ret); }
detect first: down(y) [y < 1] ; down(x).exit [x = 1.5 && .ret = 1.5]
detect told: usdt::reals::told(x, y, n, own) [y < 0.2] { print(x, y, n, own); }
DPE
compile -O2 -fPIE -pie
run "$DPE" run --all -s reals.dpe -- ./reals
check 'double and float' "$(count_seen 'big: match') $(count_seen '^big: 99.1875 3.0 99$')" = '6 1'
check 'a result' "$(grep '^result: ' err)" = 'result: 99.1875 396.1875'
check 'zero, too large, no number' "$(grep '^half: ' err | tr '\n' ' ')" = \
	'half: 5.0 2.5 half: 0.0 0.0 half: -0.0 -0.0 half: -1e+300 -1e999 half: nan nan '
check 'members of structures' "$(grep '^members: ' err)" = 'members: 1.5 2 0.5 0.25 4.0 8.0'
check 'all registers, and the stack' "$(grep '^many: ' err)" = \
	'many: 1 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.5 10.5 56.0'
check 'with as many integers' "$(grep '^crowd: ' err)" = 'crowd: 1.0 2.0 3.0 4.0 5.0 6.0 1 6'
check 'beside what has none' "$(count_seen 'beside: match')" -eq 1
check 'the argument of each call' "$(grep '^down: ' err) $(count_seen 'first: match')" = 'down: 3.5 3.5 1'
check 'a USDT probe' "$(grep '^told: ' err)" = 'told: 0.1 0.1 7 0.2'
check 'nothing is lost' "$(count_seen ' 0 lost')" -eq 1
check 'the target is unharmed' "$(cat out)" = '3.5 1'

# Of four threads at full rate each call has come, once, with what it was called with.
cat >exact.py <<'PY'
import json
seen, wrong, results = set(), 0, 0
for line in open("all.jsonl"):
    message = json.loads(line)
    if "args" not in message:
        continue
    x, y, n = message["args"]
    wrong += x != n + y / 16 or y not in (0, 1, 2, 3)
    if "ret" in message:
        results += 1
        wrong += message["ret"] != x + y * n
    else:
        seen.add((y, n))
print(len(seen), results, wrong)
PY
echo 'detect all(x, y, n): add(x, y, n) ; add(x, y, n).exit [.ret = 1]' >all.dpe
for options in '-O0 -no-pie' '-O2 -static'; do
	compile $options
	run "$DPE" record --stack=0 -o all.jsonl -s all.dpe -- ./reals 4 500
	check "exact: $options" "$(python3 exact.py) $(count_seen ' 0 lost')" = '2000 2000 0 1'
done

# refused NAME SPEC TEXT
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./reals
	says "$1" 2 "$3"
	check 'before the target starts' ! -s out
}
refused 'a complex number' 'detect r(x): both(x)' \
	"argument 1 of 'both', which has no value: it is in registers for floating point numbers, and neither float nor double"
refused 'a long double' 'detect r(x): both(_, x)' \
	"argument 2 of 'both', which has no value: it is a floating point number of more than 8 bytes"
refused 'more than a record holds' 'detect r(x): crowd(_, _, _, _, _, _, x)' \
	'it is in a register for floating point numbers, and there is no room for more words of the call'

# What gives way is missing.
if test "$(id -u)" -eq 0 && command -v setpriv >/dev/null; then
	run setpriv --bounding-set=-sys_nice "$DPE" run -s all.dpe -- ./reals
	says 'without the right to have it' 2 \
		"values of 'add' that are in registers for floating point numbers: dpe needs the capability CAP_SYS_NICE for it"
	check 'nothing ran' ! -s out
fi

# begin CALLS: dpe, with a target that goes on until it is told, and makes as many calls then; leaves $dpe and
# $waker, the process that comes before all others
begin() {
	rm -f begun enough
	"$DPE" run --stack=0 -s never.dpe -- ./reals 2 "$1" until >out 2>err &
	dpe=$!
	waker=
	await test -e begun
	for child in $(pgrep -P $dpe); do
		test "$(ps -o cls= -p "$child" | tr -d ' ')" != FF || waker=$child
	done
	check 'somebody waits to be given way to' -n "$waker"
}
# gone: whether the waker is; until somebody has asked how it ended it is still listed, without a command
gone() {
	test -z "$(tr -d '\0' <"/proc/$waker/cmdline")"
}
echo 'detect never(x, y, n): add(x, y, n) ; add(x, y, n).exit [.ret = -1]' >never.dpe
begin 4000
kill -STOP "$waker"
: >enough
wait $dpe
status=$?
check 'what could not be read is lost, and told' \
	"$(count_seen 'warning: registers for floating point numbers could not be read .* times')" -eq 1
says 'the verdict is open' 3 '1 rule: nothing found, 1 inconclusive'
check 'for what is lost' "$(count_seen '^dpe: [1-9][0-9]* events, [1-9][0-9]* lost')" -eq 1
check 'and the target unharmed' "$(cat out)" = '3.5 1'
begin 100
kill -KILL $dpe
wait $dpe 2>/dev/null
await gone && ok 'what waits ends with dpe' || not_ok 'what waits ends with dpe'
: >enough
await test -s out
check 'and the target goes on' "$(cat out)" = '3.5 1'
finish
