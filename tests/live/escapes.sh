# Names that the target chooses cannot control the terminal: dpe escapes them.
. tests/tap.sh
need_live 'escaping of names'

esc=$(printf '\033')
printf 'void odd(void) { __asm__(""); }\nint main(void) { return 0; }\n' >odd.c
${CC:-cc} -g -O1 -c odd.c -o odd.o && objcopy --redefine-sym "odd=odd${esc}[31mname" odd.o &&
	${CC:-cc} odd.o -o odd || not_ok 'compiling a function with an escape in its name'
cp odd "odd${esc}[2J"
printf 'detect s: main\n' >s.dpe

# plain NAME FILE...: no control byte except newlines
plain() {
	name=$1
	shift
	check "$name" "$(cat "$@" | tr -d '\n' | LC_ALL=C grep -c '[[:cntrl:]]')" -eq 0
}

run "$DPE" list ./odd
plain 'dpe list prints no control byte of the name of a function' out err
check 'dpe list shows the escaped name of a function' "$(grep -c 'odd.x1b.31mname' out)" -ge 1
run "$DPE" list --placement ./odd
plain 'dpe list --placement prints no control byte of the name of a function' out err
run "$DPE" run -s s.dpe -- "./odd${esc}[2J"
gives 'a program with an escape character in its name is observed' 1
plain 'the report prints no control byte of the name of a program' out err
check 'the line about the exit shows the escaped name of a program' "$(grep -c 'odd.x1b.2J exited with status 0' err)" -eq 1
finish
