# dpe deadlock on well-known programs that do not hang: nothing is reported, and they work as
# without dpe. And on one of them with an injected deadlock.
. tests/tap.sh
need_live 'programs of Debian'
seq 1 150000 >input
runs=4
test -n "${DPE_TEST_LONG:-}" && runs=10
PATH=$PATH:/usr/sbin:/sbin

# installed PROGRAM...: skips, with a message, if one is not
installed() {
	for program in "$@"; do
		command -v "$program" >command && continue
		ok "$1 # skip $program is not installed"
		return 1
	done
}

# quietly COMMAND...
quietly() {
	"$@" >quietly 2>&1
}

# quiet: the last run had no finding and no lost event
quiet() {
	test "$status" -eq 0 && grep -q '^dpe: [0-9]* events, 0 lost; 8 rules: nothing found' err &&
		grep -q '^dpe: .* exited with status 0$' err
}

# calm: quiet, or events were lost, as on a busy machine: then the loss is reported, and no alarm
calm() {
	quiet || {
		test "$status" -eq 3 && grep -q ' lost; 8 rules: nothing found, ' err &&
			! grep -q 'deadlock of\|hang:' err && grep -q '^dpe: .* exited with status 0$' err
	}
}

# apart NAME COMMAND...: in a folder of its own with links to its inputs; its output goes to NAME.tap
apart() {
	name=$1
	shift
	mkdir "$name" || exit 1
	for file in input redis-load memcached.py; do
		test ! -e "$file" || ln -s "../$file" "$name"
	done
	(cd "$name" && "$@") >"$name.tap" 2>&1
}

# has_threads NAME THREADS: the last run's log has at least THREADS threads
has_threads() {
	check "$1 runs at least $2 threads" "$(grep -c '"event":"thread::start"' log.jsonl)" -ge "$2"
}

# compresses THREADS DECOMPRESS PROGRAM ARGUMENTS...: with at least so many threads, the same output as alone
compresses() {
	threads=$1
	decompress=$2
	shift 2
	installed "$1" "${decompress%% *}" || return
	"$@" <input >alone
	times=0
	while test $times -lt $runs; do
		run timeout -s KILL 200 "$DPE" deadlock --on-deadlock=kill -o log.jsonl -- "$@" <input
		mv out packed && : >out
		quiet && cmp -s alone packed && $decompress <packed | cmp -s - input || break
		times=$((times + 1))
	done
	check "$1: no false alarm in $runs runs, and the same output as alone" $times -eq $runs
	has_threads "$1" "$threads"
}

# serves THREADS ANSWERS LOAD STOP PROGRAM ARGUMENTS...: ANSWERS succeeds once it is ready, LOAD if it served all requests
serves() {
	threads=$1
	answers=$2
	load=$3
	stop=$4
	shift 4
	command_line="$*"
	times=0
	while test $times -lt $runs; do
		"$DPE" deadlock --ring=67108864 -o log.jsonl --on-deadlock=kill -- "$@" >out 2>err </dev/null &
		dpe=$!
		await quietly $answers
		timeout 100 $load >load.out 2>&1
		served=$?
		timeout 100 $stop >stop.out 2>&1
		await is_over $dpe || pkill -KILL -P $dpe
		wait $dpe
		status=$?
		calm && test $served -eq 0 || break
		times=$((times + 1))
	done
	check "$1: no false alarm in $runs runs, and all requests served" $times -eq $runs
	test $times -eq $runs || explain "load: exit status $served" "$(cat load.out)"
	has_threads "$1" "$threads"
}

# ---- compressors ------------------------------------------------------------------------------

# Two of them side by side.
apart 1-pigz compresses 4 'gzip -dc' pigz -n -p 4 -b 64 &
apart 2-pbzip2 compresses 4 'bzip2 -dc' pbzip2 -c -p4 -b1 &
wait
apart 3-xz compresses 2 'xz -dc' xz -c -1 -T2 --block-size=128KiB &
apart 4-zstd compresses 2 'zstd -dc' zstd -c -1 -T2 -B512K &
wait

# Where much is lost, the verdict is inconclusive, and the program is not killed.
loses() {
	installed xz || return
	times=0
	while test $times -lt $runs; do
		run timeout -s KILL 200 "$DPE" deadlock --ring=4096 --on-deadlock=kill -- xz -c -1 -T2 --block-size=32KiB <input
		mv out packed && : >out
		grep -q ' 0 lost' err && test "$status" -eq 0 || { grep -q 'nothing found, ' err && test "$status" -eq 3; } || break
		xz -dc <packed | cmp -s - input || break
		times=$((times + 1))
	done
	check 'xz, with a ring that is too small: no false alarm' $times -eq $runs
}

# ---- servers ----------------------------------------------------------------------------------

cat >redis-load <<'X'
#!/bin/sh
# 4000 requests, which the server counts, too; and all pushed elements are in the list.
redis-benchmark -s redis.sock -q -n 1000 -c 20 -P 4 -t set,get,incr,lpush || exit
redis-cli -s redis.sock info stats >stats && redis-cli -s redis.sock info commandstats >>stats || exit
for command in set get incr lpush; do
	grep -q "^cmdstat_$command:calls=1000," stats || exit
done
test "$(redis-cli -s redis.sock llen mylist)" = 1000 && grep 'io_threaded_reads_processed:[1-9]' stats
X
chmod +x redis-load
# Debian's redis-check-rdb is the server, by another name.
serves_redis() {
	installed redis-benchmark &&
		ln -s "$(command -v redis-server || command -v redis-check-rdb)" redis-server &&
		serves 2 'redis-cli -s redis.sock ping' ./redis-load 'redis-cli -s redis.sock shutdown nosave' \
			./redis-server --port 0 --unixsocket redis.sock --save '' --io-threads 2 --io-threads-do-reads yes
}

cat >memcached.py <<'X'
# ready, load or stop. The load: 8 clients with 150 requests each; every answer is checked.
import socket, sys, threading

def connect():
	connection = socket.socket(socket.AF_UNIX)
	connection.settimeout(100)
	connection.connect("memcached.sock")
	return connection.makefile("rwb", 0)

def ask(server, request, answer):
	server.write(request + b"\r\n")
	for line in answer:
		reported = server.readline()
		assert reported == line + b"\r\n", (request, line, reported)

def serve(number):
	server = connect()
	for i in range(50):
		key, value = b"key-%d-%d" % (number, i), b"%d" % (i * i)
		ask(server, b"set %s 0 0 %d\r\n%s" % (key, len(value), value), [b"STORED"])
		ask(server, b"get " + key, [b"VALUE %s 0 %d" % (key, len(value)), value, b"END"])
		server.write(b"incr sum 1\r\n")
		assert server.readline().strip().isdigit()
	served.append(number)

if sys.argv[1] == "ready":
	ask(connect(), b"set sum 0 0 1\r\n0", [b"STORED"])
elif sys.argv[1] == "stop":
	connect().write(b"shutdown graceful\r\n")
else:
	served = []
	clients = [threading.Thread(target=serve, args=(number,)) for number in range(8)]
	for client in clients:
		client.start()
	for client in clients:
		client.join()
	ask(connect(), b"get sum", [b"VALUE sum 0 3", b"400", b"END"])
	sys.exit(len(served) != 8)
X
serves_memcached() {
	installed memcached && serves 4 'python3 memcached.py ready' 'python3 memcached.py load' \
		'python3 memcached.py stop' memcached -u root -A -t 4 -s memcached.sock
}
apart 5-lossy loses &
apart 6-redis serves_redis &
wait
apart 7-memcached serves_memcached &

# ---- a deadlock injected ----------------------------------------------------------------------

${CC:-cc} -g -O1 -fPIC -shared -pthread "$TOP/tests/live/targets/inject.c" -o inject.so || not_ok 'compiling inject.c'
inject() {
	installed pigz || return
	set -- LD_PRELOAD="$folder/inject.so" INJECT_AT=3 pigz -n -p 4 -b 64
	run timeout -s KILL 200 "$DPE" deadlock -- env "$@" <input
	mv out packed && : >out
	says 'a deadlock beside the threads of pigz is reported' 1 '#1 deadlock of 2 threads' '(pigz)' \
		'exited with status 0' '0 lost; 8 rules: 1 deadlock'
	gzip -dc <packed | cmp -s - input && ok 'pigz with a deadlock beside its threads compresses correctly' || not_ok 'pigz with a deadlock beside its threads compresses correctly'
	times=0
	while test $times -lt $runs; do
		run timeout -s KILL 200 "$DPE" deadlock --on-deadlock=kill -- env INJECT_WAIT=1 "$@" <input
		mv out packed && : >out
		test "$status" -eq 1 && test "$(grep -c 'deadlock of' err)" -eq 1 || break
		times=$((times + 1))
	done
	check 'a deadlock that pigz waits for is reported in each run' $times -eq $runs
	says 'a deadlock that pigz waits for has its lock names, and pigz is killed' 1 '(left)' '(right)' 'by lock_two+' 'inject.c:' 'signal 9'
}
apart 8-injected inject &
wait
for said in ./*.tap; do
	cat "$said"
	test -s "$said" || not_ok "$said has no result"
	failures=$((failures + $(grep -c '^not ok' "$said")))
done
finish
