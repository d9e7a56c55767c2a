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

# Each command, option and choice that --help prints, in both shells. In zsh, functions of its completion are replaced by
# some that print what they are given.
in_zsh() {
	zsh -fc '
		_describe() { print -l -- ${(P)2} }
		compset() { }
		compadd() { print -l -- ${(P)2} }
		_files() { print FILES }
		_pids() { print PIDS }
		_command_names() { print COMMANDS }
		script=$1
		shift
		words=("$@") CURRENT=$#
		. $script' - "$TOP/cli/completion/_dpe" "$@" | sed 's/^\(--*[a-z-]*\|[a-z]*\):.*/\1/' | sort -u | xargs
}
same() {
	test "$2" = "$3" && test -n "$2" && ok "$1" || { not_ok "$1" && explain "wanted: $2" "not: $3"; }
}
run command -v zsh
gives 'zsh is there' 0
commands=$("$DPE" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort | xargs)
completes 'bash: all commands' "$(echo "$commands help" | tr ' ' '\n' | sort | xargs)" dpe ''
same 'zsh: all commands' "$commands" "$(in_zsh dpe '')"
for command in $commands; do
	"$DPE" "$command" --help >help
	options=$(grep -o '^  \(-., \)*--[a-z-]*' help | grep -o -e '--.*' | sort -u | xargs)
	completes "bash: all options of $command" "$options" dpe "$command" --
	same "zsh: all options of $command" "$options" "$(in_zsh dpe "$command" --)"
	grep -o '^  \(-., \)*--[a-z-]*=[a-z]*|[a-z|]* ' help | grep -o -e '--.*' | while IFS='=' read -r option choices; do
		completes "bash: $command $option" "$(echo "$choices" | tr '| ' '\n\n' | sort | xargs)" dpe "$command" "$option" = ''
		same "zsh: $command $option" "$(echo "$choices" | tr '| ' '\n\n' | sort | xargs)" "$(in_zsh dpe "$command" "$option=")"
	done >choices
	cat choices
	failures=$((failures + $(grep -c '^not ok' choices)))
done
same 'zsh: a file behind =' FILES "$(in_zsh dpe run --html=)"
same 'zsh: a file' FILES "$(in_zsh dpe run -s '')"
same 'zsh: a process' PIDS "$(in_zsh dpe hang -p '')"
same 'zsh: a program' COMMANDS "$(in_zsh dpe run -- '')"
finish
