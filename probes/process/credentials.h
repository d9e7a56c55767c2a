/* credentials: users and capabilities: who runs the program, and which of our capabilities are still needed. */
#ifndef DPE_PROBES_PROCESS_CREDENTIALS_H
#define DPE_PROBES_PROCESS_CREDENTIALS_H

#include "base/base.h"

#include <sys/types.h>

/* A user with the groups of a login. */
struct dpe_user {
	char *name;
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* NULL: the process's own */
	int ngroups;
};

/* For dpe_user_free. False after one error. */
bool dpe_user_find(struct dpe_user *user, const char *name, struct dpe_diags *diags);
void dpe_user_free(struct dpe_user *user); /* accepts one that is zeroed */
/* Becomes the user, irrevocably; async-signal-safe. 0 or -errno. */
int dpe_user_become(const struct dpe_user *user);

/* The user on whose behalf processes are traced. */
struct dpe_tracer {
	uid_t uid;
	gid_t gid;
	uint64_t permitted; /* capabilities of the user, not of our own file */
	bool all;           /* CAP_SYS_PTRACE is among those in effect */
};

struct dpe_tracer dpe_tracer_find(void);
/* 0, or the error by which the kernel refuses that the user traces the process: EPERM, ESRCH. */
int dpe_tracer_check(pid_t pid);
/* Whether our own file gives us rights that the user does not have (set-uid, file capabilities). */
bool dpe_rights_of_file(void);

/* The capabilities that the process has, a bit each. */
uint64_t dpe_capabilities(void);
/* Becomes the user (NULL: stays who it is) with these capabilities at most. 0 or -errno. */
int dpe_capabilities_keep(const struct dpe_user *user, uint64_t capabilities);
/* Programs that the process becomes by exec have these, too, if it has them itself. */
void dpe_capabilities_lend(uint64_t capabilities);
/* "CAP_KILL, CAP_BPF", or "none". */
void dpe_capabilities_print(struct dpe_text *to, uint64_t capabilities);

#endif
