# How the command is used, and what it says when it is used wrongly.
. tests/tap.sh

printf 'expect R: a ; b\n' >r.dpe
printf '(a .) (b a)\n' >r.msg

for command in check compile run top attach record replay view convert list deadlock hang race; do
	run "$DPE" $command --help
	check "dpe $command --help" "$status $(head -c 11 out)" = "0 usage: dpe "
done
run "$DPE" --help
check 'dpe --help' "$status $(grep -c '^  ' out)" = '0 15'
run "$DPE" help
gives 'dpe help' 0
run "$DPE" --version
check 'dpe --version' "$status $(cut -d' ' -f1 out)" = '0 dpe'
run "$DPE" help replay
check 'dpe help COMMAND' "$status $(head -1 out)" = '0 usage: dpe replay -s SPEC... [OPTIONS] LOG...'
run "$DPE" help replya
says 'help on an unknown command' 2 "did you mean 'replay'?"
run "$DPE"
says 'dpe alone shows its usage' 2 'usage: dpe COMMAND'

run "$DPE" replya -s r.dpe r.msg
says 'unknown command: the nearest' 2 "unknown command 'replya'" "did you mean 'replay'?"
run "$DPE" version
says 'an option of dpe itself: the nearest' 2 "unknown command 'version'; did you mean '--version'?"
run "$DPE" replay --fromat=json -s r.dpe r.msg
says 'unknown option: the nearest' 2 "unknown option '--fromat'" "did you mean '--format'?"
check 'one line for it' "$(lines err)" -eq 1
run "$DPE" replay --rule=R -s r.dpe r.msg
says 'option of another command' 2 "unknown option '--rule'"
run "$DPE" replay -x -s r.dpe r.msg
says 'unknown letter' 2 "unknown option '-x'"
run "$DPE" replay -s r.dpe r.msg --report
says 'option without its argument' 2 '--report needs an argument'
run "$DPE" replay r.msg -s
says '-s without a specification' 2 '-s needs a specification'
run "$DPE" replay --format=xml -s r.dpe r.msg
says 'wrong choice' 2 "--format takes one of text|json|sarif, not 'xml'"
run "$DPE" replay --all=yes -s r.dpe r.msg
says 'argument that is not wanted' 2 '--all takes no argument'
run "$DPE" replay --max-instances=many -s r.dpe r.msg
says 'number that is none' 2 '--max-instances takes a number' "'many'"
run "$DPE" run -s r.dpe --ring=5000 -- true
says 'ring of an odd size' 2 '--ring takes a power of two'

run "$DPE" check
says 'check without a specification' 2 'no specification'
run "$DPE" replay r.msg
says 'replay without a specification' 2 'no specification: use -s SPEC'
run "$DPE" replay -s r.dpe
says 'replay without a log' 2 'no log; - is standard input'
cp r.msg plain
run "$DPE" replay -s r.dpe plain
says 'a log whose name does not say that it is one' 2 "no log: 'plain' is taken as a specification of -s" 'put --from'
run "$DPE" replay --from=msg -s r.dpe plain
gives 'a log whose format is said before' 0
mkdir folder.dpel
for out in folder.dpel r.odd; do
	run "$DPE" convert r.msg $out
	cat err
done >refused
check 'an output that is a folder, or has another name' "$(sed 's/;.*//' refused | tr '\n' '|')" = \
	'folder.dpel: error: cannot create this log: Is a directory|r.odd: error: the name does not say which format this log has: it should end in .jsonl, .msg, .dpel or .std|'
run "$DPE" run -e 'detect a: write' -- ./folder.dpel
says 'a program that is a folder' 2 'folder.dpel: error: cannot be run: Is a directory'
run "$DPE" run -s r.dpe
says 'run without a program' 2 "no program: use -- COMMAND...; 'dpe attach' takes -p PID"
run "$DPE" deadlock
says 'deadlock without a program' 2 'no program: use -- COMMAND..., or -p PID'
mkdir alone
cp "$DPE" alone/dpe
run alone/dpe deadlock -- true
says 'a command that was copied without its specifications' 2 "dpe: error: 'deadlock.dpe', which comes with dpe, is in none of" \
	"$PWD/alone/dpe-lang/std" 'make install' 'DPE_PATH'
run env DPE_PATH="$TOP/dpe-lang/std" alone/dpe deadlock --plan
check 'and with their folder in DPE_PATH' "$(grep -c 'which comes with dpe' err)" = 0
run "$DPE" run -s r.dpe --
says 'run with nothing after --' 2 'no program'
run "$DPE" record -s r.dpe -- true
says 'record without a log' 2 'no output log: use -o LOG'
run "$DPE" attach -s r.dpe
says 'attach without a process' 2 'no process: use -p PID'
run "$DPE" convert r.msg
says 'convert with one log' 2 'two logs are needed'
run "$DPE" list
says 'list of nothing' 2 'no program: name one, or use -p PID'
run "$DPE" check -- no-such.dpe
says "after '--' stand words where nothing is run" 2 'no-such.dpe: error: cannot read this file'

run "$DPE" check no-such.dpe
says 'no such specification' 2 'no-such.dpe: error: cannot read this file: No such file or directory'
run "$DPE" replay -s r.dpe no-such.jsonl
says 'no such log' 2 'no-such.jsonl: error: cannot open this log: No such file or directory'
run "$DPE" list ./no-such-program
says 'no such program to list' 2 'no-such-program'
run "$DPE" replay -s r.dpe r.msg --report=no/such/folder
says 'report that cannot be written' 2 'no/such/folder' 'No such file or directory'
run "$DPE" convert r.msg no/such/out.jsonl
says 'log that cannot be written' 2 'no/such/out.jsonl' 'No such file or directory'
run "$DPE" convert r.msg out.unknown
says 'log of no known format' 2 'out.unknown'
if test -e /dev/full; then
	run sh -c '"$0" replay --format=json -s r.dpe r.msg >/dev/full' "$DPE"
	check 'standard output that is full' "$status" -eq 2
	for format in jsonl dpel std msg; do
		printf '{"event":"acq","thread":1,"args":["L"]}\n' >one.jsonl
		test $format != msg || printf '{"event":"acq","id":"acq"}\n' >one.jsonl
		run "$DPE" convert --to=$format one.jsonl /dev/full
		says "a disk that is full: $format" 2 '/dev/full: error: this log is incomplete: No space left on device'
	done
	run "$DPE" replay --trace=/dev/full -s r.dpe r.msg
	says 'nor is there room for a trace' 2 '/dev/full: error: the trace is incomplete: No space left on device'
fi

run "$DPE" fmt --help
check 'help shows both names of an option' "$(grep -c '^  -i, --in-place ' out) $(grep -c '^  -h, --help ' out)" = '1 1'
run "$DPE" attach -s r.dpe -p 0
says 'a process of no number' 2 "--pid takes a number from 1 to 2147483647, not '0'"
run "$DPE" attach -s r.dpe --pid=-1
says 'nor one below' 2 "not '-1'"
run "$DPE" replay --max-instances= -s r.dpe r.msg
says 'a number that is empty' 2 "not ''"
run "$DPE" list -px
says 'argument behind the letter' 2 "not 'x'"

run "$DPE" race
says 'dpe race: of what' 2 'nothing to watch'
for word in , get, ,put ''; do
	run "$DPE" race "$word" -- true
	says "dpe race of '$word'" 2 "'$word' is neither a variable nor a pair of functions"
done
run "$DPE" race '&counter' -- true
says 'dpe race of an address' 2 "'&counter': write the name of the variable itself, counter"
run "$DPE" list -p 4194304
says 'list of a process that is not there' 2 'there is no process 4194304'
mkdir folder.pnml
run "$DPE" compile folder.pnml
says 'a net that is a folder' 2 'folder.pnml: error: cannot read this file: Is a directory'
head -c 300000 /dev/urandom | tr -d '\000' >noise
for what in 'replay -s r.dpe --from=jsonl' 'replay -s r.dpe --from=msg' 'replay -s r.dpe r.msg --suppressions'; do
	run "$DPE" ${what%% *} ${what#* } noise
	check "$what noise: an end of errors" "$status $(test "$(lines err)" -le 320 &&
		grep -c '^dpe: note: [0-9]* more errors or warnings are not shown' err)" = '2 1'
done
run "$DPE" deadlock
says 'deadlock without a program' 2 'no program'
run "$DPE" deadlock -p 1 -- true
says 'deadlock of a process and a program' 2 'not both'
run "$DPE" compile --emit=nett r.dpe
says '--emit of an unknown format' 2 'one of pa|json|dot|net|pnml'
finish
