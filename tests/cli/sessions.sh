# sessions.py: a page that shows what comes out passes; one that shows anything else fails.
. tests/tap.sh

cat >say.sh <<'END'
echo "1 match: thread $1 (main) at 0.$2 s, thread $3 waits for 0x$4"
echo "  t = $1, after 12 events"
echo "  at main+0x$2 (say.c:3)"
END
cat >page.md <<'END'
# A page

## First

<!-- varies: after \d+ events -->

```
$ cat input
one
two
$ sort -r input
two
one
$ sh say.sh 4711 31 4712 7ffe01; echo $?
1 match: thread 1000 (main) at 0.5 s, thread 1001 waits for 0xabcdef0
  t = 1000, after 7 events
  at main+0x7 (say.c:3)
0
```

## Second

A file of the page, and output that is left out:

```sh
# count.sh
seq 1 9
```

```
$ sh count.sh
1
2
…
9
$ sh say.sh 4711 31 4712 7ffe01 | \
    head -n 1
1 match…
$ { sleep 0.2; echo later >late; sleep 1000; } &
$ grep . late
later
```
END
mkdir right
(cd right && cp ../say.sh . && python3 "$TOP/tests/sessions.py" ../page.md) >out 2>err
status=$?
check 'what is right passes' "$status $(grep -c '^ok' out)" = '0 2'

# wrong NAME CHANGE: a page so changed by sed(1), which fails for that alone
wrong() {
	mkdir "$1"
	sed "$2" page.md >"$1/page.md"
	(cd "$1" && cp ../say.sh . && sed -i 's/^PATIENCE = .*/PATIENCE = 1/w changed' ../sessions.py && python3 ../sessions.py page.md) >out 2>err
	status=$?
	check "$1" "$status $(grep -c '^ok' out) $(cmp -s page.md "$1/page.md" && echo same)" = '1 1 '
}
cp "$TOP/tests/sessions.py" sessions.py
wrong 'another word' 's/^1 match: thread/2 matches: thread/'
wrong 'what varies, in another form' 's/after 7 events/after all events/'
wrong 'another line' 's/say.c:3/say.c:4/'
wrong 'a line too many' 's/^two$/two\nzero/'
wrong 'a line too few' '/^  at main/d'
wrong 'threads that are one' 's/thread 1001/thread 1000/'
wrong 'threads that are two' 's/t = 1000/t = 1001/'
wrong 'no time' 's/at 0.5 s/at once/'
wrong 'no address' 's/0xabcdef0/it/'
wrong 'another status' 's/^0$/1/'
wrong 'another end' 's/^9$/8/'
wrong 'what never comes' 's/^later$/never/'
run python3 sessions.py /dev/null
check 'a page without commands' "$status" -eq 1
finish
