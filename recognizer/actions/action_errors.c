/* Errors that actions report, unless they are suppressed. */
#include "recognizer/actions/actions.h"
#include "recognizer/verdicts/verdicts.h"

/* Suppressions look at the events that the action can see. */
bool dpe_action_suppressed(const struct dpe_env *env)
{
	unsigned npositions = env->positions ? env->run->rule->npositions : 0;
	const struct dpe_message *events[npositions + 1];

	for (unsigned i = 0; i < npositions; i++)
		events[i] = env->positions[i];
	events[npositions] = env->event;
	return dpe_recognizer_suppresses(env->recognizer, env->run->rule, events, npositions + 1);
}

void dpe_action_error(const struct dpe_env *env, const char *text)
{
	struct dpe_recognizer *recognizer = env->recognizer;

	recognizer->summary.errors++;
	if (recognizer->sink.error)
		recognizer->sink.error(recognizer->sink.context, env->run->rule, text);
}
