/* armed: watchpoints on objects, set and taken away while the target runs.
 *
 * The thread that comes to such an event waits in the kernel (bpf/armed.h) until we have done it:
 * nothing that it does to the object later is missed. Other threads run on meanwhile; from the
 * message `watch::begin` on nothing of theirs is missed either. */
#include "probes/live.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- which parts ------------------------------------------------------------------------- */

/* What is at a pointer that an argument is: one step, no further. */
static char *check(const struct dpe_variable *variable)
{
	uint64_t size = variable->size;

	if (variable->in_structure)
		return dpe_xasprintf("it is no pointer");
	if (variable->nsteps != 1)
		return dpe_xasprintf("what a pointer in the object leads to changes its place");
	if (variable->is_complex)
		return dpe_xasprintf("it is a complex number");
	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
		(uint64_t)variable->steps[0] % size)
		return dpe_xasprintf("a watchpoint is on 1, 2, 4 or 8 aligned bytes, not on %llu",
			(unsigned long long)size);
	return NULL;
}

static bool is_site_of(const struct dpe_site *site, const struct dpe_object_moment *moment)
{
	return site->name == moment->name && site->module == moment->module;
}

/* What the part is by the debug information of a function that has the pointer. */
static char *find_part(const struct dpe_spot *spot, const struct dpe_watched_object *wanted,
	struct dpe_armed_kind *kind)
{
	struct dpe_variable variable;
	char *why;

	if (spot->site->kind || spot->usdt)
		return dpe_xasprintf("only functions have arguments of which it is known what "
				     "they lead to");
	why = dpe_variable_of_call(
		spot->module, spot->function, wanted->object->lvalue, &variable);
	if (!why)
		why = check(&variable);
	if (!why && kind->found && (kind->watch.variable.size != variable.size ||
				    kind->watch.variable.steps[0] != variable.steps[0]))
		why = dpe_xasprintf("the functions '%s' have objects of different kinds",
			spot->function->name);
	if (!why) {
		kind->watch.variable = variable;
		kind->watch.address = (uint64_t)variable.steps[0];
		kind->found = true;
	}
	return why;
}

static char *check_pointer(
	const struct dpe_spot *spot, const struct dpe_object_moment *moment)
{
	if (spot->site->kind || spot->usdt)
		return dpe_xasprintf("only functions have arguments that point to it");
	if (spot->preloaded)
		return dpe_xasprintf("'%s' is told by the preloaded library, which waits for "
				     "nobody", spot->function->name);
	if (!moment->result && dpe_signature_word(spot->signature, moment->arg) < 0)
		return dpe_xasprintf("argument %u of '%s' is no pointer that can be read",
			moment->arg + 1, spot->function->name);
	return NULL;
}

/* At one function, which may be where it begins and where it ends. */
static char *look_at_spot(const struct dpe_spot *spot, const struct dpe_watched_object *wanted,
	struct dpe_armed_kind *kind)
{
	char *why = NULL;

	if (is_site_of(spot->site, &wanted->object->from)) {
		why = check_pointer(spot, &wanted->object->from);
		if (!why)
			why = find_part(spot, wanted, kind);
	}
	if (!why && wanted->object->ends && is_site_of(spot->site, &wanted->object->to))
		why = check_pointer(spot, &wanted->object->to);
	return why;
}

static bool find_kind(struct dpe_probes *probes, unsigned number, unsigned first_spot,
	struct dpe_diags *diags)
{
	const struct dpe_watched_object *wanted = &probes->plan->objects[number];
	struct dpe_armed_kind *kind = &probes->arms.kinds[number];
	char *why = NULL;

	for (unsigned i = first_spot; !why && i < probes->nspots; i++)
		why = look_at_spot(&probes->spots[i], wanted, kind);
	if (!why && !kind->found)
		why = dpe_xasprintf("no file that the program begins with has the function that "
				    "it is watched from");
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
	struct dpe_watch *watch = &probes->arms.kinds[number].watch;
	char *prior = dpe_xasprintf("%s'", wanted->object->lvalue);

	watch->access = wanted->access;
	watch->event = wanted->access ? wanted->object->access : wanted->object->update;
	watch->update = wanted->access && wanted->tells ? wanted->object->update : 0;
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
		dpe_diag(diags, DPE_ERROR,
			probes->plan->objects[probes->plan->nobjects - 1].place,
			"the rules watch %u variables and %u parts of objects, the processor has "
			"watchpoints for %d",
			probes->nwatches, probes->plan->nobjects, DPE_WATCHES);
	return count <= DPE_WATCHES;
}

bool dpe_armed_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;
	bool complete = true;

	if (!plan->nobjects)
		return true;
	if (!check_count(probes, diags))
		return false;
	if (!dpe_attach_can_wait()) {
		dpe_diag(diags, DPE_ERROR, plan->objects[0].place,
			"to watch objects a thread must wait for dpe, which needs Linux 6.0");
		return false;
	}
	for (unsigned i = 0; i < plan->nobjects; i++) {
		name_kind(probes, i);
		complete &= find_kind(probes, i, 0, diags);
	}
	probes->arms.nkinds = complete ? plan->nobjects : 0;
	probes->arms.begin = dpe_intern_string(probes->names, DPE_WATCH_BEGIN);
	probes->arms.end = dpe_intern_string(probes->names, DPE_WATCH_END);
	probes->arms.refusal = dpe_intern_string(probes->names, DPE_WATCH_REFUSED);
	return complete;
}

/* ---- for the kernel's side --------------------------------------------------------------- */

static void add_arming(const struct dpe_spot *spot, const struct dpe_object_moment *moment,
	unsigned kind, bool disarm, struct dpe_armings *armings)
{
	if (!is_site_of(spot->site, moment))
		return;
	armings->at[armings->count++] = (struct dpe_arming){
		.kind = (__u8)kind,
		.word = moment->result ? DPE_WORDS
				       : (__u8)dpe_signature_word(spot->signature, moment->arg),
		.phase = moment->phase == DPE_EXIT,
		.disarm = disarm,
	};
}

bool dpe_armed_at(const struct dpe_probes *probes, const struct dpe_spot *spot)
{
	for (unsigned i = 0; i < probes->arms.nkinds; i++) {
		const struct dpe_object *object = probes->plan->objects[i].object;

		if (is_site_of(spot->site, &object->from) ||
			(object->ends && is_site_of(spot->site, &object->to)))
			return true;
	}
	return false;
}

static void tell_spot(const struct dpe_probes *probes, int map, uint32_t number)
{
	const struct dpe_spot *spot = &probes->spots[number];
	struct dpe_armings armings = {0};

	_Static_assert(DPE_ARMINGS >= 2 * DPE_WATCHES, "each may begin and end at one site");
	for (unsigned i = 0; i < probes->arms.nkinds; i++) {
		const struct dpe_object *object = probes->plan->objects[i].object;

		add_arming(spot, &object->from, i, false, &armings);
		if (object->ends)
			add_arming(spot, &object->to, i, true, &armings);
	}
	if (armings.count)
		bpf_map_update_elem(map, &number, &armings, BPF_ANY);
}

void dpe_armed_tell(const struct dpe_probes *probes, int map)
{
	for (unsigned i = 0; i < probes->nspots; i++)
		tell_spot(probes, map, i);
}

void dpe_armed_find_late(struct dpe_probes *probes, unsigned first_spot)
{
	int map = dpe_attach_arm_map(probes);

	for (unsigned i = 0; i < probes->arms.nkinds; i++) {
		if (find_kind(probes, i, first_spot, probes->diags))
			continue;
		dpe_attach_lose(probes);
		return;
	}
	for (unsigned i = first_spot; i < probes->nspots; i++)
		tell_spot(probes, map, i);
}

/* ---- setting one ------------------------------------------------------------------------- */

struct threads {
	pid_t *at;
	unsigned count, cap;
};

static bool list_threads(pid_t pid, struct threads *threads)
{
	char path[32];
	struct dirent *entry;
	DIR *tasks;

	threads->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] != '.')
			*DPE_GROW(threads->at, threads->count, threads->cap) =
				(pid_t)atoi(entry->d_name);
	}
	if (tasks)
		closedir(tasks);
	return tasks;
}

static bool has_thread(const struct threads *threads, pid_t thread)
{
	for (unsigned i = 0; i < threads->count; i++) {
		if (threads->at[i] == thread)
			return true;
	}
	return false;
}

static void close_files(struct dpe_armed *armed)
{
	while (armed->nfiles)
		close(armed->files[--armed->nfiles]);
}

static enum dpe_arm_result watch_each(struct dpe_probes *probes, struct dpe_armed *armed,
	const struct dpe_watch *watch, const struct threads *threads)
{
	for (unsigned i = 0; i < threads->count; i++) {
		int fd = dpe_watch_open(probes, watch, threads->at[i]);

		if (fd >= 0)
			*DPE_GROW(armed->files, armed->nfiles, armed->capfiles) = fd;
		else if (errno == ENOSPC)
			return DPE_ARM_NO_REGISTER;
		else if (errno != ESRCH) /* it has ended */
			return DPE_ARM_FAILED;
	}
	return DPE_ARM_BEGUN;
}

/* Threads inherit watchpoints from the one that makes them. One that was made while we were at it
 * may have done so, or not: then all is done again, as two of them would tell everything twice. */
static enum dpe_arm_result watch_all(
	struct dpe_probes *probes, struct dpe_armed *armed, const struct dpe_watch *watch)
{
	enum { TRIES = 20 };
	struct threads before = {0}, after = {0};
	enum dpe_arm_result result = DPE_ARM_FAILED;
	bool settled = false;

	for (unsigned try = 0; try < TRIES && !settled; try++) {
		close_files(armed);
		result = DPE_ARM_FAILED;
		if (!list_threads(probes->pid, &before))
			break;
		result = watch_each(probes, armed, watch, &before);
		settled = result != DPE_ARM_BEGUN || !list_threads(probes->pid, &after);
		if (settled)
			break;
		settled = true;
		for (unsigned i = 0; i < after.count; i++)
			settled &= has_thread(&before, after.at[i]);
	}
	free(before.at);
	free(after.at);
	if (!settled)
		result = DPE_ARM_FAILED;
	if (result != DPE_ARM_BEGUN)
		close_files(armed);
	return result;
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool is_taken(const struct dpe_probes *probes, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < probes->nwatches; i++) {
		if (overlap(address, size, probes->watches[i].address,
			    probes->watches[i].variable.size))
			return true;
	}
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		const struct dpe_armed *armed = &probes->arms.slots[i];
		const struct dpe_watch *watch = &probes->arms.kinds[armed->kind].watch;

		if (armed->used && overlap(address, size, armed->object + watch->address,
					   watch->variable.size))
			return true;
	}
	return false;
}

static struct dpe_armed *slot_of(struct dpe_probes *probes, unsigned kind, uint64_t object)
{
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		struct dpe_armed *armed = &probes->arms.slots[i];

		if (armed->used && armed->kind == kind && armed->object == object)
			return armed;
	}
	return NULL;
}

static struct dpe_armed *free_slot(struct dpe_probes *probes)
{
	for (unsigned i = 0; i + probes->nwatches < DPE_WATCHES; i++) {
		if (!probes->arms.slots[i].used)
			return &probes->arms.slots[i];
	}
	return NULL;
}

static enum dpe_arm_result begin(struct dpe_probes *probes, unsigned kind, uint64_t object)
{
	struct dpe_watch watch = probes->arms.kinds[kind].watch;
	struct dpe_armed *armed = free_slot(probes);
	enum dpe_arm_result result;
	uint64_t value = 0;

	if (slot_of(probes, kind, object))
		return DPE_ARM_KNOWN;
	watch.address += object;
	if (watch.address % watch.variable.size)
		return DPE_ARM_UNALIGNED;
	if (is_taken(probes, watch.address, watch.variable.size))
		return DPE_ARM_OVERLAP;
	if (!armed)
		return DPE_ARM_NO_REGISTER;
	result = watch_all(probes, armed, &watch);
	if (result == DPE_ARM_BEGUN && !dpe_watch_read(probes, &watch, &value)) {
		close_files(armed);
		result = DPE_ARM_FAILED;
	}
	if (result != DPE_ARM_BEGUN)
		return result;
	armed->used = true;
	armed->kind = kind;
	armed->object = object;
	dpe_attach_arm(probes, (unsigned)(armed - probes->arms.slots),
		&(struct dpe_armed_entry){.address = watch.address,
			.object = object,
			.last = value,
			.size = (uint32_t)watch.variable.size,
			.kind = kind});
	return result;
}

static void end(struct dpe_probes *probes, struct dpe_armed *armed)
{
	dpe_attach_arm(probes, (unsigned)(armed - probes->arms.slots),
		&(struct dpe_armed_entry){0});
	close_files(armed);
	armed->used = false;
}

/* ---- what threads ask for ---------------------------------------------------------------- */

static enum dpe_arm_result serve(struct dpe_probes *probes, const struct dpe_arm_request *request)
{
	struct dpe_armed *armed;

	if (request->kind >= probes->arms.nkinds)
		return DPE_ARM_FAILED;
	if (!request->disarm)
		return begin(probes, request->kind, request->object);
	armed = slot_of(probes, request->kind, request->object);
	if (!armed)
		return DPE_ARM_KNOWN;
	end(probes, armed);
	return DPE_ARM_ENDED;
}

static void take_back(struct dpe_probes *probes, const struct dpe_arm_request *request)
{
	struct dpe_armed *armed = slot_of(probes, request->kind, request->object);

	if (armed && request->result == DPE_ARM_BEGUN)
		end(probes, armed);
}

static bool change_state(struct dpe_arm_request *request, uint64_t from, uint64_t to)
{
	__u64 *state = &request->state, expected = from;

	return __atomic_compare_exchange_n(
		state, &expected, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void answer(struct dpe_probes *probes, struct dpe_arm_request *request)
{
	if (!change_state(request, DPE_ARM_READY, DPE_ARM_TAKEN))
		return;
	request->result = serve(probes, request);
	dpe_debug(probes->debug, "probes", 2, "object 0x%llx, part %u: %s, result %u",
		(unsigned long long)request->object, request->kind,
		request->disarm ? "end" : "begin", request->result);
	if (change_state(request, DPE_ARM_TAKEN, DPE_ARM_DONE))
		return;
	take_back(probes, request); /* nobody waited any longer, which is counted as a loss */
	change_state(request, DPE_ARM_ABANDONED, DPE_ARM_FREE);
}

/* What was disarmed first leaves its watchpoint to what is armed now. */
void dpe_armed_answer(struct dpe_probes *probes)
{
	struct dpe_arm_request *requests;

	if (!probes->arms.nkinds)
		return;
	requests = dpe_attach_arm_requests(probes);
	for (unsigned disarm = 2; disarm--;) {
		for (unsigned i = 0; i < DPE_ARM_REQUESTS; i++) {
			if (requests[i].disarm == disarm)
				answer(probes, &requests[i]);
		}
	}
}

void dpe_armed_release(struct dpe_probes *probes)
{
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		close_files(&probes->arms.slots[i]);
		free(probes->arms.slots[i].files);
		probes->arms.slots[i] = (struct dpe_armed){0};
	}
}

/* ---- messages ---------------------------------------------------------------------------- */

static const char *reason_of(uint64_t result)
{
	switch (result) {
	case DPE_ARM_NO_REGISTER:
		return "all watchpoints were in use";
	case DPE_ARM_OVERLAP:
		return "another watchpoint is on it";
	case DPE_ARM_UNALIGNED:
		return "it is not aligned";
	default:
		return "the kernel refused";
	}
}

static void warn_once(struct dpe_probes *probes, const struct dpe_watched_object *wanted,
	uint64_t object, const char *reason)
{
	if (!probes->arms.refused++)
		dpe_diag(probes->diags, DPE_WARNING, wanted->place,
			"the object at 0x%llx is not watched: %s; verdicts about it are "
			"inconclusive",
			(unsigned long long)object, reason);
}

void dpe_armed_fill_watch(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args)
{
	const struct dpe_watched_object *wanted = &probes->plan->objects[record->site];
	uint64_t object = record->words[0], result = record->words[1];

	args[0] = dpe_value_pointer(object);
	args[1] = dpe_value_string(dpe_name_text(probes->names, wanted->object->update));
	draft->args = args;
	draft->nargs = 2;
	draft->name = result == DPE_ARM_BEGUN	? probes->arms.begin
		      : result == DPE_ARM_ENDED ? probes->arms.end
						: probes->arms.refusal;
	if (draft->name != probes->arms.refusal)
		return;
	args[draft->nargs++] = dpe_value_string(reason_of(result));
	warn_once(probes, wanted, object, reason_of(result));
}

static bool has_written(
	struct dpe_probes *probes, const struct dpe_watch *watch, const struct dpe_record *record)
{
	enum dpe_access access;

	if (!watch->access || !watch->update)
		return !watch->access;
	access = dpe_access_at(probes, record->words[3]);
	return access == DPE_ACCESS_UNKNOWN ? record->words[1] != record->words[2]
					    : access == DPE_ACCESS_WRITE;
}

void dpe_armed_fill_access(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args, struct dpe_var *vars,
	char (*texts)[DPE_NUMBER_TEXT])
{
	const struct dpe_watch *watch = &probes->arms.kinds[record->site].watch;
	bool wrote = has_written(probes, watch, record);

	args[0] = dpe_value_pointer(record->words[0]);
	draft->args = args;
	draft->nargs = 1;
	vars[draft->nvars++] = (struct dpe_var){watch->name,
		dpe_variable_value(&watch->variable, record->words[2], *texts++)};
	if (wrote)
		vars[draft->nvars++] = (struct dpe_var){watch->prior,
			dpe_variable_value(&watch->variable, record->words[1], *texts)};
	draft->vars = vars;
	draft->name = wrote && watch->access ? watch->update : watch->event;
}

void dpe_armed_tell_refused(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	if (probes->arms.refused)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"%llu time%s an object was not watched: the processor has %d watchpoints",
			(unsigned long long)probes->arms.refused,
			probes->arms.refused == 1 ? "" : "s", DPE_WATCHES);
}
