/* The role of a message in `sync` rules. The stabilizer knows sends and receives with keys, but no
 * rules. */
#include "recognizer/actions/actions.h"
#include "recognizer/patterns/patterns.h"

#include <stdlib.h>

/* The round number that is written as the event's condition. */
static int64_t round_of(const struct dpe_run *run, const struct dpe_binding *binding,
	const struct dpe_message *message, bool send)
{
	const struct dpe_expr *cond = run->rule->patterns[binding->pattern].cond;
	const struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.variables = binding->values,
		.event = message,
		.text = &run->recognizer->text,
	};
	struct dpe_value value = cond ? dpe_eval(&env, cond) : (struct dpe_value){0};

	if (value.kind != DPE_INT)
		return send ? INT64_MIN : INT64_MAX;
	return value.num;
}

/* The rules whose sends the message is paired with, if it is a receive of this rule; returns how many.
 * An exclusive acquire follows exclusive and shared releases, a shared one only exclusive releases. */
static inline unsigned find_received(
	const struct dpe_run *run, const struct dpe_message *message, unsigned rules[2])
{
	const struct dpe_recognizer *recognizer = run->recognizer;
	unsigned count = 0;

	rules[count++] =
		run->rule->pairing == DPE_SHARED ? recognizer->exclusive_sync : run->sync;
	if (run->rule->pairing == DPE_EXCLUSIVE && recognizer->shared_sync != DPE_NO_RULE &&
		!dpe_stabilizer_pairs_nothing(
			recognizer->stabilizer, message, recognizer->shared_sync))
		rules[count++] = recognizer->shared_sync;
	return rules[0] == DPE_NO_RULE ? 0 : count;
}

static inline struct dpe_role *new_role(struct dpe_roles *roles, unsigned rule, bool send)
{
	struct dpe_role *role = DPE_GROW(roles->at, roles->count, roles->cap);

	*role = (struct dpe_role){.rule = rule, .send = send};
	return role;
}

/* Sends and receives pair by the variables that both bind. */
static struct dpe_role *add_role(struct dpe_roles *roles, const struct dpe_watcher *watcher,
	const struct dpe_binding *binding, const struct dpe_message *message, unsigned number, bool send)
{
	const struct dpe_run *run = watcher->run;
	const struct dpe_rule *rule = run->rule;
	struct dpe_role *role = new_role(roles, number, send);

	if (rule->pairing == DPE_ROUNDS)
		role->round = round_of(run, binding, message, send);
	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (!(rule->keys >> i & 1))
			continue;
		*DPE_GROW(roles->keys, roles->nkeys, roles->capkeys) = binding->values[i];
		role->nkeys++;
	}
	return role;
}

static void add_receive(const struct dpe_watcher *watcher, const struct dpe_binding *binding,
	const struct dpe_message *message)
{
	unsigned rules[2], count = find_received(watcher->run, message, rules);

	for (unsigned i = 0; i < count; i++)
		add_role(watcher->run->recognizer->roles, watcher, binding, message, rules[i], false)->ends =
			watcher->ends;
}

/* A section begins, or ends; the end is for others to receive from, too. An end of no section, such as that of a call
 * whose beginning did not match, only receives. Without threads there are no sections. */
static void add_section(struct dpe_recognizer *recognizer, const struct dpe_watcher *watcher,
	const struct dpe_binding *binding, struct dpe_message *message)
{
	struct dpe_roles *roles = recognizer->roles;
	const struct dpe_role *role;
	const struct dpe_value *keys;
	bool open = message->thread.kind == DPE_NONE || watcher->sends;

	if (watcher->receives)
		add_receive(watcher, binding, message);
	role = add_role(roles, watcher, binding, message, watcher->run->sync, true);
	keys = roles->keys + roles->nkeys - role->nkeys;
	if (watcher->receives)
		open |= dpe_sections_leave(&recognizer->sections, message, role->rule, keys, role->nkeys);
	if (watcher->sends)
		dpe_sections_enter(&recognizer->sections, message, role->rule, keys, role->nkeys);
	if (!open) {
		roles->nkeys -= role->nkeys;
		roles->count--;
	}
}

static struct dpe_role *add_keyed(
	struct dpe_roles *roles, unsigned rule, bool send, const struct dpe_message *message)
{
	struct dpe_role *role = new_role(roles, rule, send);

	role->keys = message->args;
	role->nkeys = 1;
	return role;
}

/* The fast case: the first argument is the only key. */
static void add_single(struct dpe_roles *roles, const struct dpe_watcher *watcher,
	const struct dpe_message *message)
{
	unsigned rules[2], count;

	if (!(watcher->phases >> message->phase & 1) || !message->nargs ||
		message->args[0].kind == DPE_NONE)
		return;
	if (watcher->sends)
		add_keyed(roles, watcher->run->sync, true, message);
	if (!watcher->receives)
		return;
	count = find_received(watcher->run, message, rules);
	for (unsigned i = 0; i < count; i++)
		add_keyed(roles, rules[i], false, message)->ends = watcher->ends;
}

static void prepare(struct dpe_watcher *watcher)
{
	const struct dpe_run *run = watcher->run;
	const struct dpe_rule *rule = run->rule;

	if (rule->mode != DPE_SYNC || dpe_rule_pairs_nothing(rule))
		return;
	watcher->sends = rule->sends[watcher->pattern];
	watcher->receives = rule->receives[watcher->pattern];
	for (unsigned i = 0; i < rule->nobserving; i++)
		watcher->ends |= rule->ends[i] && rule->observing[i] == watcher->pattern;
	watcher->keyed = watcher->single && rule->pairing != DPE_ROUNDS &&
			 rule->pairing != DPE_DURING &&
			 rule->keys == UINT64_C(1) << watcher->variable;
}

/* Finds out whether messages of the name have one role, known but for the key. */
static void find_role(struct dpe_name_watchers *watch)
{
	const struct dpe_watcher *only = NULL;

	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_watcher *watcher = &watch->at[i];

		if (!watcher->sends && !watcher->receives)
			continue;
		if (only || !watcher->keyed || (watcher->sends && watcher->receives))
			return;
		only = watcher;
	}
	if (!only)
		return;
	if (only->receives && only->run->rule->pairing == DPE_SHARED)
		return;
	watch->role_phases = only->phases;
	watch->role = (struct dpe_role){
		.rule = only->run->sync, .send = only->sends, .ends = only->ends, .nkeys = 1};
	watch->other_rule = only->receives && only->run->rule->pairing == DPE_EXCLUSIVE
				    ? only->run->recognizer->shared_sync
				    : DPE_NO_RULE;
}

/* An event with a role ends nothing: its own queue is in use. */
static void find_ends(struct dpe_name_watchers *watch)
{
	bool has_role = false;

	for (unsigned i = 0; i < watch->count; i++) {
		watch->ends |= watch->at[i].ends;
		has_role |= watch->at[i].sends || watch->at[i].receives;
	}
	watch->ends &= !has_role;
}

void dpe_roles_prepare(struct dpe_name_watchers *watch)
{
	for (unsigned i = 0; i < watch->count; i++)
		prepare(&watch->at[i]);
	find_role(watch);
	find_ends(watch);
}

static void find_roles(struct dpe_recognizer *recognizer, struct dpe_message *message)
{
	struct dpe_roles *roles = recognizer->roles;
	const struct dpe_name_watchers *watch = &recognizer->by_name[message->name];

	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_watcher *watcher = &watch->at[i];
		struct dpe_binding binding;

		if (!watcher->sends && !watcher->receives)
			continue;
		if (watcher->keyed) {
			add_single(roles, watcher, message);
			continue;
		}
		if (!dpe_watcher_match(watcher, watcher->run, message, &binding))
			continue;
		if (watcher->run->rule->pairing == DPE_DURING) {
			add_section(recognizer, watcher, &binding, message);
			continue;
		}
		if (watcher->receives)
			add_receive(watcher, &binding, message);
		if (watcher->sends)
			add_role(roles, watcher, &binding, message, watcher->run->sync, true);
	}
}

void dpe_roles_find(struct dpe_recognizer *recognizer, struct dpe_message *message)
{
	struct dpe_roles *roles = recognizer->roles;
	const struct dpe_value *keys;

	roles->count = roles->nkeys = 0;
	if (message->name < recognizer->nnames)
		find_roles(recognizer, message);
	dpe_sections_add_roles(&recognizer->sections, message, roles);
	keys = roles->keys;
	for (unsigned i = 0; i < roles->count; i++) {
		if (roles->at[i].keys || !roles->at[i].nkeys)
			continue;
		roles->at[i].keys = keys;
		keys += roles->at[i].nkeys;
	}
}

void dpe_sync_objects_end(struct dpe_recognizer *recognizer, const struct dpe_event *event)
{
	const struct dpe_name_watchers *watch = &recognizer->by_name[event->message->name];

	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_watcher *watcher = &watch->at[i];
		const struct dpe_rule *rule = watcher->run->rule;
		struct dpe_binding binding;
		struct dpe_role object = {.rule = watcher->run->sync, .keys = binding.values};

		if (!watcher->ends || !dpe_watcher_match(watcher, watcher->run, event->message, &binding))
			continue;
		for (unsigned v = 0; v < rule->nvariables; v++) {
			if (rule->keys >> v & 1)
				binding.values[object.nkeys++] = binding.values[v];
		}
		dpe_stabilizer_end_object(recognizer->stabilizer, &object, &event->stamp);
	}
}

static struct dpe_value first_key(
	const struct dpe_rule *rule, const struct dpe_binding *binding)
{
	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (rule->keys & binding->mask & UINT64_C(1) << i)
			return binding->values[i];
	}
	return (struct dpe_value){.kind = DPE_NONE};
}

void dpe_sync_parts_report(struct dpe_recognizer *recognizer, const struct dpe_event *event)
{
	const struct dpe_name_watchers *watch;

	if (event->message->name >= recognizer->nnames)
		return;
	watch = &recognizer->by_name[event->message->name];
	for (unsigned i = 0; i < watch->count; i++) {
		const struct dpe_watcher *watcher = &watch->at[i];
		struct dpe_sync_part part = {watcher->run->rule, watcher->sends, watcher->receives, {0}};
		struct dpe_binding binding;

		if ((!part.sends && !part.receives) ||
			!dpe_watcher_match(watcher, watcher->run, event->message, &binding))
			continue;
		part.object = first_key(part.rule, &binding);
		recognizer->sink.synchronises(recognizer->sink.context, event, &part);
	}
}

struct dpe_roles *dpe_roles_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_roles));
}

void dpe_roles_free(struct dpe_roles *roles)
{
	if (!roles)
		return;
	free(roles->at);
	free(roles->keys);
	free(roles);
}
