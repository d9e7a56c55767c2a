# `sync during`: what leaves a section comes after all that other threads have done in theirs so far.
. tests/tap.sh

cat >during.dpe <<'X'
sync during section(o): call(o).enter ; call(o).exit
detect ordered(n): before(n) ; after(n)
detect racing(n): before(n) & after(n)
X

# judges NAME VERDICTS: of the log on standard input, lines of `THREAD EVENT ARGUMENT`
judges() {
	sed -n 's/^\([^ ]*\) \([^ ]*\) \([^ ]*\)$/{"thread":"\1","event":"\2","args":[\3]}/p' >log.jsonl
	run "$DPE" replay -s during.dpe log.jsonl
	check "$1" "$(sed -n 's/^#[0-9]* \([a-z]*\): match.*/\1/p' err | sort | tr '\n' ' ')" = "$2"
}

judges 'what a thread has done in a section that it is still in' 'ordered ' <<'X'
runner call.enter 7
waiter call.enter 7
runner before 1
waiter call.exit 7
runner call.exit 7
waiter after 1
X
judges 'what it did before that section' 'ordered ' <<'X'
runner before 1
runner call.enter 7
waiter call.enter 7
waiter call.exit 7
waiter after 1
X
judges 'what it does in it later' 'racing ' <<'X'
runner call.enter 7
waiter call.enter 7
waiter call.exit 7
runner before 1
runner call.exit 7
waiter after 1
X
judges 'all that was done in a section that it has left' 'ordered ' <<'X'
runner call.enter 7
runner before 1
runner call.exit 7
waiter call.enter 7
waiter call.exit 7
waiter after 1
X
judges 'what it does after it has left' 'racing ' <<'X'
runner call.enter 7
waiter call.enter 7
runner call.exit 7
runner before 1
waiter call.exit 7
waiter after 1
X
judges 'a section with another value' 'racing ' <<'X'
runner call.enter 8
waiter call.enter 7
runner before 1
waiter call.exit 7
runner call.exit 8
waiter after 1
X
judges 'sections within each other' 'ordered ordered ' <<'X'
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
judges 'a section that is left without its end, until the thread ends' 'ordered racing ' <<'X'
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
judges 'or begins again' 'ordered racing ' <<'X'
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
says 'many threads at once' 1 'ordered: match'
finish
