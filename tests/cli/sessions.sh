# sessions.py: a page that shows the output of its commands passes; a page that shows any other output fails.
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
check 'sessions.py passes a page with the right output' "$status $(grep -c '^ok' out)" = '0 2'

# wrong TITLE SCRIPT: sessions.py fails the page changed by this sed script
wrong() {
	mkdir "$1"
	sed "$2" page.md >"$1/page.md"
	(cd "$1" && cp ../say.sh . && sed -i 's/^PATIENCE = .*/PATIENCE = 1/w changed' ../sessions.py && python3 ../sessions.py page.md) >out 2>err
	status=$?
	check "$1" "$status $(grep -c '^ok' out) $(cmp -s page.md "$1/page.md" && echo same)" = '1 1 '
}
cp "$TOP/tests/sessions.py" sessions.py
wrong 'a page with another word fails' 's/^1 match: thread/2 matches: thread/'
wrong 'a page with another form of a varying text fails' 's/after 7 events/after all events/'
wrong 'a page with another source line fails' 's/say.c:3/say.c:4/'
wrong 'a page with a line too many fails' 's/^two$/two\nzero/'
wrong 'a page with a line too few fails' '/^  at main/d'
wrong 'a page with one id for two threads fails' 's/thread 1001/thread 1000/'
wrong 'a page with two ids for one thread fails' 's/t = 1000/t = 1001/'
wrong 'a page without a time fails' 's/at 0.5 s/at once/'
wrong 'a page without an address fails' 's/0xabcdef0/it/'
wrong 'a page with another exit status fails' 's/^0$/1/'
wrong 'a page with another last line fails' 's/^9$/8/'
wrong 'a page with a line that never comes fails' 's/^later$/never/'
run python3 sessions.py /dev/null
check 'sessions.py fails a page without commands' "$status" -eq 1
finish
