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
bounded 'channels and waits for processes' 70000 run -s ipc.dpe

# A verifier that refuses is not a lack of rights.
cat >refuse.c <<'X'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long at[6];
	union bpf_attr *attr;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		at[i] = va_arg(list, long);
	va_end(list);
	attr = (union bpf_attr *)at[1];
	if (number != SYS_bpf || at[0] != BPF_PROG_LOAD || strcmp(attr->prog_name, "on_enter"))
		return next(number, at[0], at[1], at[2], at[3], at[4], at[5]);
	if (attr->log_level)
		strcpy((char *)attr->log_buf, "func#0 @0\ncombined stack size of 3 calls is 544. Too large\nprocessed 9 insns\n");
	errno = EACCES;
	return -1;
}
X
cc -shared -fPIC refuse.c -o refuse.so || not_ok 'building refuse.so'
run env ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0" LD_PRELOAD="$PWD/refuse.so" "$DPE" run -s calls.dpe -- ./calls
says 'a BPF program that the verifier refuses: its reason' 2 \
	"error: the kernel's verifier refuses a BPF program of dpe: combined stack size of 3 calls is 544. Too large" "dpe does not fit Linux $(uname -r)"
check 'a BPF program that the verifier refuses is not reported as a lack of rights' "$(grep -c 'setcap\|run dpe as root' err)" = 0
finish
