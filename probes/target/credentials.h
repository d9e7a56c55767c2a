/* credentials: users and capabilities: whose program it is, and what of ours is still needed. */
#ifndef DPE_PROBES_TARGET_CREDENTIALS_H
#define DPE_PROBES_TARGET_CREDENTIALS_H

#include "base/base.h"

#include <sys/types.h>

/* A user with the groups of a login. */
struct dpe_user {
	char *name;
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* NULL: those that the process has */
	int ngroups;
};

/* For dpe_user_free. False after one error. */
bool dpe_user_find(struct dpe_user *user, const char *name, struct dpe_diags *diags);
void dpe_user_free(struct dpe_user *user); /* accepts one that is zeroed */
/* Becomes the user, for good; async-signal-safe. 0 or -errno. */
int dpe_user_become(const struct dpe_user *user);

/* The capabilities that the process has, a bit each. */
uint64_t dpe_capabilities(void);
/* Becomes the user (NULL: stays who it is) with these capabilities at most. 0 or -errno. */
int dpe_capabilities_keep(const struct dpe_user *user, uint64_t capabilities);
/* Programs that the process becomes by exec have these, too, if it has them itself. */
void dpe_capabilities_lend(uint64_t capabilities);
/* "CAP_KILL, CAP_BPF", or "none". */
void dpe_capabilities_print(struct dpe_text *to, uint64_t capabilities);

#endif
