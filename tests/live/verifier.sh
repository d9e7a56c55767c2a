# The work of the kernel's verifier before a target starts is bounded: a loop or function that it follows on every path costs more.
. tests/tap.sh
need_live 'work of the verifier'
cat >calls.c <<'X'
[[gnu::noipa]] static int call(int n)
{
	return n;
}

int main(void)
{
	return call(0);
}
X
cc -g calls.c -o calls || not_ok 'building it'
printf 'include "pthread.dpe"\ndetect never: call(n) ; call(n).exit [n > 1]\n' >calls.dpe

# bounded NAME MOST OPTIONS...: instructions that the verifier has processed, of all programs together
bounded() {
	what=$1 most=$2
	shift 2
	run "$DPE" "$@" --debug=probes:2 -s calls.dpe -- ./calls
	sed -n 's/.* instructions, \([0-9]*\) verified$/\1/p' err >verified
	check "$what: at least 6 BPF programs are loaded" "$(lines verified)" -ge 6
	check "$what: the verifier processed at most $most instructions" "$(awk '{ sum += $1 } END { print sum }' verified)" -le "$most"
}

bounded 'one process' 50000 run
bounded 'processes that are followed' 100000 run --follow
finish
