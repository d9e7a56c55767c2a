# Returns of functions whose entries are not observed: each is seen once, in order, with the arguments of the call
# and the result.
. tests/tap.sh
need_live 'returns of functions'

# Functions written for this test.
"$BUILD/targets/exits" 6 | sort >wanted
cut -d' ' -f1 wanted | sort -u | sed 's/.*/detect r&: &(a, _).exit [.ret == 123456]/' >exits.dpe
run "$DPE" record -o log.jsonl -s exits.dpe -- "$BUILD/targets/exits" 6
python3 -c 'import json
for line in open("log.jsonl"):
	m = json.loads(line)
	if "ret" in m:
		print(m["event"].split(".")[0], m["args"][0], m["ret"])' | sort >seen
check 'each return of functions written for this test is seen, with argument and result' "$(wc -l <wanted) $(diff wanted seen | head -3)" = '132 '
# Stacks at the return of functions with and without a frame.
printf 'detect R: saves(4, _).exit\ndetect S: has_frame(4, _).exit\n' >stack.dpe
run "$DPE" run -s stack.dpe -- "$BUILD/targets/exits" 6
check 'stacks at a return name the function and its caller, once each' \
	"$(grep -c ' at saves+0x0 (' err) $(grep -c ' at has_frame+0x0 (' err) $(grep -c ' by main+0x' err)" = '1 1 2'

# Random functions, by several compilers.
seed=${SEED:-1}
for compiler in ${COMPILERS:-"gcc -O1" "gcc -O2" "gcc -O3 -fno-omit-frame-pointer" "clang -O2"}; do
	command -v ${compiler%% *} >/dev/null || continue
	python3 "$TOP/tests/live/exits.py" make $seed >functions.c
	$compiler -w -fwrapv functions.c -o functions || not_ok "compiling for $compiler"
	./functions >reported
	run "$DPE" record --stack=$((seed % 3 * 4)) -o log.jsonl -s functions.dpe -- ./functions
	check "random functions, $compiler, seed $seed: each return is seen" "$(python3 "$TOP/tests/live/exits.py" compare reported log.jsonl)" = 'True 0'
	check 'random functions: no event is lost' "$(grep -c ' 0 lost' err)" -eq 1
	seed=$((seed + 1))
done

# Contended mutexes, taken by all functions that do so.
cat >locks.dpe <<'DPE'
detect lock(m): pthread_mutex_lock(m).exit [.ret == 1]
detect unlock(m): pthread_mutex_unlock(m).exit [.ret == 1]
DPE
${CC:-cc} -O2 -pthread "$TOP/tests/live/targets/exits.c" -o locks || not_ok 'compiling exits.c'
./locks 4 2000 >alone
run "$DPE" record --stack=0 --ring=33554432 -o log.jsonl -s locks.dpe -- ./locks 4 2000
check 'contended mutexes: the output of the program is the same as without dpe' "$(sed 's/ 0x.*//' out)" = "$(sed 's/ 0x.*//' alone)"
check 'contended mutexes: each lock and unlock of each kind is seen' "$(python3 "$TOP/tests/live/exits.py" locks out log.jsonl)" = 'True'
finish
