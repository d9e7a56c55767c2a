# Completion in shells.
. tests/tap.sh
mkdir bin && ln -s "$DPE" bin/dpe
PATH=$folder/bin:$PATH

# completes NAME WANTED WORD...: the last word, in bash; sorted
completes() {
	name=$1
	wanted=$2
	shift 2
	answer=$(bash -c '
		. "$1/cli/completion/dpe.bash"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_dpe
		printf "%s\n" "${COMPREPLY[@]}" | sort -u | xargs' - "$TOP" "$@")
	test "$answer" = "$wanted" && ok "$name" || { not_ok "$name" && explain "wanted: $wanted" "not: $answer"; }
}
touch one.dpe
completes 'a command' 'hang' dpe ha
completes 'several' 'race record replay run' dpe r
completes 'an option' '--on-break' dpe replay --on-b
completes 'none of another command' '' dpe hang --on-b
completes 'a choice' 'always' dpe replay --draw = al
completes 'choices' 'always auto never' dpe replay --draw =
completes 'a process' $$ dpe hang -p $$
completes 'a file' 'one.dpe' dpe run -s one
printf '#!/bin/sh\n' >bin/only-here && chmod +x bin/only-here
completes 'a program' only-here dpe run -s one.dpe -- only-h
if command -v zsh >/dev/null; then
	run zsh -n "$TOP/cli/completion/_dpe"
	gives 'zsh reads its own' 0
fi
finish
