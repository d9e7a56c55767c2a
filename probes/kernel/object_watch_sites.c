/* object_watch_sites: which parts of which objects are watched, and where that begins and ends. */
#include "probes/kernel/kernel.h"

#include <bpf/bpf.h>
#include <stdlib.h>

/* ---- which parts ------------------------------------------------------------------------- */

/* The part of an object at a pointer that is an argument: one step, no further. */
static char *check(const struct dpe_variable *variable)
{
	uint64_t size = variable->size;

	if (variable->in_structure)
		return dpe_xasprintf("it is not a pointer");
	if (variable->nsteps != 1)
		return dpe_xasprintf("the target of a pointer in the object can change its address");
	if (variable->is_complex)
		return dpe_xasprintf("it is a complex number");
	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
		(uint64_t)variable->steps[0] % size)
		return dpe_xasprintf("a watchpoint is on 1, 2, 4 or 8 aligned bytes, not on %llu",
			(unsigned long long)size);
	return NULL;
}

static bool is_site_of(const struct dpe_plan_site *site, const struct dpe_object_moment *moment)
{
	return site->name == moment->name && site->module == moment->module;
}

/* Finds the part by the debug information of a function that has the pointer. */
static char *find_part(const struct dpe_site *site, const struct dpe_watched_object *wanted,
	struct dpe_object_watch_kind *kind)
{
	struct dpe_variable variable;
	char *why;

	if (site->wanted->kind || site->usdt)
		return dpe_xasprintf("only for functions is it known what arguments point to");
	why = dpe_variable_of_call(site->module, site->function, wanted->object->lvalue, &variable);
	if (!why)
		why = check(&variable);
	if (!why && kind->found &&
		(kind->watch.variable.size != variable.size ||
			kind->watch.variable.steps[0] != variable.steps[0]))
		why = dpe_xasprintf(
			"the functions '%s' have objects of different kinds", site->function->name);
	if (!why) {
		kind->watch.variable = variable;
		kind->watch.address = (uint64_t)variable.steps[0];
		kind->found = true;
	}
	return why;
}

static char *check_pointer(const struct dpe_site *site, const struct dpe_object_moment *moment)
{
	if (site->wanted->kind || site->usdt)
		return dpe_xasprintf("only functions have arguments that point to it");
	if (site->preloaded)
		return dpe_xasprintf("the preloaded library reports '%s' without waiting for "
				     "dpe",
			site->function->name);
	if (!moment->result && dpe_signature_word(site->signature, moment->arg) < 0)
		return dpe_xasprintf("argument %u of '%s' is not a pointer that can be read",
			moment->arg + 1, site->function->name);
	return NULL;
}

/* Adds a change at one function; watching may begin and end at the same one. */
static char *look_at_site(const struct dpe_site *site, const struct dpe_watched_object *wanted,
	struct dpe_object_watch_kind *kind)
{
	char *why = NULL;

	if (is_site_of(site->wanted, &wanted->object->from)) {
		why = check_pointer(site, &wanted->object->from);
		if (!why)
			why = find_part(site, wanted, kind);
	}
	if (!why && wanted->object->ends && is_site_of(site->wanted, &wanted->object->to))
		why = check_pointer(site, &wanted->object->to);
	return why;
}

static bool find_kind(
	struct dpe_probes *probes, unsigned number, unsigned first_site, struct dpe_diags *diags)
{
	const struct dpe_watched_object *wanted = &probes->plan->objects[number];
	struct dpe_object_watch_kind *kind = &probes->object_watches->kinds[number];
	char *why = NULL;

	for (unsigned i = first_site; !why && i < probes->nsites; i++)
		why = look_at_site(&probes->sites[i], wanted, kind);
	if (!why && !kind->found)
		why = dpe_xasprintf("no file that the program begins with has the function from "
				    "which it is watched");
	if (!why)
		return true;
	dpe_diag(diags, probes->placed ? DPE_WARNING : DPE_ERROR, wanted->place,
		"'%s' cannot be watched: %s", wanted->object->lvalue, why);
	free(why);
	return false;
}

static void name_kind(struct dpe_probes *probes, unsigned number)
{
	const struct dpe_watched_object *wanted = &probes->plan->objects[number];
	struct dpe_watch *watch = &probes->object_watches->kinds[number].watch;
	char *prior = dpe_xasprintf("%s'", wanted->object->lvalue);

	watch->access = wanted->access;
	watch->reference = wanted->object->access;
	watch->place = wanted->place;
	watch->event = wanted->access ? wanted->object->access : wanted->object->update;
	watch->update = wanted->access && wanted->updates ? wanted->object->update : 0;
	watch->reads = wanted->reads;
	watch->name = dpe_intern_string(probes->names, wanted->object->lvalue);
	watch->prior = dpe_intern_string(probes->names, prior);
	free(prior);
}

/* Each of them needs at least one watchpoint, as each variable does. */
static bool check_count(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	unsigned count = probes->nwatches + probes->plan->nobjects;

	if (count > DPE_WATCHES)
		dpe_diag(diags, DPE_ERROR, probes->plan->objects[probes->plan->nobjects - 1].place,
			"the rules watch %u variables and %u parts of objects, the processor has "
			"watchpoints for %d",
			probes->nwatches, probes->plan->nobjects, DPE_WATCHES);
	return count <= DPE_WATCHES;
}

bool dpe_object_watches_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool complete = true;

	if (!plan->nobjects)
		return true;
	if (!check_count(probes, diags))
		return false;
	for (unsigned i = 0; i < plan->nobjects; i++) {
		name_kind(probes, i);
		complete &= find_kind(probes, i, 0, diags);
	}
	complete &= dpe_watches_check(plan->objects[0].place, diags);
	probes->object_watches->nkinds = complete ? plan->nobjects : 0;
	probes->object_watches->begin = dpe_intern_string(probes->names, DPE_WATCH_BEGIN);
	probes->object_watches->end = dpe_intern_string(probes->names, DPE_WATCH_END);
	probes->object_watches->refusal = dpe_intern_string(probes->names, DPE_WATCH_REFUSED);
	return complete;
}

/* ---- for the kernel's side --------------------------------------------------------------- */

static void add_change(const struct dpe_site *site, const struct dpe_object_moment *moment,
	unsigned kind, bool ends, struct dpe_watch_changes *changes)
{
	if (!is_site_of(site->wanted, moment))
		return;
	changes->at[changes->count++] = (struct dpe_watch_change){
		.kind = (__u8)kind,
		.word = moment->result ? DPE_WORDS
				       : (__u8)dpe_signature_word(site->signature, moment->arg),
		.phase = moment->phase == DPE_EXIT,
		.ends = ends,
	};
}

bool dpe_object_watches_at(const struct dpe_probes *probes, const struct dpe_site *site)
{
	for (unsigned i = 0; i < probes->object_watches->nkinds; i++) {
		const struct dpe_object *object = probes->plan->objects[i].object;

		if (is_site_of(site->wanted, &object->from) ||
			(object->ends && is_site_of(site->wanted, &object->to)))
			return true;
	}
	return false;
}

static void configure_site(const struct dpe_probes *probes, int map, uint32_t number)
{
	const struct dpe_site *site = &probes->sites[number];
	struct dpe_watch_changes changes = {0};

	_Static_assert(DPE_WATCH_CHANGES >= 2 * DPE_WATCHES, "each may begin and end at one site");
	for (unsigned i = 0; i < probes->object_watches->nkinds; i++) {
		const struct dpe_object *object = probes->plan->objects[i].object;

		add_change(site, &object->from, i, false, &changes);
		if (object->ends)
			add_change(site, &object->to, i, true, &changes);
	}
	if (changes.count)
		dpe_attach_put(probes, map, &number, &changes);
}

void dpe_object_watches_configure(const struct dpe_probes *probes, int map)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		configure_site(probes, map, i);
}

void dpe_object_watches_find_late(struct dpe_probes *probes, unsigned first_site)
{
	int map = dpe_attach_watch_requests_map(probes);

	for (unsigned i = 0; i < probes->object_watches->nkinds; i++) {
		if (find_kind(probes, i, first_site, probes->diags))
			continue;
		dpe_attach_lose(probes);
		return;
	}
	for (unsigned i = first_site; i < probes->nsites; i++)
		configure_site(probes, map, i);
}
