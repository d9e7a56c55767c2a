# --draw: the causal order of a finding's events.
. tests/tap.sh
export LC_ALL=C.UTF-8

cat >log.jsonl <<'X'
{"id":"1","event":"a","thread":1,"args":[3]}
{"id":"2","event":"b","pred":["1"],"thread":2}
{"id":"3","event":"c","thread":1}
{"id":"4","event":"d","pred":["3"],"thread":3}
{"id":"5","event":"e","pred":["2","4"],"thread":1}
{"id":"6","event":"e","thread":1}
X
cat >rules.dpe <<'X'
detect race: b & d
detect diamond: a ; (b & (c ; d)) ; e
expect no: a ; (b & d) ; e
detect one: a
X
run "$DPE" replay --draw=always -s rules.dpe log.jsonl
same '--draw=always draws matches and violations' err <<'X'
#1 one: match of a  [rules.dpe:4]
  $1 a(3)  id "1"  thread 1
#2 race: match of b&d  [rules.dpe:1]
  $1 b  id "2"  thread 2
  $2 d  id "4"  thread 3
      thread 2  $1 b
      thread 3  $2 d
      $1 and $2 are independent
#3 diamond: match of a;(b&(c;d));e  [rules.dpe:2]
  $1 a(3)  id "1"  thread 1
  $2 b  id "2"  thread 2
  $3 c  id "3"  thread 1
  $4 d  id "4"  thread 3
  $5 e  id "5"  thread 1
      thread 1  $1 a ─ $3 c ───────── $5 e
      thread 2         $2 b
      thread 3                $4 d
      $2 after $1; $4 after $3; $5 after $2 and $4
      $2 and $3, $2 and $4 are independent
#4 no: violation of a;(b&d);e  [rules.dpe:3]
  at e  id "6"  thread 1
  right after e  id "5"  thread 1
      thread 1  e 5 ─ e 6
  6 came right after 5
  expected nothing more
dpe: 6 events, 0 lost; 4 rules: 3 matches, 1 violated
X
run "$DPE" replay -s rules.dpe log.jsonl
check 'a report written to a file has no drawing by default' "$(grep -c '─\|independent' err)" -eq 0
run script -qec "'$DPE' replay -s rules.dpe log.jsonl" /dev/null
check 'a report on a terminal has a drawing by default' "$(grep -c 'thread 2  \$1 b' out)" -eq 1
run script -qec "'$DPE' replay --draw=never -s rules.dpe log.jsonl" /dev/null
check '--draw=never turns drawings off on a terminal' "$(grep -c 'thread 2  \$1 b' out)" -eq 0
run "$DPE" replay --draw=always --format=json -s rules.dpe log.jsonl
check 'a JSON report has no drawing' "$(grep -c '─' out)" -eq 0
run "$DPE" replay --draw=often -s rules.dpe log.jsonl
says '--draw refuses an unknown word' 2 "--draw takes one of auto|always|never, not 'often'"

# Without threads, rows are chains; rows that are too wide show only numbers; of many events the last ones are shown.
cat >chains.jsonl <<'X'
{"id":"1","event":"pthread_mutex_lock","pred":[]}
{"id":"2","event":"pthread_mutex_unlock","pred":["1"]}
{"id":"3","event":"pthread_mutex_trylock","pred":["1"]}
{"id":"4","event":"pthread_mutex_destroy","pred":["2","3"]}
{"id":"5","event":"free_all_that_is_left","pred":["4"]}
X
printf 'detect m: pthread_mutex_lock ; (pthread_mutex_unlock & pthread_mutex_trylock) ; pthread_mutex_destroy ; free_all_that_is_left\n' >chains.dpe
run "$DPE" replay --draw=always -s chains.dpe chains.jsonl
sed -n '/^      /p' err >drawn
same 'events without threads are drawn as one row for each chain' drawn <<'X'
      $1 ─ $2 ─ $4 ─ $5
           $3
      $3 after $1; $4 after $2 and $3
X
printf 'detect m: x' >many.dpe
i=1
while test $i -lt 14; do
	printf '{"event":"x","thread":"t\\u001b"}\n' >>many.jsonl
	printf ' ; x' >>many.dpe
	i=$((i + 1))
done
printf '{"event":"x","thread":"t\\u001b"}\n' >>many.jsonl
run "$DPE" replay --draw=always -s many.dpe many.jsonl
sed -n '/^      /p' err | tail -2 >drawn
same 'of many events the last twelve are drawn' drawn <<'X'
      the last 12 of 14 events:
      thread t\x1b  $3 ─ $4 ─ $5 ─ $6 ─ $7 ─ $8 ─ $9 ─ $10 ─ $11 ─ $12 ─ $13 ─ $14
X

# Threads of a deadlock.
cat >deadlock.dpe <<'X'
detect l: lock(m) by t { wait_for(t, m); check_deadlock(); }
detect g: got(m) by t { release(t, m); hold(t, m); }
X
for t in 1 2 3; do
	printf '{"event":"got","thread":%d,"seq":0,"args":["m%d"]}\n' $t $t
	printf '{"event":"lock","thread":%d,"seq":1,"args":["m%d"]}\n' $t $((t % 3 + 1))
done >deadlock.jsonl
run "$DPE" replay --draw=always -s deadlock.dpe deadlock.jsonl
check 'a deadlock is drawn as a cycle of threads and locks' \
	"$(grep -c '^      thread 2 ─ m3 ─▶ thread 3 ─ m1 ─▶ thread 1 ─ m2 ─▶ thread 2$' err)" -eq 1

# Two threads that had one id: the first event of the second does not follow the end of the first.
printf '{"event":"%s","thread":1}\n' look thread::exit look look >again.jsonl
run "$DPE" replay --draw=always -e 'detect r: look & (look^ ; look^^)' again.jsonl
check 'threads with the same id, one after the other, are drawn in two rows' \
	"$(grep -c '^      thread 1  $[123] look$' err) $(grep -c '^      thread 1  $[123] look ─ $[123] look$' err)" = '1 1'

# Locales without box-drawing characters, and no locale at all.
export LC_ALL=C
run "$DPE" replay --draw=always -s deadlock.dpe deadlock.jsonl
check 'in the C locale a deadlock is drawn in ASCII' "$(grep -c '^      thread 2 - m3 -> thread 3 - m1 -> thread 1 - m2 -> thread 2$' err)$(LC_ALL=C grep -c '[^ -~]' err)" = 10
run env LC_ALL= LC_CTYPE= LANG= "$DPE" replay --draw=always -s deadlock.dpe deadlock.jsonl
check 'without a locale in the environment a deadlock is drawn in ASCII' "$(grep -c 'thread 2 - m3 -> thread 3' err)" -eq 1
run env LC_ALL= LC_CTYPE=de_DE.utf8 LANG=C "$DPE" replay --draw=always -s deadlock.dpe deadlock.jsonl
check 'LC_CTYPE has precedence over LANG when drawing' "$(grep -c 'thread 2 ─ m3 ─▶ thread 3' err)" -eq 1

export LC_ALL=C.UTF-8
# On a terminal, drawings keep to its width.
on_terminal() {
	columns=$1
	shift
	script -qc "stty cols $columns; $DPE replay $*" /dev/null </dev/null | tr -d '\r' >out
}
on_terminal 38 -s rules.dpe log.jsonl
check 'a drawing on a narrow terminal shows positions without names' "$(grep -c '^      thread 1  $1 ─ $3 ─────── $5$' out)" -eq 1
on_terminal 20 -s rules.dpe log.jsonl
check 'a terminal too narrow for a drawing gets the number of columns it needs' "$(grep -c '^      not drawn: that takes [0-9]* columns' out) $(grep -c '^      thread 1  $1 ─' out)" = '2 0'
on_terminal 40 -s deadlock.dpe deadlock.jsonl
check 'the cycle of a deadlock continues on the next line of a narrow terminal' "$(sed -n '/^      thread 2 ─ m3 ─▶ thread 3$/{n; N; p; }' out)" = '        ─ m1 ─▶ thread 1
        ─ m2 ─▶ thread 2'
finish
