# Scripts: the program that interprets them is observed, and everything else is as without dpe.
. tests/tap.sh
need_live 'scripts'

cat >interpreter.c <<'C'
#include <stdio.h>

__attribute__((noipa)) int interpret(int words)
{
	return words;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("<%s>", argv[i]);
	printf("%d\n", interpret(argc) - argc);
}
C
${CC:-cc} -g -O1 interpreter.c -o interpreter || not_ok 'compiling'
echo 'detect r(n): interpret(n) { print(n); }' >r.dpe

# script FILE FORMAT: makes a script, its first line by printf
script() {
	printf "$2\nmore of it\n" >"$1"
	chmod +x "$1"
}

# runs NAME WORDS SCRIPT ARGUMENTS...: output as without dpe, and the interpreter is observed with WORDS arguments
runs() {
	name=$1
	words=$2
	shift 2
	"$@" >alone
	run "$DPE" run -s r.dpe -- "$@"
	check "$name" "$(cmp out alone && grep -c "^r: $words$" err)" = 1
}

script plain "#!$PWD/interpreter"
runs 'the interpreter of a script is observed' 4 ./plain one 'two words'
script argument "#! \t$PWD/interpreter \t -x  several words \t "
runs 'the text after the interpreter is one argument' 4 ./argument one
script nested "#!./argument second"
runs 'the interpreter of a script that interprets a script is observed' 6 ./nested one
script a "#!$PWD/plain"
script b '#!./a' && script c '#!./b' && script d '#!./c'
runs 'the interpreter of scripts nested as deep as allowed is observed' 7 ./d one
printf '#!%s' "$PWD/interpreter" >unended && chmod +x unended
runs 'the interpreter of a script without a newline is observed' 2 ./unended
PATH=$PWD:$PATH
runs 'the interpreter of a script on $PATH is observed' 3 plain one
run "$DPE" list plain interpret
check 'dpe list of a script lists functions of its interpreter' "$(grep -c interpret out)" -ge 1

# refused NAME SCRIPT TEXT
refused() {
	run "$DPE" run -s r.dpe -- "$2"
	says "$1" 2 'this is a script that cannot be run' "$3"
	check 'the refusal of a script is one line' "$(lines err)" -eq 1
	"$2" >alone 2>&1 && not_ok 'a refused script does not run without dpe either'
}
script e '#!./d'
refused 'a script nested too deep is refused' ./e 'Too many levels'
script missing '#!/no/such/interpreter -x'
refused 'a script with an absent interpreter is refused' ./missing '/no/such/interpreter: No such file or directory'
script windows "#!$PWD/interpreter\r"
refused "a script with a carriage return after its interpreter is refused" ./windows 'No such file or directory'
script folder '#!/'
refused 'a script with a folder as its interpreter is refused' ./folder 'Is a directory'
script long "#!/$(seq 1 200 | tr -d '\n')"
run "$DPE" run -s r.dpe -- ./long
says 'a script with a first line too long for the kernel is refused' 2 'this is a script that cannot be run: Exec format error'

# A wrapper has children and then becomes another program, as pyenv and env do. Its dynamic linker waits for dpe, while dpe takes
# breakpoints out of the children: neither may wait for the other.
cat >wrapper <<'X'
#!/bin/sh
/bin/true
/bin/true
[ $1 -gt 0 ] && exec "$0" $(($1 - 1))
exec ./interpreter
X
chmod +x wrapper
run "$DPE" run -s r.dpe -- ./wrapper 20
says 'a function that a wrapper does not have is refused, and --follow suggested' 2 "no function 'interpret'" '--follow observes these, too'
run "$DPE" run --follow -s r.dpe -- ./wrapper 20
check 'with --follow the program that a wrapper becomes is observed' "$(grep -c '^r: 1$' err)" = 1
check 'with --follow no event of a wrapper is lost' "$(grep -c ' 0 lost' err)" = 1
run "$DPE" deadlock -- ./wrapper 20
says 'dpe deadlock of a wrapper with one thread, whose children are not observed, has observed nothing' 3 'nothing was observed'
check 'dpe deadlock of a wrapper with children loses no event' "$(grep -c ' 0 lost' err)" = 1
run "$DPE" race -- ./wrapper 0
says 'dpe race of a wrapper that does not report accesses says what to start' 2 'it was not built for that' 'it can start other programs, and accesses are observed in one process: start the program itself'
finish
