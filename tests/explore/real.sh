# Well-known programs run under control and work as usual.
. tests/tap.sh

# has NAME PROGRAM: skips, with a message, if it is not installed
has() {
	command -v "$2" >/dev/null && return
	echo "ok - $1 # skip $2 is not installed"
	return 1
}

# ---- pbzip2: threads that share a queue ----
head -c 1500000 /dev/urandom >data
if has pbzip2 pbzip2; then
	run "$DPE" explore --runs=3 --setup='rm -f data.bz2' -- pbzip2 -k -p3 -1 data
	says "pbzip2 runs under control without finding" 0 "3 runs" "nothing found"
	check "pbzip2 under control compresses correctly" -z "$(bzip2 -dc data.bz2 | cmp - data 2>&1)"
fi

# ---- Python: a lock for all threads, and queues ----
cat >threads.py <<'END'
import queue, sys, threading, time
work, done = queue.Queue(), []
def serve():
    while (item := work.get()) is not None:
        done.append(item * item)
        time.sleep(0.01)
threads = [threading.Thread(target=serve) for _ in range(3)]
for thread in threads:
    thread.start()
for item in list(range(20)) + [None] * 3:
    work.put(item)
for thread in threads:
    thread.join()
sys.exit(sorted(done) != [item * item for item in range(20)])
END
if has Python /usr/bin/python3; then
	run "$DPE" explore --runs=30 --fails=1-255 -- /usr/bin/python3 threads.py
	says "Python with threads runs under control without finding" 0 "30 runs" "nothing found"
	check "all threads of Python are controlled" -z "$(grep 'not controlled' err)"
fi

# ---- redis: a server that waits for its clients, and frees memory in a thread ----
answers() {
	for _ in $(seq 200); do
		redis-cli -s "$folder/socket" ping 2>&1 | grep -q PONG && return
		sleep 0.1
	done
	return 1
}

client() {
	answers || return 1
	redis-cli -s "$folder/socket" set key value && redis-cli -s "$folder/socket" get key &&
		redis-cli -s "$folder/socket" flushall async
	redis-cli -s "$folder/socket" shutdown nosave
}

if has redis redis-server; then
	client >client.out 2>&1 &
	run "$DPE" explore --runs=1 --run-seconds=60 -- redis-server --port 0 --unixsocket "$folder/socket" --save ''
	wait
	says "redis runs under control without finding" 0 "1 run" "nothing found" "blocked in epoll_wait"
	check "redis under control gives its client the right answers" "$(tr '\n' ' ' <client.out)" = "OK value OK "
fi

# ---- memcached: threads that wait for clients, while others sleep again and again ----
cat >memcached.py <<'END'
import socket, sys, time
for _ in range(200):
    try:
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.1)
client.sendall(b"set key 0 0 5\r\nvalue\r\nget key\r\n")
answer = b""
while not answer.endswith(b"END\r\n"):
    answer += client.recv(100)
print(answer)
client.sendall(b"shutdown\r\n")
END
if has memcached memcached; then
	python3 memcached.py "$folder/memcached" >memcached.out 2>&1 &
	run "$DPE" explore --runs=1 --run-seconds=60 -- memcached -u root -A -t 3 -s "$folder/memcached"
	wait
	says "memcached runs under control without finding" 0 "1 run" "nothing found" "blocked in epoll_wait"
	check "memcached under control gives its client the right answers" "$(cat memcached.out)" = "b'STORED\r\nVALUE key 0 5\r\nvalue\r\nEND\r\n'"
fi
finish
