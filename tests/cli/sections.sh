# `sync during`: the end of a section comes after what other threads have done in sections of that value.
. tests/tap.sh

cat >during.dpe <<'X'
sync during section(o): call(o).enter ; call(o).exit
detect ordered(n): before(n) ; after(n)
detect racing(n): before(n) & after(n)
X

# judges TITLE VERDICTS: verdicts on the log on standard input, lines of `THREAD EVENT ARGUMENT`
judges() {
	sed -n 's/^\([^ ]*\) \([^ ]*\) \([^ ]*\)$/{"thread":"\1","event":"\2","args":[\3]}/p' >log.jsonl
	run "$DPE" replay -s during.dpe log.jsonl
	check "$1" "$(sed -n 's/^#[0-9]* \([a-z]*\): match.*/\1/p' err | sort | tr '\n' ' ')" = "$2"
}

judges 'sync during: events of another thread in its open section are ordered' 'ordered ' <<'X'
runner call.enter 7
waiter call.enter 7
runner before 1
waiter call.exit 7
runner call.exit 7
waiter after 1
X
judges 'sync during: events of another thread before its open section are ordered' 'ordered ' <<'X'
runner before 1
runner call.enter 7
waiter call.enter 7
waiter call.exit 7
waiter after 1
X
judges 'sync during: the end of a section does not order later events in other open sections' 'racing ' <<'X'
runner call.enter 7
waiter call.enter 7
waiter call.exit 7
runner before 1
runner call.exit 7
waiter after 1
X
judges 'sync during: events in a section that another thread has left are ordered' 'ordered ' <<'X'
runner call.enter 7
runner before 1
runner call.exit 7
waiter call.enter 7
waiter call.exit 7
waiter after 1
X
judges 'sync during: the end of a section does not order events outside other sections' 'racing ' <<'X'
runner call.enter 7
waiter call.enter 7
runner call.exit 7
runner before 1
waiter call.exit 7
waiter after 1
X
judges 'sync during: the end of no section orders nothing before it' 'racing ' <<'X'
waiter call.enter 7
runner before 1
runner call.exit 7
waiter call.exit 7
waiter after 1
X
judges 'sync during: the end of no section comes after what was in sections' 'ordered ' <<'X'
runner call.enter 7
runner before 1
runner call.exit 7
waiter call.exit 7
waiter after 1
X
judges 'sync during: events in a section with another value are not ordered' 'racing ' <<'X'
runner call.enter 8
waiter call.enter 7
runner before 1
waiter call.exit 7
runner call.exit 8
waiter after 1
X
judges 'sync during: events in nested sections are ordered by both sections' 'ordered ordered ' <<'X'
runner call.enter 8
runner call.enter 7
one call.enter 7
two call.enter 8
runner before 1
one call.exit 7
one after 1
runner call.exit 7
runner before 2
two call.exit 8
two after 2
X
judges 'sync during: a section without its end lasts until the thread ends' 'ordered racing ' <<'X'
runner call.enter 7
runner before 1
waiter call.enter 7
waiter call.exit 7
waiter after 1
runner thread::exit 0
runner before 2
later call.enter 7
later call.exit 7
later after 2
X
judges 'sync during: a section that begins again replaces the open one' 'ordered racing ' <<'X'
runner call.enter 7
runner call.enter 7
runner before 1
runner call.exit 7
runner before 2
waiter call.enter 7
waiter call.exit 7
waiter after 1
waiter after 2
X

# Many threads at once.
python3 - 2000 >many.jsonl <<'X'
import sys
count = int(sys.argv[1])
for thread in range(count):
    print('{"thread":%d,"event":"call.enter","args":[7]}' % thread)
print('{"thread":3,"event":"before","args":[1]}')
for thread in range(count):
    print('{"thread":%d,"event":"other","args":[1]}' % thread)
print('{"thread":9,"event":"call.exit","args":[7]}\n{"thread":9,"event":"after","args":[1]}')
X
run "$DPE" replay -s during.dpe many.jsonl
says 'sync during: 2000 threads are in one section' 1 'ordered: match'
finish
