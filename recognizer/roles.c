/* What a message is to the `sync` rules: the stabilizer knows sends and receives with keys, and
 * nothing of rules. */
#include "recognizer/run.h"

#include <stdlib.h>

static unsigned pattern_at(const struct dpe_rule *rule, unsigned position)
{
	return rule->literals[rule->positions[position - 1].literal].pattern;
}

/* The number that stands as the condition of an event. */
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

/* Sends and receives pair by the variables that both bind. */
static void add_role(struct dpe_roles *roles, const struct dpe_run *run,
	const struct dpe_binding *binding, const struct dpe_message *message, bool send)
{
	const struct dpe_rule *rule = run->rule;
	uint64_t shared = run->masks[pattern_at(rule, rule->send)] &
			  run->masks[pattern_at(rule, rule->receive)];
	struct dpe_role *role = DPE_GROW(roles->at, roles->count, roles->cap);

	*role = (struct dpe_role){.rule = run->sync, .send = send};
	if (rule->pairing == DPE_ROUNDS)
		role->round = round_of(run, binding, message, send);
	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (!(shared >> i & 1))
			continue;
		*DPE_GROW(roles->keys, roles->nkeys, roles->capkeys) = binding->values[i];
		role->nkeys++;
	}
}

static void find_roles(struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	struct dpe_roles *roles = &recognizer->roles;
	const struct dpe_watch *watch = &recognizer->by_name[message->name];

	for (unsigned i = 0; i < watch->count; i++) {
		struct dpe_run *run = watch->at[i].run;
		const struct dpe_rule *rule = run->rule;
		struct dpe_binding binding;

		if (rule->mode != DPE_SYNC)
			continue;
		if (!dpe_watcher_match(&watch->at[i], run, message, &binding))
			continue;
		if (pattern_at(rule, rule->receive) == binding.pattern)
			add_role(roles, run, &binding, message, false);
		if (pattern_at(rule, rule->send) == binding.pattern)
			add_role(roles, run, &binding, message, true);
	}
}

void dpe_roles_find(struct dpe_recognizer *recognizer, const struct dpe_message *message)
{
	struct dpe_roles *roles = &recognizer->roles;
	const struct dpe_value *keys;

	roles->count = roles->nkeys = 0;
	find_roles(recognizer, message);
	keys = roles->keys;
	for (unsigned i = 0; i < roles->count; i++) {
		roles->at[i].keys = keys;
		keys += roles->at[i].nkeys;
	}
}

void dpe_roles_clear(struct dpe_roles *roles)
{
	free(roles->at);
	free(roles->keys);
	*roles = (struct dpe_roles){0};
}
