# Colours: on terminals by default, and with --color.
. tests/tap.sh
esc=$(printf '\033')
echo 'detect race: a & b' >race.dpe
printf '{"event":"a","thread":1}\n{"event":"b","thread":2}\n' >race.jsonl
echo 'detect a ;' >wrong.dpe

run "$DPE" replay -s race.dpe race.jsonl
check 'a report written to a file has no colours' "$status $(grep -c "$esc" err)" = '1 0'
run "$DPE" replay --color=always -s race.dpe race.jsonl
check '--color=always colours headings and the summary' "$(grep -c "^$esc\[1;31m#1 race: .*$esc\[0m$" err) $(grep -c "^$esc\[1mdpe: 2 events.*$esc\[0m$" err)" = '1 1'
sed "s/$esc\[[0-9;]*m//g" err >plain
run "$DPE" replay -s race.dpe race.jsonl
same '--color=always changes nothing but colours' plain <err
run "$DPE" check --color=always wrong.dpe
says '--color=always colours errors and the caret' 2 "$esc[1;31merror$esc[0m: nothing follows" "$esc[1;32m^$esc[0m"

# on_terminal COMMAND: its output on a terminal, to the file `out`
on_terminal() {
	script -qc "$1" /dev/null >out </dev/null
}
on_terminal "TERM=xterm $DPE check wrong.dpe"
check 'an error is coloured on a terminal by default' "$(grep -c "$esc\[1;31merror" out)" -eq 1
on_terminal "TERM=xterm NO_COLOR=1 $DPE check wrong.dpe"
check 'NO_COLOR turns colours off on a terminal' "$(grep -c "$esc" out) $(grep -c error out)" = '0 1'
on_terminal "TERM=dumb $DPE check wrong.dpe"
check 'a terminal of type dumb gets no colours' "$(grep -c "$esc" out) $(grep -c error out)" = '0 1'
on_terminal "TERM=xterm $DPE check --color=never wrong.dpe"
check '--color=never turns colours off on a terminal' "$(grep -c "$esc" out) $(grep -c error out)" = '0 1'
finish
