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

# script FILE FORMAT: what is in it, its first line made by printf
script() {
	printf "$2\nmore of it\n" >"$1"
	chmod +x "$1"
}

# runs NAME WORDS SCRIPT ARGUMENTS...: as without dpe, and the interpreter is observed with so many words
runs() {
	name=$1
	words=$2
	shift 2
	"$@" >alone
	run "$DPE" run -s r.dpe -- "$@"
	check "$name" "$(cmp out alone && grep -c "^r: $words$" err)" = 1
}

script plain "#!$PWD/interpreter"
runs 'a script' 4 ./plain one 'two words'
script argument "#! \t$PWD/interpreter \t -x  several words \t "
runs 'what is behind the interpreter is one word' 4 ./argument one
script nested "#!./argument second"
runs 'a script that a script interprets' 6 ./nested one
script a "#!$PWD/plain"
script b '#!./a' && script c '#!./b' && script d '#!./c'
runs 'as deep as it goes' 7 ./d one
printf '#!%s' "$PWD/interpreter" >unended && chmod +x unended
runs 'a line without an end' 2 ./unended
PATH=$PWD:$PATH
runs 'found on $PATH' 3 plain one
run "$DPE" list plain interpret
check 'what can be observed in it' "$(grep -c interpret out)" -ge 1

# refused NAME SCRIPT TEXT
refused() {
	run "$DPE" run -s r.dpe -- "$2"
	says "$1" 2 'this is a script that cannot be run' "$3"
	check 'in one line' "$(lines err)" -eq 1
	"$2" >alone 2>&1 && not_ok 'it runs without dpe'
}
script e '#!./d'
refused 'too deep' ./e 'Too many levels'
script missing '#!/no/such/interpreter -x'
refused 'no such interpreter' ./missing '/no/such/interpreter: No such file or directory'
script windows "#!$PWD/interpreter\r"
refused "a line of another system's" ./windows 'No such file or directory'
script folder '#!/'
refused 'a folder' ./folder 'Permission denied'
script long "#!/$(seq 1 200 | tr -d '\n')"
run "$DPE" run -s r.dpe -- ./long
says 'a line that the kernel does not read to its end' 2 'this is a script that cannot be run: Exec format error'

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
says 'a function that the wrapper does not have' 2 "no function 'interpret'" '--follow observes these, too'
run "$DPE" run --follow -s r.dpe -- ./wrapper 20
check 'with --follow the program that it becomes is observed' "$(grep -c '^r: 1$' err)" = 1
check 'and nothing is lost' "$(grep -c ' 0 lost' err)" = 1
run "$DPE" deadlock -- ./wrapper 20
gives 'a wrapper with children' 0
check 'nothing is lost' "$(grep -c ' 0 lost' err)" = 1
finish
