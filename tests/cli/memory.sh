# Long logs take no more memory than short ones.
. tests/tap.sh

if grep -q __asan_init "$DPE"; then
	echo 'ok - memory of long logs # skip a sanitizer keeps what was freed'
	finish
	exit
fi

cat >log.py <<'X'
import sys
# Work on objects: thread 0 hands one to two others, which do it side by side, and takes it back.
count, turn, out = int(sys.argv[1]), 0, []
for turn in range(count // 10):
    o, t = turn % 500, 1 + turn % 3 * 2
    line = '{"event":"%s","thread":%d,"args":[' + str(o) + ']}'
    out += [line % e for e in (("a", 0), ("go", 0), ("got", t), ("b", t), ("done", t), ("got", t + 1),
                               ("c", t + 1), ("done", t + 1), ("back", 0), ("d", 0))]
print("\n".join(out))
X
cat >peak.py <<'X'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
X
sync='sync last g(o): go(o) ; got(o)
sync all h(o): done(o) ; back(o)'
python3 log.py 100000 >short.jsonl
python3 log.py 800000 >long.jsonl
for log in short long; do "$DPE" convert $log.jsonl $log.dpel; done

# flat NAME RULE: the long log takes as much as the short one, give or take
flat() {
	printf '%s\n%s\n' "$sync" "$2" >rule.dpe
	for log in short.jsonl long.jsonl short.dpel long.dpel; do
		python3 peak.py "$DPE" replay --format=json -s rule.dpe $log >$log.peak
	done
	explain "$2: $(cat short.jsonl.peak) and $(cat long.jsonl.peak) KiB; .dpel: $(cat short.dpel.peak) and $(cat long.dpel.peak)"
	for format in jsonl dpel; do
		check "$1, .$format" "$(cat long.$format.peak)" -lt $(($(cat short.$format.peak) * 5 / 4 + 2048))
	done
}
flat 'side by side, found' 'detect r(o): b(o) & c(o)'
flat 'side by side, not found' 'detect r: a & b'
flat 'one after the other, found' 'detect r(o): a(o) ; b(o)'
flat 'one after the other, not found' 'detect r(o): a(o) ; z(o)'
flat 'an expectation of each object' 'expect r(o): (a(o) ; (b(o) & c(o)) ; d(o))*'

# Traces of another tool, read as they are and from a .dpel log.
for n in 20000 160000; do
	awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) { t = i % 4; l = i % 7
		printf "T%d|acq(L%d)|1\nT%d|w(V%d)|2\nT%d|rel(L%d)|3\n", t, l, t, l, t, l } }' >$n.std
	"$DPE" convert $n.std $n.dpel
	for format in std dpel; do
		python3 peak.py "$DPE" replay -s rapid.dpe $n.$format >$n.$format.peak
	done
done
for format in std dpel; do
	check "races of a trace, .$format" "$(cat 160000.$format.peak)" -lt $(($(cat 20000.$format.peak) * 5 / 4 + 2048))
done
finish
