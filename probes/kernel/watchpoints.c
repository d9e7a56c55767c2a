/* watchpoints: data events by hardware watchpoints. A watchpoint belongs to a thread, and is inherited by the
 * threads that it creates. So the target is stopped while they are set: when its program begins (launched) or
 * at once (attached). */
#include "probes/features/features.h"
#include "probes/process/process.h"
#include "probes/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- what to watch ----------------------------------------------------------------------- */

static bool report_wrong(const struct dpe_watched *site, char *why, struct dpe_diags *diags)
{
	bool object = strstr(site->lvalue, "->") || strpbrk(site->lvalue, "*[");

	dpe_diag(diags, DPE_ERROR, site->place, "'%s' cannot be watched: %s%s", site->lvalue, why,
		object ? "; a part of what a pointer points to is watched from an event that has the "
			 "pointer: [p->x] from f(p)"
		       : "");
	free(why);
	return false;
}

static bool fits_register(const struct dpe_variable *variable)
{
	uint64_t size = variable->size;

	return (size == 1 || size == 2 || size == 4 || size == 8) && !(variable->address % size);
}

static char *explain_size(const struct dpe_watched *site, uint64_t size)
{
	char *why = dpe_xasprintf("a watchpoint is on 1, 2, 4 or 8 aligned bytes, not on %llu", (unsigned long long)size), *whole;

	if (size <= 8)
		return why;
	whole = dpe_xasprintf("%s; watch a part, such as %s[0] of an array, or %s.member", why, site->lvalue, site->lvalue);
	free(why);
	return whole;
}

static bool find_one(struct dpe_probes *probes, const struct dpe_watched *site,
	struct dpe_watch *watch, struct dpe_diags *diags)
{
	char *why = dpe_variable_find_in(&probes->modules, site->lvalue, &watch->variable);

	if (why) {
		report_wrong(site, why, diags);
		dpe_late_note_watched(&probes->modules, site->place, diags);
		return false;
	}
	if (watch->variable.nsteps)
		why = dpe_xasprintf("the target of a pointer can change its address");
	if (!why && watch->variable.is_complex)
		why = dpe_xasprintf("it is a complex number");
	if (!why && !fits_register(&watch->variable))
		why = explain_size(site, watch->variable.size);
	if (why)
		return report_wrong(site, why, diags);
	watch->access = site->access;
	watch->reads = site->reads;
	watch->event = site->event;
	watch->module = dpe_intern_string(probes->names, watch->variable.module->name);
	watch->name = dpe_intern_string(probes->names, site->lvalue);
	why = dpe_xasprintf("%s'", site->lvalue);
	watch->prior = dpe_intern_string(probes->names, why);
	free(why);
	why = dpe_xasprintf("[%s]", site->lvalue);
	watch->reference = dpe_intern_string(probes->names, why);
	free(why);
	watch->place = site->place;
	return true;
}

static struct dpe_watch *find_watch(struct dpe_probes *probes, const char *lvalue)
{
	dpe_name name = dpe_names_find(probes->names, lvalue, strlen(lvalue));

	for (unsigned i = 0; i < probes->nwatches; i++) {
		if (probes->watches[i].name == name)
			return &probes->watches[i];
	}
	return NULL;
}

/* One watchpoint for both [X] and [X']; access_effects.c distinguishes the two. */
static void share(struct dpe_watch *watch, const struct dpe_watched *site)
{
	watch->update = site->access ? watch->event : site->event;
	watch->event = site->access ? site->event : watch->event;
	watch->access = true;
	watch->reads |= site->reads;
}

/* True for the first of the watchpoints on one variable. */
static bool is_first(const struct dpe_plan *plan, unsigned number)
{
	for (unsigned i = 0; i < number; i++) {
		if (!strcmp(plan->watched[i].lvalue, plan->watched[number].lvalue))
			return false;
	}
	return true;
}

static bool check_count(const struct dpe_plan *plan, struct dpe_diags *diags)
{
	struct dpe_text names = {0};
	unsigned count = 0, beyond = 0;

	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (!is_first(plan, i))
			continue;
		dpe_text_printf(&names, "%s%s", count ? ", " : "", plan->watched[i].lvalue);
		if (count++ == DPE_WATCHES)
			beyond = i;
	}
	if (count > DPE_WATCHES)
		dpe_diag(diags, DPE_ERROR, plan->watched[beyond].place,
			"the rules watch %u variables (%s), the processor has watchpoints for %d",
			count, names.at, DPE_WATCHES);
	dpe_text_free(&names);
	return count <= DPE_WATCHES;
}

bool dpe_watches_check(struct dpe_place place, struct dpe_diags *diags)
{
	bool fire = dpe_watchpoints_fire();

	if (!fire)
		dpe_diag(diags, DPE_ERROR, place,
			"nothing can be watched on this machine: the processor's watchpoints do not fire, as "
			"in some virtual machines");
	return fire;
}

bool dpe_watches_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool complete = check_count(plan, diags);

	for (unsigned i = 0; complete && i < plan->nwatched; i++) {
		struct dpe_watch *same = find_watch(probes, plan->watched[i].lvalue);

		if (same)
			share(same, &plan->watched[i]);
		else
			complete &= find_one(probes, &plan->watched[i],
				&probes->watches[probes->nwatches++], diags);
	}
	complete &= !plan->nwatched || dpe_watches_check(plan->watched[0].place, diags);
	if (!complete)
		probes->nwatches = 0;
	return complete;
}

/* ---- variables that are watched or read ----------------------------------------------------- */

static bool is_in_library(const struct dpe_variable *variable)
{
	return variable->module && !variable->module->program;
}

bool dpe_any_variable(
	const struct dpe_probes *probes, bool (*is)(const struct dpe_variable *variable))
{
	for (unsigned i = 0; i < probes->nwatches; i++) {
		if (is(&probes->watches[i].variable))
			return true;
	}
	for (unsigned i = 0; probes->reads && i < probes->plan->nreads; i++) {
		if (is(&probes->reads[i]))
			return true;
	}
	return false;
}

bool dpe_bases_in_libraries(const struct dpe_probes *probes)
{
	return dpe_any_variable(probes, is_in_library);
}

/* ---- setting them ------------------------------------------------------------------------ */

static bool read_memory(pid_t pid, uint64_t address, void *to, size_t size)
{
	char path[32];
	int fd;
	bool good;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	good = pread(fd, to, size, (off_t)address) == (ssize_t)size;
	close(fd);
	return good;
}

int dpe_watch_open(
	const struct dpe_probes *probes, const struct dpe_watch *watch, unsigned number, pid_t thread)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.config = number, /* ignored by the kernel; for our program */
		.sample_period = 1,
		.bp_type = watch->access ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W,
		.bp_addr = watch->address,
		.bp_len = watch->variable.size,
		.inherit = 1,
		.remove_on_exec = 1, /* another program has another variable at that address */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);

	int error;

	if (fd < 0 || !ioctl(fd, PERF_EVENT_IOC_SET_BPF, dpe_attach_on_access(probes)))
		return fd;
	error = errno == ENOSPC ? EIO : errno; /* which means registers only */
	close(fd);
	errno = error;
	return -1;
}

bool dpe_watch_read(
	const struct dpe_probes *probes, const struct dpe_watch *watch, uint64_t *value)
{
	*value = 0;
	return read_memory(probes->pid, watch->address, value, watch->variable.size);
}

static bool open_one(struct dpe_probes *probes, const struct dpe_watch *watch, pid_t thread,
	struct dpe_diags *diags)
{
	int fd = dpe_watch_open(probes, watch, (unsigned)(watch - probes->watches), thread);

	if (fd >= 0) {
		*DPE_GROW(probes->first->links, probes->first->nlinks, probes->first->caplinks) = fd;
		return true;
	}
	if (errno == ENOSPC)
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"no watchpoint is free: something else watches variables in thread %d",
			thread);
	else
		dpe_privilege_explain("watch variables", errno, diags);
	return false;
}

struct watching {
	struct dpe_probes *probes;
	struct dpe_diags *diags;
	bool good;
};

static bool watch_thread(void *context, pid_t thread)
{
	struct watching *watching = context;
	struct dpe_probes *probes = watching->probes;

	for (unsigned i = 0; i < probes->nwatches && watching->good; i++)
		watching->good = !probes->watches[i].fresh || open_one(probes, &probes->watches[i], thread, watching->diags);
	return watching->good;
}

/* Where the variable is, and what is in it. */
static bool place(struct dpe_probes *probes, unsigned number, struct dpe_diags *diags)
{
	struct dpe_watch *watch = &probes->watches[number];
	uint64_t value = 0;

	watch->address = watch->variable.address + watch->variable.module->bias;
	if (!read_memory(probes->pid, watch->address, &value, watch->variable.size)) {
		dpe_diag_at(diags, DPE_ERROR, "dpe", "cannot read '%s' of process %d: %s",
			dpe_name_text(probes->names, watch->name), probes->pid, strerror(errno));
		return false;
	}
	dpe_attach_watch(probes, number, watch->address, (unsigned)watch->variable.size, value);
	return true;
}

bool dpe_watches_set(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct watching watching = {probes, diags, true};

	for (unsigned i = 0; i < probes->nwatches; i++) {
		struct dpe_watch *watch = &probes->watches[i];

		watch->fresh = !watch->set && watch->variable.module->based;
		watch->set |= watch->fresh;
		if (watch->fresh && !place(probes, i, diags))
			return false;
	}
	return !dpe_threads_each(probes->pid, watch_thread, &watching) && watching.good;
}
