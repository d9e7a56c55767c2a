# Limits of resources. The ring of --preload is a file in memory: limits of their size must not end dpe. A log that has no room does not
# disturb the program. Where no more files can be opened, processes of the program run without probes.
. tests/tap.sh
need_live 'limits of the size of files'
echo 'detect never: libc::pthread_mutex_lock ; libc::pthread_mutex_trylock' >rule.dpe
program=$BUILD/examples/producer-consumer
run sh -c 'ulimit -S -f 1000; exec "$@"' - "$DPE" run --preload --allow-unobserved -s rule.dpe -- "$program"
check '--preload raises a soft limit of the size of files' $status -lt 2
run sh -c 'ulimit -f 1000; exec "$@"' - "$DPE" run --preload -s rule.dpe -- "$program"
says '--preload under a hard limit of the size of files reports that the ring is too large' 2 'File too large'
run sh -c 'ulimit -S -f 1000; exec "$@"' - "$DPE" run --preload -s rule.dpe -- sh -c 'ulimit -f'
check 'with --preload, the program has its own limit of the size of files' "$(cat out)" = 1000

echo 'detect never: late() ; early()' >late.dpe
compile_target early
mkdir full
for log in full.dpel full.jsonl; do
	run unshare -m sh -c 'mount -t tmpfs -o size=128k none full && "$0" record --stack=0 -o full/$1 -s late.dpe -- ./early 10000
		status=$?; cp full/$1 .; exit $status' "$DPE" $log
	says "a disk that is full, $log: the program ends as usual, and the log is reported as incomplete" 2 'early exited with status 0' 'incomplete: No space left on device'
	check "a disk that is full, $log: the summary does not say that the events were recorded" \
		"$(grep -c '^dpe: [0-9]* events observed, 0 lost' err) $(grep -c 'events recorded' err)" = '1 0'
	run "$DPE" replay -s late.dpe $log
	says "a disk that is full, $log: what the log lacks makes a replay inconclusive" 3 'never: inconclusive verdict'
done
for log in limited.dpel limited.jsonl; do
	run sh -c 'ulimit -f 256; exec "$@"' - "$DPE" record --stack=0 -o $log -s late.dpe -- ./early 10000
	says "a limit of the size of files, $log: the program ends as usual, and the log is reported as incomplete" 2 'early exited with status 0' \
		'incomplete: File too large'
done
run sh -c 'ulimit -f 8; exec "$@"' - "$DPE" view -o page.html full.jsonl
says 'a page that exceeds a limit of the size of files is reported as incomplete' 2 'page.html: error: the page is incomplete: File too large'
run sh -c 'ulimit -f 8; exec "$@"' - "$DPE" explore --runs=1 -- ./early 1
says 'dpe explore under a limit of the size of files reports that its memory is too large' 2 'File too large'
run sh -c 'ulimit -f 8; exec "$@"' - "$DPE" run --allow-unobserved -e 'detect s: usleep' -- sh -c 'exec head -c 100000 /dev/zero >zeros'
says 'a program that exceeds a limit of the size of files ends as usual' 153 'killed by signal 25'

cat >children.sh <<'X'
exec 3<>go
for i in 1 2 3 4 5 6 7 8 9 10; do
	sh -c 'read line <&3; exit 3' &
	all="$all $!"
done
for child in $all; do echo >&3; done
for child in $all; do wait $child; echo $?; done
X
mkfifo go
run sh -c 'ulimit -n 70; exec "$@"' - timeout --foreground 60 "$DPE" run --follow -e 'detect never: libc::malloc(12345) ; libc::puts' -- sh children.sh
check 'no descriptor is left for probes of more processes: all processes continue' "$(grep -c '^3$' out)" -eq 10
says '... which is reported as a loss' 2 'Too many open files' ' lost; 1 rule: nothing found, 1 inconclusive'
for count in 46 50 54; do
	run sh -c 'ulimit -n $0; exec "$@"' $count "$DPE" run --follow -e 'detect s: libc::puts' -- true
	says "$count descriptors: the reason is given, and not the verifier" 2 'the kernel refused to ' 'Too many open files'
done

for kib in 30000 40000 50000; do
	grep -q __asan_init "$DPE" && break
	run sh -c 'ulimit -v $0; exec "$@"' $kib "$DPE" run --allow-unobserved -e 'detect s: usleep' -- true
	check "an address space of $kib KiB: one line says that memory is missing" \
		"$status $(lines err) $(grep -c 'out of memory\|Cannot allocate memory' err)" = '2 1 1'
done
run sh -c 'ulimit -s 64; exec "$@"' - "$DPE" run --allow-unobserved -e 'detect s: usleep' -- true
says 'a stack of 64 KiB is refused' 2 'the limit of the stack is 64 KiB: dpe needs 1024 (ulimit -s 1024)'
finish
