# Completion of dpe for bash: commands and options are as dpe itself prints them.

_dpe() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} i

	COMPREPLY=()
	# The program behind "--" and its arguments.
	for ((i = 1; i < COMP_CWORD; i++)); do
		test "${COMP_WORDS[i]}" != -- || {
			COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
			return
		}
	done
	if ((COMP_CWORD == 1)) || [[ $COMP_CWORD == 2 && $command == help ]]; then
		COMPREPLY=($(compgen -W "$(dpe help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p') help" -- "$word"))
		return
	fi
	# "--draw=al": bash has made three words of it.
	test "$before" != = || before=${COMP_WORDS[COMP_CWORD - 2]}
	test "$word" != = || word=
	if [[ $before == -p || $before == --pid ]]; then
		COMPREPLY=($(compgen -W "$(ps -eo pid=)" -- "$word"))
	elif [[ $before == --* ]] && COMPREPLY=($(compgen -W "$(dpe "$command" --help 2>/dev/null |
		sed -n "s/^  \(-., \)\{0,1\}$before=\([a-z]*|[a-zA-Z:|-]*\) .*/\2/p" | tr '|' ' ' | tr -d A-Z)" -- "$word")); then
		:
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$(dpe "$command" --help 2>/dev/null |
			sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p')" -- "$word"))
	else
		COMPREPLY=($(compgen -f -- "$word"))
	fi
}
complete -o filenames -F _dpe dpe
