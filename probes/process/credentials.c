/* credentials: users and capabilities of processes. */
#include "probes/process/credentials.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- users ------------------------------------------------------------------------------- */

bool dpe_user_find(struct dpe_user *user, const char *name, struct dpe_diags *diags)
{
	struct passwd *entry = getpwnam(name);

	*user = (struct dpe_user){0};
	if (!entry) {
		dpe_diag_at(diags, DPE_ERROR, name, "there is no such user");
		return false;
	}
	user->name = dpe_xstrdup(entry->pw_name);
	user->uid = entry->pw_uid;
	user->gid = entry->pw_gid;
	getgrouplist(user->name, user->gid, NULL, &user->ngroups);
	user->groups = dpe_xcalloc((size_t)user->ngroups + 1, sizeof(*user->groups));
	if (getgrouplist(user->name, user->gid, user->groups, &user->ngroups) >= 0)
		return true;
	dpe_diag_at(diags, DPE_ERROR, name, "this user's groups cannot be read");
	dpe_user_free(user);
	return false;
}

void dpe_user_free(struct dpe_user *user)
{
	free(user->name);
	free(user->groups);
	*user = (struct dpe_user){0};
}

int dpe_user_become(const struct dpe_user *user)
{
	if ((user->groups && setgroups((size_t)user->ngroups, user->groups)) ||
		setresgid(user->gid, user->gid, user->gid) ||
		setresuid(user->uid, user->uid, user->uid))
		return -errno;
	return 0;
}

/* ---- capabilities ------------------------------------------------------------------------ */

static int get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int set(const struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

uint64_t dpe_capabilities(void)
{
	struct __user_cap_data_struct data[2] = {0};

	return get(data) ? 0 : data[0].effective | (uint64_t)data[1].effective << 32;
}

int dpe_capabilities_keep(const struct dpe_user *user, uint64_t capabilities)
{
	struct __user_cap_data_struct data[2] = {0};
	int error = get(data);

	if (error)
		return error;
	for (unsigned i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(capabilities >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable &= data[i].permitted;
	}
	/* Otherwise a change of the user drops them all. */
	if (user && prctl(PR_SET_KEEPCAPS, 1))
		return -errno;
	error = user ? dpe_user_become(user) : 0;
	if (!error)
		error = set(data);
	if (user)
		prctl(PR_SET_KEEPCAPS, 0);
	return error;
}

/* ---- tracing ----------------------------------------------------------------------------- */

bool dpe_rights_of_file(void)
{
	return getauxval(AT_SECURE);
}

struct dpe_tracer dpe_tracer_find(void)
{
	struct __user_cap_data_struct data[2] = {0};
	struct dpe_tracer tracer = {.uid = getuid(), .gid = getgid()};

	if (dpe_rights_of_file() || get(data))
		return tracer;
	tracer.permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	tracer.all = data[0].effective >> CAP_SYS_PTRACE & 1;
	return tracer;
}

/* The kernel checks the right before the address, which is not mapped. */
static int try_to_read(pid_t pid)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {NULL, 1};

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0)
		return 0;
	return errno == EPERM || errno == ESRCH ? errno : 0;
}

/* Our file's rights are dropped in a child, since they cannot be regained. */
int dpe_tracer_check(pid_t pid)
{
	pid_t child;
	int status;

	if (!dpe_rights_of_file())
		return try_to_read(pid);
	child = fork();
	if (!child)
		_exit(dpe_capabilities_keep(NULL, 0) ? EPERM : try_to_read(pid));
	if (child < 0)
		return errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

/* ---- lending and printing ---------------------------------------------------------------- */

void dpe_capabilities_lend(uint64_t capabilities)
{
	struct __user_cap_data_struct data[2] = {0};

	if (get(data))
		return;
	for (unsigned i = 0; i < 2; i++)
		data[i].inheritable |= data[i].permitted & (uint32_t)(capabilities >> 32 * i);
	if (set(data))
		return;
	for (unsigned i = 0; i < 64; i++)
		if (data[i / 32].inheritable >> i % 32 & capabilities >> i & 1)
			prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
}

void dpe_capabilities_print(struct dpe_text *to, uint64_t capabilities)
{
	static const struct {
		unsigned number;
		const char *name;
	} known[] = {
		{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
		{CAP_KILL, "CAP_KILL"},
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
		{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
		{CAP_PERFMON, "CAP_PERFMON"},
		{CAP_BPF, "CAP_BPF"},
		{CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE"},
	};
	const char *before = "";

	for (unsigned i = 0; i < DPE_COUNT(known); i++) {
		if (!(capabilities >> known[i].number & 1))
			continue;
		dpe_text_printf(to, "%s%s", before, known[i].name);
		before = ", ";
	}
	if (!*before)
		dpe_text_puts(to, "none");
}
