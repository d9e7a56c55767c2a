/* drop_credentials: once the target runs, we keep the least privileges: the user who called us, and only the
 * capabilities that are still needed. */
#include "probes/target/target.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

/* ---- who --------------------------------------------------------------------------------- */

/* A number from the environment, which anyone may have set: only root uses it, to drop privileges. */
static bool number_of(const char *name, unsigned *number)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	errno = 0;
	value = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	if (!value || errno || *end || value >= UINT32_MAX)
		return false;
	*number = (unsigned)value;
	return true;
}

/* The user who called sudo; false if none did. */
static bool find_caller(struct dpe_user *user)
{
	const char *name = getenv("SUDO_USER");
	struct dpe_diags *unheard;
	unsigned uid, gid;

	if (geteuid() || !number_of("SUDO_UID", &uid) || !number_of("SUDO_GID", &gid))
		return false;
	unheard = dpe_diags_new();
	*user = (struct dpe_user){0};
	if (!name || !dpe_user_find(user, name, unheard) || user->uid != uid) {
		dpe_user_free(user);
		user->groups = dpe_xcalloc(1, sizeof(*user->groups));
		user->groups[0] = gid;
		user->ngroups = 1;
	}
	user->uid = uid;
	user->gid = gid;
	dpe_diags_free(unheard);
	return true;
}

/* ---- what for ---------------------------------------------------------------------------- */

/* False if the target is gone. */
static bool user_of(pid_t pid, uid_t *uid)
{
	char users[64];

	return dpe_proc_status(pid, "Uid", users, sizeof(users)) && sscanf(users, "%*u %u", uid) == 1;
}

/* Whether a process that is not our child may be traced at all. */
static bool yama_restricts(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = file ? fgetc(file) : '0';

	if (file)
		fclose(file);
	return scope != '0';
}

static bool sees_target(const struct dpe_probes *probes)
{
	char *path = dpe_xasprintf("/proc/%d/exe", probes->pid), byte;
	bool sees = readlink(path, &byte, 1) >= 0;

	free(path);
	return sees;
}

/* Tests whether we still see the target with these capabilities only: it may have more rights than its user. Done in a child
 * process, since dropped capabilities cannot be regained. */
static bool would_see_target(const struct dpe_probes *probes, const struct dpe_user *user, uint64_t capabilities)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(dpe_capabilities_keep(user, capabilities) || !sees_target(probes));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The mount namespace of a process, the caller's; NULL if it cannot be known. */
static char *namespace_of(const char *process)
{
	char *path = dpe_xasprintf("/proc/%s/ns/mnt", process), name[64];
	ssize_t len = readlink(path, name, sizeof(name) - 1);

	free(path);
	name[len > 0 ? len : 0] = '\0';
	return len > 0 ? dpe_xstrdup(name) : NULL;
}

/* A mapped file can always be opened through its mapping; without that right, only by its path, which may lead
 * to another file if there are several mount namespaces. */
static uint64_t for_files(const struct dpe_probes *probes)
{
	char *own = namespace_of("self"), *theirs = NULL;
	char *pid = dpe_xasprintf("%d", probes->pid);
	uint64_t needed = probes->follow ? BIT(CAP_CHECKPOINT_RESTORE) : 0;

	theirs = namespace_of(pid);
	if (!own || !theirs || strcmp(own, theirs) != 0)
		needed = BIT(CAP_CHECKPOINT_RESTORE);
	free(own);
	free(theirs);
	free(pid);
	return needed;
}

static uint64_t find_needed(const struct dpe_probes *probes, const struct dpe_user *user)
{
	uint64_t needed = 0;
	uid_t uid;

	if (!user_of(probes->pid, &uid))
		return 0;
	/* A followed process may become any other user, and we must be able to continue it. */
	if (probes->follow || uid != (user ? user->uid : geteuid()))
		needed |= BIT(CAP_KILL) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH);
	if (!probes->child->pid && yama_restricts())
		needed |= BIT(CAP_SYS_PTRACE);
	needed |= BIT(CAP_BPF) | BIT(CAP_PERFMON) | for_files(probes);
	if (!probes->multi) /* before Linux 6.6 probes need more */
		needed |= BIT(CAP_SYS_ADMIN);
	if (!would_see_target(probes, user, needed))
		needed |= BIT(CAP_SYS_PTRACE);
	return needed;
}

/* ---- doing it ---------------------------------------------------------------------------- */

static void report_kept(const struct dpe_probes *probes)
{
	struct dpe_text text = {0};

	dpe_capabilities_print(&text, dpe_capabilities());
	dpe_debug(probes->debug, "probes", 1, "continues as user %u, with capabilities: %s",
		(unsigned)geteuid(), text.at);
	dpe_text_free(&text);
}

void dpe_probes_drop_privileges(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_user caller = {0};
	const struct dpe_user *user = find_caller(&caller) ? &caller : NULL;
	int error = dpe_capabilities_keep(user, find_needed(probes, user));

	if (error)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"continues with all its privileges, which it cannot give up: %s",
			strerror(-error));
	report_kept(probes);
	dpe_user_free(&caller);
}

/* Only ambient capabilities are passed on to another program. */
void dpe_probes_lend_privileges(void)
{
	dpe_capabilities_lend(BIT(CAP_SYS_PTRACE));
}

int dpe_probes_begin_privileged(void)
{
	const uint64_t kept = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN);
	const struct dpe_user caller = {.uid = getuid(), .gid = getgid()};
	bool changed = caller.uid != geteuid() || caller.gid != getegid();

	if (!changed && !dpe_rights_of_file())
		return 0;
	return dpe_capabilities_keep(changed ? &caller : NULL, kept);
}
