# measure: counts, sums, histograms and quantiles of matches, which are no findings.
. tests/tap.sh

cat >measures.dpe <<'END'
measure latency(i): begin(i, _, _) ; end(i, _, _) { hist($2.time - $1.time); quantiles($2.time - $1.time); }
measure by_kind(i, kind): begin(i, kind, _) ; end(i, kind, n) { count(kind); sum(n, kind); }
measure all_values: begin(_, _, v) + end(_, _, v) { hist(v); }
END
right=0
for seed in 1 2 3 4 5; do
	python3 "$TOP/tests/cli/measure.py" make $seed >log.jsonl
	run "$DPE" replay --format=json -s measures.dpe log.jsonl
	test "$status $(python3 "$TOP/tests/cli/measure.py" compare log.jsonl out)" = '0 as computed' && right=$((right + 1))
done
check 'measures of random logs have the values computed independently, 5 of 5' $right -eq 5

cat >small.jsonl <<'END'
{"event":"submit","thread":1,"time":1000,"args":[1]}
{"event":"done","thread":1,"time":3500,"args":[1]}
{"event":"submit","thread":1,"time":5000,"args":[2]}
{"event":"done","thread":1,"time":8000,"args":[2]}
{"event":"submit","thread":2,"time":5000,"args":["x\u001b"]}
{"event":"done","thread":2,"time":5300,"args":["x\u001b"]}
END
run "$DPE" replay -e 'measure lat(x): submit(x) ; done(x) { hist($2.time - $1.time); quantiles($2.time - $1.time); sum($2.time - $1.time); count(x); sum(x) }' small.jsonl
cat >right <<'END'
lat: hist of 3 values
  [256 ns, 512 ns)                1 |@@@@@@@@@@@@@@@@@@@@                    |
  [512 ns, 1.02 us)               0 |                                        |
  [1.02 us, 2.05 us)              0 |                                        |
  [2.05 us, 4.10 us)              2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
lat: quantiles of 3 values
  min 300 ns, 50 % 2.53 us, 90 % 2.98 us, 99 % 2.98 us, 99.9 % 2.98 us, max 3.00 us
lat: sum 5.80 us of 3 values: mean 1.93 us, min 300 ns, max 3.00 us
lat[1]: count 1
lat[2]: count 1
lat[x\x1b]: count 1
lat: sum 3 of 2 values: mean 1.5, min 1, max 2
  1 more were not numbers
dpe: 6 events, 0 lost; 1 rule: measured
END
same 'measures are printed as text, with control characters escaped' err <right
check 'matches of a measure rule are no findings' $status -eq 0

{
	printf '{"event":"a","thread":1,"args":[%s]}\n' true true false null '"1"' 1.50
	printf '{"event":"b","thread":1,"args":[1%060d]}\n' 0
} >words.jsonl
run "$DPE" replay -e 'measure m: a(_) { sum($1.args[0]); }' -e 'measure n: b(_) { sum($1.args[0]); }' words.jsonl
says 'true and false are measured as 1 and 0, null and text not at all, and numbers of any length' 0 'm: sum 3.5 of 4 values' \
	'  2 more were not numbers' 'n: sum 1e+60 of 1 value'

run "$DPE" replay -e 'measure us(x): submit(x) ; done(x) { sum(($2.time - $1.time) / 1000); hist($2.time / 1us); }' small.jsonl
says 'a quotient of times is a number without a unit' 0 'us: sum 5 of 3 values' '  [2, 4)'
run "$DPE" replay -e 'detect slow(x): submit(x) ; done(x) [$2.time - $1.time > 2.6us]' -e 'detect fast(x): submit(x) ; done(x) [$2.time - $1.time < 1us]' \
	-e 'detect exact(x): submit(x) ; done(x) [$2.time - $1.time == 3us]' -e 'detect long(x): submit(x) ; done(x) [$2.time - $1.time >= 1ms]' small.jsonl
says 'conditions compare times with units' 1 'slow: match' 'fast: match' 'exact: match' '3 matches'
run "$DPE" replay -e 'detect r: a [$1.time > 99999999999999999999999999999999999min]' small.jsonl
says 'a condition with a time that is too large is refused' 2 'integer overflow in a literal'

{ echo '{"dpe_lost":3,"thread":1}'; cat small.jsonl; } >lost.jsonl
run "$DPE" replay -e 'measure lat(x): submit(x) ; done(x) { count() }' lost.jsonl
says 'a measure is inconclusive after a loss' 3 inconclusive 'thread 1 lost 3'
run "$DPE" replay -e 'measure lat(x): submit(x) ; done(x)' small.jsonl
says 'a measure rule without an action is refused' 2 'needs an action that calls count, sum, hist or quantiles'
run "$DPE" replay -e 'measure lat: submit(x) { hist() }' small.jsonl
says 'hist() without a value is refused' 2 "0 values given to 'hist': write hist(value), or hist(value, key, …)"
run "$DPE" replay -e 'measure never: nothing() { count() }' small.jsonl
says 'a measure whose event never occurs is reported as not observed' 0 'nothing() was never observed'
printf 'measure lat(x): submit(x) ; done(x) { count(); }\n' >lat.dpe
run "$DPE" check lat.dpe
check 'dpe check shows the mode of a measure rule' "$(grep -c '^measure lat: ' out)" = 1
run "$DPE" fmt lat.dpe
check 'dpe fmt keeps a measure rule' "$(cat out)" = 'measure lat(x): submit(x) ; done(x) { count(); }'
run "$DPE" replay -e 'detect measure: measure(x)' -e 'detect other: count(x)' small.jsonl
says 'measure and count can be names of rules and events' 0 'measure(x) was never observed'
finish
