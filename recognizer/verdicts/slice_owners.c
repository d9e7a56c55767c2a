/* On whose messages a slice depends: on those of the threads that it binds, if these are the threads of all its events. */
#include "recognizer/verdicts/verdicts.h"

/* Variables of the specification are shared: an action for a lost event might have changed them. */
static bool reads_globals(const struct dpe_expr *expr)
{
	return expr && (expr->kind == DPE_EXPR_GLOBAL || reads_globals(expr->left) ||
			       reads_globals(expr->right) || reads_globals(expr->third));
}

static uint64_t find_owners(const struct dpe_run *run, bool synchronises)
{
	const struct dpe_rule *rule = run->rule;
	uint64_t owners = 0;

	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (rule->patterns[i].by == DPE_NO_VARIABLE ||
			reads_globals(rule->patterns[i].cond))
			return 0;
		owners |= UINT64_C(1) << rule->patterns[i].by;
	}
	return owners & (owners - 1) && synchronises ? 0 : owners;
}

static bool names_waiter(const struct dpe_stmt *stmt)
{
	switch (stmt->call) {
	case DPE_CALL_HOLD:
	case DPE_CALL_SHARE:
	case DPE_CALL_UNHOLD:
	case DPE_CALL_WAIT_FOR:
	case DPE_CALL_RELEASE:
	case DPE_CALL_BEGINS:
	case DPE_CALL_ENDED:
		return stmt->nargs;
	default:
		return false;
	}
}

/* The action reads no variable of the specification, and changes only what its own thread holds or
 * awaits. */
static bool is_own(const struct dpe_stmt *stmt, uint64_t owners)
{
	for (; stmt; stmt = stmt->next) {
		for (unsigned i = 0; i < stmt->nargs; i++) {
			if (reads_globals(stmt->args[i]))
				return false;
		}
		if (reads_globals(stmt->expr) || !is_own(stmt->body, owners) ||
			!is_own(stmt->otherwise, owners))
			return false;
		if (names_waiter(stmt) && (stmt->args[0]->kind != DPE_EXPR_RULEVAR ||
						    owners != UINT64_C(1) << stmt->args[0]->index))
			return false;
	}
	return true;
}

static bool names_waits(const struct dpe_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		if (names_waiter(stmt) || names_waits(stmt->body) || names_waits(stmt->otherwise))
			return true;
	}
	return false;
}

/* An action that does not change the wait-for graph may read anything. */
static bool is_harmless(const struct dpe_stmt *action, uint64_t owners)
{
	return !names_waits(action) || is_own(action, owners);
}

static bool has_own_waits(const struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;
	bool own =
		is_harmless(rule->action, run->owners) && is_harmless(rule->otherwise, run->owners);

	for (unsigned i = 0; i < rule->npositions; i++)
		own &= is_harmless(rule->positions[i].action, run->owners);
	for (unsigned i = 0; i < run->ninner_actions; i++)
		own &= is_harmless(run->inner_actions[i], run->owners);
	return own;
}

void dpe_owners_prepare(struct dpe_recognizer *recognizer)
{
	const struct dpe_spec *spec = recognizer->spec;
	bool synchronises = false;

	for (unsigned i = 0; i < spec->nrules; i++)
		synchronises |= spec->rules[i].mode == DPE_SYNC;
	recognizer->own_waits = true;
	for (unsigned i = 0; i < spec->nrules; i++) {
		struct dpe_run *run = &recognizer->runs[i];

		if (run->rule->mode == DPE_SYNC)
			continue;
		if (run->rule->mode != DPE_PREDICT) /* locks of others decide, too */
			run->owners = find_owners(run, synchronises);
		recognizer->own_waits &= has_own_waits(run);
	}
}

bool dpe_slice_is_owned(const struct dpe_run *run, const struct dpe_slice *slice)
{
	return slice && run->owners && (slice->mask & run->owners) == run->owners;
}
