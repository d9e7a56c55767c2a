# USDT probes: places in a program that are made to be observed.
. tests/tap.sh
need_live 'USDT probes'
compile_target sdt

count_seen() {
	grep -c "$1" err
}

./sdt >answer
check 'without dpe the semaphore of a USDT probe is not set' "$(cat answer)" = '0 0 0'

cat >sdt.dpe <<'DPE'
detect push(x): usdt::queue::push(x, _, y, n, 7) [count == n] by T { printf("%d %d %d", x, y, n); }
detect pop(v): usdt::queue::pop(v, w, -1) { print(v, w); }
detect costly(i): usdt::queue::costly(i)
detect order: usdt::queue::push ; pop.enter
detect real: usdt::queue::real
detect done: usdt::queue::done
detect named(s): usdt::queue::push(_, text(s)) [s = "text"]
DPE
for depth in 0 8; do
	run "$DPE" run --all --stack=$depth -s sdt.dpe -- ./sdt
	check 'arguments in registers and a constant are read' "$(count_seen '^push: -2 0 1$') $(count_seen '^push: 1 -3 1$')" = '1 1'
	check 'arguments in memory are read' "$(count_seen '^pop: 100 65535$') $(count_seen '^pop: 400 2$')" = '1 1'
	check 'a probe with a semaphore is observed, its argument at an address relative to the code' \
		"$(count_seen 'costly(1)') $(count_seen 'costly(4)')" = '1 1'
	check 'the semaphore of a probe is set while it is observed' "$(cat out)" = '0 4 1'
	check 'a rule matches USDT probes together with functions' "$(count_seen 'order: match')" -eq 4
	check 'a probe with an unreadable argument that no rule uses is observed' "$(count_seen 'real: match')" -ge 1
	check 'all places of a probe are observed' "$(count_seen 'done: match')" -eq 2
	check 'text that an argument of a probe points to is read' "$(count_seen 'named: match')" -eq 4
	check 'no event is lost' "$(count_seen ' 0 lost')" -eq 1
done
check 'the report has the places of USDT probes' "$(count_seen 'at push+0x[0-9a-f]* (.*sdt.c:')" -ge 4
summary=$(grep '^dpe: .*rules' err)
run "$DPE" record -o sdt.jsonl -s sdt.dpe -- ./sdt
run "$DPE" replay --all -s sdt.dpe sdt.jsonl
check 'a replay has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"
attaches './sdt stands-by' --all -s sdt.dpe
check 'attach has the same verdicts' "$(grep '^dpe: .*rules' err)" = "$summary"

# refused NAME SPEC TEXT
refused() {
	echo "$2" >refused.dpe
	run "$DPE" run -s refused.dpe -- ./sdt
	says "$1" 2 "$3"
	check 'the refusal of a probe comes before the target starts' ! -s out
}
refused 'a misspelt probe gets a suggestion' 'detect r: usdt::queue::puhs' "did you mean 'usdt::queue::push'?"
refused 'a probe of an absent provider is refused' 'detect r: usdt::stack::push' "no USDT probe 'push' of a provider 'stack'"
refused 'the return of a probe is refused' 'detect r: usdt::queue::push.exit' 'a USDT probe is neither entered nor left'
refused 'more arguments than a probe has are refused' 'detect r(a, b, c, d): usdt::queue::pop(a, b, c, d)' "'pop' has 3 arguments, and the rules ask for 4"

run "$DPE" list ./sdt 'usdt::queue::p*'
check 'dpe list lists USDT probes with the types of their arguments' "$(cat out)" = 'usdt::queue::push(int, unsigned long, char, int, int)
usdt::queue::pop(long, unsigned short, long)'
refused 'an argument of a probe that no probe can read is refused' 'detect r: usdt::queue::real [.args[0] = 1]' \
	"argument 1 of 'real', which has no value: it is in a place that no probe can read"
finish
