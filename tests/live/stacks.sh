# Stacks: all callers where code keeps frame pointers, also the ones that will return to the kernel
# first as their exits are observed; the function and its caller where it keeps none.
. tests/tap.sh
need_live 'stacks'
CC=${CC:-cc}
targets=$TOP/tests/live/targets
$CC -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls "$targets/nested.c" -o nested || exit 1
$CC -g -O1 -fomit-frame-pointer -fno-optimize-sibling-calls "$targets/nested.c" -o bare || exit 1
printf 'detect R: innermost(_)\n' >one.dpe
printf 'detect R: innermost(_)\ndetect S: outer(_).exit ; inner(_).exit\n' >exits.dpe

# frames PROGRAM SPEC OPTIONS...: the functions on the first innermost's stack
frames() {
	program=$1
	spec=$2
	shift 2
	run "$DPE" run --format=json "$@" -s $spec.dpe -- ./$program
	python3 -c '
import json
for line in open("out"):
    reported = json.loads(line)
    if reported.get("rule") == "R" and reported["type"] == "verdict":
        print(*(frame.split("+")[0] for frame in reported["messages"][-1]["stack"]))
        break
'
}

# is NAME WANTED GOT
is() {
	if test "$2" = "$3"; then
		ok "$1"
	else
		not_ok "$1"
		explain "wanted: $2" "got: $3"
		explain_run
	fi
}

all='innermost inner outer main'
is 'all callers by frame pointers' "$all" "$(frames nested one | cut -d' ' -f1-4)"
is 'also of those whose exits are observed' "$all" "$(frames nested exits | cut -d' ' -f1-4)"
is 'so many as are asked for' 'innermost inner' "$(frames nested one --stack=2)"
is 'the caller without frame pointers' 'innermost inner' "$(frames bare one | cut -d' ' -f1-2)"
finish
