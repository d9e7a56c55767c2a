# Dumps of each pass of the compiler, and of the forms that rules are emitted in, compared with
# tests/dpe-lang/dumps. With DPE_UPDATE set the expected files are written instead.
. tests/tap.sh

dumps=$TOP/tests/dpe-lang/dumps

# compare SPEC FORM COMMAND...: the command's output, SPEC.dpe given to it, is SPEC.FORM
compare() {
	spec=$1
	form=$2
	shift 2
	run "$DPE" "$@" "$dumps/$spec.dpe"
	test -z "$DPE_UPDATE" || cp out "$dumps/$spec.$form"
	if test "$status" -eq 0 && test -s out && diff "$dumps/$spec.$form" out >difference; then
		ok "$spec.dpe as $form is as recorded"
	else
		not_ok "$spec.dpe as $form is as recorded"
		explain_run
		explain "$(cat difference)"
	fi
}

for pass in ast expanded resolved normal; do
	compare passes $pass check --dump=$pass
	compare normal $pass check --dump=$pass
done
for form in pa json dot; do
	compare automaton $form compile --emit=$form
done
for form in net dot; do
	compare net $form compile --emit=$form
done
compare pnml pnml compile --emit=pnml
finish
