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
completes 'bash completes the name of a command' 'hang' dpe ha
completes 'bash offers all commands with the same first letter' 'race record replay run' dpe r
completes 'bash completes the name of a command after help' 'hang' dpe help ha
completes 'bash completes an option of a command' '--on-break' dpe replay --on-b
completes 'bash does not offer the option of another command' '' dpe hang --on-b
completes 'bash completes one choice of an option' 'always' dpe replay --draw = al
completes 'bash offers all choices of an option' 'always auto never' dpe replay --draw =
completes 'bash completes a process id after -p' $$ dpe hang -p $$
completes 'bash completes a specification after -s' 'one.dpe' dpe run -s one
printf '#!/bin/sh\n' >bin/only-here && chmod +x bin/only-here
completes 'bash completes a program after --' only-here dpe run -s one.dpe -- only-h

# Each command, option and choice that --help prints, in both shells. In zsh, functions of its completion are replaced by
# some that print their arguments.
described_in_zsh() {
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
		. $script' - "$TOP/cli/completion/_dpe" "$@"
}
in_zsh() {
	described_in_zsh "$@" | sed 's/^\(--*[a-z-]*\|[a-z]*\):..*/\1/' | sort -u | xargs
}
same() {
	test "$2" = "$3" && test -n "$2" && ok "$1" || { not_ok "$1" && explain "wanted: $2" "not: $3"; }
}
run command -v zsh
gives 'zsh is installed' 0
commands=$("$DPE" help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort | xargs)
completes 'bash offers all commands' "$(echo "$commands help" | tr ' ' '\n' | sort | xargs)" dpe ''
same 'zsh offers all commands' "$commands" "$(in_zsh dpe '')"
same 'zsh offers all commands after help' "$commands" "$(in_zsh dpe help '')"
for command in $commands; do
	"$DPE" "$command" --help >help
	options=$(grep -o '^  \(-., \)*--[a-z-]*' help | grep -o -e '--.*' | sort -u | xargs)
	completes "bash offers all options of $command" "$options" dpe "$command" --
	same "zsh offers all options of $command" "$options" "$(in_zsh dpe "$command" --)"
	grep -o '^  \(-., \)*--[a-z-]*=[a-z]*|[a-zA-Z:|-]* ' help | grep -o -e '--.*' | tr -d A-Z | while IFS='=' read -r option choices; do
		completes "bash offers all choices of $command $option" "$(echo "$choices" | tr '| ' '\n\n' | sort | xargs)" dpe "$command" "$option" = ''
		same "zsh offers all choices of $command $option" "$(echo "$choices" | tr '| ' '\n\n' | sort | xargs)" "$(in_zsh dpe "$command" "$option=")"
	done >choices
	cat choices
	failures=$((failures + $(grep -c '^not ok' choices)))
done
for option in --spec --all --format --duration; do
	same "zsh describes $option as --help does" "$("$DPE" run --help | sed -n "s/^.*$option\(=[^ ]*\| [A-Z.]*\)*  *//p")" \
		"$(described_in_zsh dpe run -- | sed -n "s/^$option://p")"
done
same 'zsh completes a file after --html=' FILES "$(in_zsh dpe run --html=)"
same 'zsh completes a file after -s' FILES "$(in_zsh dpe run -s '')"
same 'zsh completes a process after -p' PIDS "$(in_zsh dpe hang -p '')"
same 'zsh completes a program after --' COMMANDS "$(in_zsh dpe run -- '')"
finish
