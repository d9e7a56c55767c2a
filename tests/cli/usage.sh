# Usage of the command, and its messages when it is used wrongly.
. tests/tap.sh

printf 'expect R: a ; b\n' >r.dpe
printf '(a .) (b a)\n' >r.msg

for command in check compile run top attach record replay view convert list deadlock hang race; do
	run "$DPE" $command --help
	check "dpe $command --help prints its usage" "$status $(head -c 11 out)" = "0 usage: dpe "
done
run "$DPE" --help
check 'dpe --help lists the commands' "$status $(grep -c '^  ' out)" = '0 15'
run "$DPE" help
gives 'dpe help succeeds' 0
run "$DPE" --version
check 'dpe --version prints the version' "$status $(cut -d' ' -f1 out)" = '0 dpe'
run "$DPE" help replay
check 'dpe help COMMAND prints the usage of the command' "$status $(head -1 out)" = '0 usage: dpe replay -s SPEC... [OPTIONS] LOG...'
run "$DPE" help replya
says 'dpe help suggests the nearest command for an unknown one' 2 "did you mean 'replay'?"
run "$DPE"
says 'dpe without arguments prints its usage' 2 'usage: dpe COMMAND'

run "$DPE" replya -s r.dpe r.msg
says 'an unknown command is refused with the nearest one' 2 "unknown command 'replya'" "did you mean 'replay'?"
run "$DPE" version
says 'an unknown command is refused with the nearest option of dpe itself' 2 "unknown command 'version'; did you mean '--version'?"
run "$DPE" ./race
says 'a program in the place of a command is refused with where it belongs' 2 "'./race' is a program, which follows a command and '--': dpe race -- ./race"
run "$DPE" replay --fromat=json -s r.dpe r.msg
says 'an unknown option is refused with the nearest one' 2 "unknown option '--fromat'" "did you mean '--format'?"
check 'an unknown option is reported in one line' "$(lines err)" -eq 1
for option in --quiet --silent --version-all; do
	run "$DPE" run $option -s x.dpe -- true
	check "no option is suggested for $option, which is near to none" "$status $(grep -c "unknown option '$option' (see" err)" = '2 1'
done
run "$DPE" run -fromat -s x.dpe -- true
says 'the nearest option is suggested for a word with a single dash' 2 "did you mean '--format'?"
run "$DPE" replay --rule=R -s r.dpe r.msg
says 'an option of another command is refused, with that command' 2 "unknown option '--rule', which these commands have: compile"
run "$DPE" replay -x -s r.dpe r.msg
says 'an unknown option letter is refused' 2 "unknown option '-x'"
run "$DPE" replay -s r.dpe r.msg --report
says 'an option without its argument is refused' 2 '--report needs an argument'
run "$DPE" replay r.msg -s
says '-s without a specification is refused' 2 '-s needs a specification'
run "$DPE" replay --format=xml -s r.dpe r.msg
says 'an option with an unknown choice is refused' 2 "--format takes one of text|json|sarif, not 'xml'"
run "$DPE" replay --all=yes -s r.dpe r.msg
says 'an option that takes no argument is refused with one' 2 '--all takes no argument'
run "$DPE" replay --max-instances=many -s r.dpe r.msg
says 'an option that takes a number is refused with a word' 2 '--max-instances takes a number' "'many'"
run "$DPE" run -s r.dpe --ring=5000 -- true
says '--ring is refused with a number that is no power of two' 2 '--ring takes a power of two'

run "$DPE" check
says 'dpe check without a specification is refused' 2 'no specification'
run "$DPE" replay r.msg
says 'dpe replay without a specification is refused' 2 'no specification: use -s SPEC'
run "$DPE" replay -s r.dpe
says 'dpe replay without a log is refused' 2 'no log; - is standard input'
run "$DPE" replay -s r.dpe missing
says 'a missing log without a known suffix is reported as missing' 2 "no log: 'missing'"
run "$DPE" replay -e 'detect a: a' missing
says 'a missing log is reported as missing, whatever its name' 2 'missing: error: cannot open this log: No such file or directory'
run "$DPE" replay -s r.msg
says '-s with a log alone is refused with what was taken as the log' 2 "-s needs a specification, and 'r.msg' is a log"
cp r.msg plain
run "$DPE" replay -s r.dpe plain
says 'a log without a known suffix after -s is refused with advice to put --from first' 2 "no log: 'plain' is taken as a specification of -s" 'put --from'
run "$DPE" replay --from=msg -s r.dpe plain
gives '--from before -s SPEC accepts a log without a known suffix' 0
mkdir folder.dpel
for out in folder.dpel r.odd; do
	run "$DPE" convert r.msg $out
	cat err
done >refused
check 'dpe convert refuses a folder and an unknown suffix as output' "$(sed 's/;.*//' refused | tr '\n' '|')" = \
	'folder.dpel: error: cannot create this log: Is a directory|r.odd: error: the name does not say which format this log has: it should end in .jsonl, .msg, .dpel or .std|'
run "$DPE" run -e 'detect a: write' -- ./folder.dpel
says 'dpe run refuses a folder as program' 2 'folder.dpel: error: cannot be run: Is a directory'
run "$DPE" run -s r.dpe
says 'dpe run without a program is refused' 2 "no program: use -- COMMAND...; 'dpe attach' takes -p PID"
run "$DPE" deadlock
says 'dpe deadlock without a program is refused with both ways to give one' 2 'no program: use -- COMMAND..., or -p PID'
mkdir alone
cp "$DPE" alone/dpe
run alone/dpe deadlock -- true
says 'dpe copied without its specifications says where it looks for them' 2 "dpe: error: 'deadlock.dpe', which comes with dpe, is in none of" \
	"$PWD/alone/dpe-lang/std" 'make install' 'DPE_PATH'
run env DPE_PATH="$TOP/dpe-lang/std" alone/dpe deadlock --plan
check 'DPE_PATH tells a copied dpe where its specifications are' "$(grep -c 'which comes with dpe' err)" = 0
run "$DPE" run -s r.dpe --
says 'dpe run with nothing after -- is refused' 2 'no program'
run "$DPE" record -s r.dpe -- true
says 'dpe record without -o is refused' 2 'no output log: use -o LOG'
run "$DPE" attach -s r.dpe
says 'dpe attach without a process is refused' 2 'no process: use -p PID'
run "$DPE" convert r.msg
says 'dpe convert with one log is refused' 2 'two logs are needed'
run "$DPE" list
says 'dpe list without a program is refused' 2 'no program: name one, or use -p PID'
run "$DPE" check -- no-such.dpe
says "dpe check takes words after '--' as files" 2 'no-such.dpe: error: cannot read this file'

run "$DPE" check no-such.dpe
says 'dpe check reports a missing specification' 2 'no-such.dpe: error: cannot read this file: No such file or directory'
run "$DPE" check ''
says 'an empty word is no specification' 2 "'': error: cannot read this file"
run "$DPE" replay -s r.dpe no-such.jsonl
says 'dpe replay reports a missing log' 2 'no-such.jsonl: error: cannot open this log: No such file or directory'
run "$DPE" list ./no-such-program
says 'dpe list reports a missing program' 2 'no-such-program'
run "$DPE" replay -s r.dpe r.msg --report=no/such/folder
says 'dpe replay reports a --report file that cannot be written' 2 'no/such/folder' 'No such file or directory'
run "$DPE" convert r.msg no/such/out.jsonl
says 'dpe convert reports a log that cannot be written' 2 'no/such/out.jsonl' 'No such file or directory'
run "$DPE" convert r.msg out.unknown
says 'dpe convert refuses a log of an unknown format' 2 'out.unknown'
if test -e /dev/full; then
	run sh -c '"$0" replay --format=json -s r.dpe r.msg >/dev/full' "$DPE"
	check 'a JSON report to a full device has exit status 2' "$status" -eq 2
	for format in jsonl dpel std msg; do
		printf '{"event":"acq","thread":1,"args":["L"]}\n' >one.jsonl
		test $format != msg || printf '{"event":"acq","id":"acq"}\n' >one.jsonl
		run "$DPE" convert --to=$format one.jsonl /dev/full
		says "dpe convert reports a full device: $format" 2 '/dev/full: error: this log is incomplete: No space left on device'
	done
	run "$DPE" replay --trace=/dev/full -s r.dpe r.msg
	says '--trace reports a full device' 2 '/dev/full: error: the trace is incomplete: No space left on device'
fi

run "$DPE" fmt --help
check '--help shows both names of an option' "$(grep -c '^  -i, --in-place ' out) $(grep -c '^  -h, --help ' out)" = '1 1'
run "$DPE" attach -s r.dpe -p 0
says '-p 0 is refused' 2 "--pid takes a number from 1 to 2147483647, not '0'"
run "$DPE" attach -s r.dpe --pid=-1
says '--pid=-1 is refused' 2 "not '-1'"
run "$DPE" replay --max-instances= -s r.dpe r.msg
says 'an option that takes a number is refused with an empty argument' 2 "not ''"
run "$DPE" list -px
says 'dpe list -px takes x as process id and refuses it' 2 "not 'x'"

run "$DPE" race
says 'dpe race without words and program is refused' 2 'nothing to watch'
for word in , get, ,put ''; do
	run "$DPE" race "$word" -- true
	says "dpe race refuses '$word'" 2 "'$word' is neither a variable nor a pair of functions"
done
for word in 12 'n;' "n'" '"n"' n==1 queue.c:12 a.1 n- 'n[1]x' '*p'; do
	run "$DPE" race "$word" -- true
	says "dpe race refuses '$word'" 2 "'$word' is no name of a variable"
done
run "$DPE" race counter "$DPE"
says 'a program without -- is refused behind a word, too' 2 'is a program: put it after'
cp "$DPE" ./program
printf 'detect a: b\r\n' >dos.dpe
run "$DPE" run -s dos.dpe ./program
says 'a program without -- behind -s is refused as a program' 2 "'./program' is a program: put it after '--': dpe run … -- ./program"
run "$DPE" run -s dos.dpe -- true
says 'a line that ends in CR LF is shown without the CR' 2 '  | detect a: b' '  |           ^'
check 'and without its code' "$(grep -c 'x0d' err)" = 0
run "$DPE" race '&counter' -- true
says 'dpe race refuses the address of a variable and suggests the variable' 2 "'&counter': write the name of the variable itself, counter"
run "$DPE" list -p 4194304
says 'dpe list reports a missing process' 2 'there is no process 4194304'
mkdir folder.pnml
run "$DPE" compile folder.pnml
says 'dpe compile refuses a folder as net' 2 'folder.pnml: error: cannot read this file: Is a directory'
head -c 300000 /dev/urandom | tr -d '\000' >noise
for what in 'replay -s r.dpe --from=jsonl' 'replay -s r.dpe --from=msg'; do
	run "$DPE" ${what%% *} ${what#* } noise
	check "dpe $what noise prints a limited number of errors" "$status $(test "$(lines err)" -le 320 &&
		grep -c '^dpe: note: [0-9]* more errors or warnings are not shown' err)" = '2 1'
done
run "$DPE" replay -s r.dpe r.msg --suppressions noise
check 'a file of suppressions that is noise gets one error' "$status $(grep -c 'error: ' err)" = '2 1'
run "$DPE" deadlock
says 'dpe deadlock without a program is refused' 2 'no program'
run "$DPE" deadlock -p 1 -- true
says 'dpe deadlock refuses a process together with a program' 2 'not both'
run "$DPE" compile --emit=nett r.dpe
says '--emit is refused with an unknown format' 2 'one of pa|json|dot|net|pnml'
finish
