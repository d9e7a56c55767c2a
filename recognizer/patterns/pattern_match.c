/* Whether a message matches a pattern, and which variables that binds. */
#include "recognizer/actions/actions.h"
#include "recognizer/patterns/patterns.h"

#include <string.h>

/* "libc" stands for libc.so.6 and libc-2.36.so, not for libcrypto.so.3. */
static bool module_matches(const struct dpe_names *names, dpe_name wanted, dpe_name module)
{
	const char *short_name, *full_name;
	size_t length;

	if (wanted == module)
		return true;
	short_name = dpe_name_text(names, wanted);
	full_name = dpe_name_text(names, module);
	length = strlen(short_name);
	return !strncmp(short_name, full_name, length) &&
	       (full_name[length] == '.' || full_name[length] == '-');
}

static bool is_data_of(const struct dpe_pattern *pattern, dpe_name name)
{
	for (unsigned i = 0; i < pattern->nupdates; i++) {
		if (pattern->updates[i] == name)
			return true;
	}
	return name == pattern->name || (pattern->qualified && name == pattern->qualified);
}

static bool name_matches(const struct dpe_names *names, const struct dpe_pattern *pattern,
	const struct dpe_message *message)
{
	if (pattern->kind != DPE_PATTERN_CONTROL)
		return message->phase == DPE_BARE && is_data_of(pattern, message->name);
	if (pattern->phase == DPE_BARE ? message->phase == DPE_EXIT
				       : message->phase != pattern->phase)
		return false;
	if (pattern->qualified && message->name == pattern->qualified)
		return true;
	if (message->name != pattern->name)
		return false;
	return !pattern->module || module_matches(names, pattern->module, message->module);
}

/* False if the variable is bound to another value: f(x, x) wants equal arguments. */
static bool bind(struct dpe_binding *binding, unsigned variable, struct dpe_value value)
{
	uint64_t bit = 1ull << variable;

	if (value.kind == DPE_NONE)
		return false;
	if (binding->mask & bit)
		return dpe_value_equal(binding->values[variable], value);
	binding->mask |= bit;
	binding->values[variable] = value;
	return true;
}

/* True if the value is what the argument of the pattern says; binds its variable. */
static bool arg_matches(const struct dpe_arg *arg, const struct dpe_message *message,
	struct dpe_value value, struct dpe_binding *binding)
{
	if (arg->kind == DPE_ARG_ANY)
		return true;
	if (arg->behind)
		value = dpe_variable_in(message, arg->behind);
	if (arg->behind && value.kind == DPE_RAW && !dpe_value_is_number(value))
		return false; /* null: it could not be read */
	if (arg->text)
		value = dpe_text_in(message, value, arg->text);
	if (arg->text && value.kind != DPE_STRING)
		return false;
	return arg->kind == DPE_ARG_VARIABLE ? bind(binding, arg->variable, value)
					     : dpe_value_equal(arg->value, value);
}

static bool args_match(const struct dpe_pattern *pattern, const struct dpe_message *message,
	struct dpe_binding *binding)
{
	if (pattern->has_args && message->nargs < pattern->nargs)
		return false;
	for (unsigned i = 0; pattern->has_args && i < pattern->nargs; i++) {
		if (!arg_matches(&pattern->args[i], message, message->args[i], binding))
			return false;
	}
	return !pattern->result ||
	       arg_matches(pattern->result, message, message->ret, binding);
}

/* True if the message matches the pattern, apart from the pattern's condition. */
static bool matches_pattern(const struct dpe_names *names, const struct dpe_pattern *pattern,
	const struct dpe_message *message, struct dpe_binding *binding)
{
	binding->mask = 0;
	if (!name_matches(names, pattern, message))
		return false;
	if (!args_match(pattern, message, binding))
		return false;
	return pattern->by == DPE_NO_VARIABLE || bind(binding, pattern->by, message->thread);
}

bool dpe_pattern_is_simple(const struct dpe_pattern *pattern)
{
	return pattern->kind == DPE_PATTERN_CONTROL && !pattern->qualified && !pattern->module &&
	       !pattern->cond;
}

bool dpe_pattern_is_single(const struct dpe_pattern *pattern)
{
	return dpe_pattern_is_simple(pattern) && pattern->has_args && pattern->nargs == 1 &&
	       pattern->args[0].kind == DPE_ARG_VARIABLE && !pattern->args[0].text &&
	       !pattern->args[0].behind && !pattern->result && pattern->by == DPE_NO_VARIABLE;
}

bool dpe_pattern_is_bare(const struct dpe_pattern *pattern)
{
	if (!dpe_pattern_is_simple(pattern) || pattern->result ||
		pattern->by != DPE_NO_VARIABLE)
		return false;
	return !pattern->has_args || !pattern->nargs;
}

/* True if the pattern has no condition, or one that holds, or one that needs values of other
 * events, which is decided later. Clears the values that are not bound. */
static bool own_condition_holds(
	const struct dpe_run *run, struct dpe_binding *binding, const struct dpe_message *message)
{
	const struct dpe_pattern *pattern = &run->rule->patterns[binding->pattern];
	struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.variables = binding->values,
		.event = message,
		.text = &run->recognizer->text,
	};

	if (!pattern->cond || run->late[binding->pattern] || run->placed[binding->pattern])
		return true;
	for (unsigned i = 0; i < run->rule->nvariables; i++) {
		if (!(binding->mask >> i & 1))
			binding->values[i] = (struct dpe_value){0};
	}
	return dpe_pattern_condition_holds(&env, pattern);
}

static bool matches_values(const struct dpe_watcher *watcher, const struct dpe_run *run,
	const struct dpe_message *message, struct dpe_binding *binding)
{
	const struct dpe_pattern *pattern = &run->rule->patterns[watcher->pattern];

	binding->mask = 0;
	if (!watcher->simple)
		return matches_pattern(
			       run->recognizer->spec->names, pattern, message, binding) &&
		       own_condition_holds(run, binding, message);
	if (!args_match(pattern, message, binding))
		return false;
	return pattern->by == DPE_NO_VARIABLE || bind(binding, pattern->by, message->thread);
}

bool dpe_watcher_match_other(const struct dpe_watcher *watcher, const struct dpe_run *run,
	const struct dpe_message *message, struct dpe_binding *binding)
{
	bool matches = matches_values(watcher, run, message, binding);

	run->matched[watcher->pattern] += matches;
	return matches;
}

static bool names_prior(const struct dpe_expr *expr)
{
	return expr && (expr->kind == DPE_EXPR_PRIOR || names_prior(expr->left) ||
			       names_prior(expr->right) || names_prior(expr->third));
}

bool dpe_pattern_condition_holds(const struct dpe_env *env, const struct dpe_pattern *pattern)
{
	struct dpe_env before;

	if (!dpe_eval_condition(env, pattern->cond))
		return false;
	if (pattern->kind != DPE_PATTERN_CONDITION || names_prior(pattern->cond))
		return true;
	before = *env;
	before.before = true;
	return !dpe_eval_condition(&before, pattern->cond);
}
