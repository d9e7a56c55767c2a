/* Deadlocks and hangs in the text report. */
#include "cli/report/writers.h"
#include "cli/report/creations.h"
#include "cli/report/text.h"

#include <inttypes.h>

static void add_moment(struct dpe_text *to, struct cli_report *report, const char *what,
	struct dpe_value thread, const struct dpe_message *message)
{
	struct dpe_message *resolved = message ? cli_resolved(report, message) : NULL;

	dpe_text_puts(to, what);
	if (resolved)
		cli_text_message(to, report, NULL, resolved);
	else
		cli_text_value(to, thread);
	if (!resolved)
		dpe_text_puts(to, ", since an unknown time\n");
	dpe_message_unref(resolved);
}

static void add_deadlock_suppression(struct dpe_text *to, struct cli_report *report,
	const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const struct dpe_message *waits = deadlock->waits[0].waits;
	struct dpe_message *resolved = waits ? cli_resolved(report, waits) : NULL;

	cli_text_suppression(to, report, rule, &resolved, resolved != NULL);
	dpe_message_unref(resolved);
}

static void add_deadlock_head(struct dpe_text *to, struct cli_report *report,
	const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	const char *doubt = deadlock->reason ? "possible " : "";
	unsigned count = cli_deadlock_threads(deadlock);
	const char *plural = count == 1 ? "" : "s";

	dpe_text_printf(to, "#%u ", ++report->nfindings);
	if (deadlock->kind == DPE_HANG)
		dpe_text_printf(to, "%shang: no thread can proceed, %u thread%s wait%s  [", doubt,
			count, plural, *plural ? "" : "s");
	else if (deadlock->kind == DPE_LONG_WAIT)
		dpe_text_printf(to, "possible hang: %u thread%s ha%s waited for %" PRIu64 " s  [", count,
			plural, *plural ? "ve" : "s", deadlock->lasted / 1000000000);
	else if (deadlock->kind == DPE_POTENTIAL_DEADLOCK)
		dpe_text_printf(
			to, "potential deadlock of %u thread%s  [", count, plural);
	else
		dpe_text_printf(
			to, "%sdeadlock of %u thread%s  [", doubt, count, plural);
	cli_text_place(to, rule);
	dpe_text_puts(to, "]\n");
	if (!deadlock->reason && deadlock->kind == DPE_LONG_WAIT)
		dpe_text_puts(to, "  not certain: a thread that runs may still wake them\n");
	if (!deadlock->reason && deadlock->predicted)
		dpe_text_printf(to, "  %s\n", dpe_deadlock_odds(deadlock));
	if (!deadlock->reason)
		return;
	dpe_text_puts(to, "  inconclusive: ");
	cli_text_safe(to, deadlock->reason);
	dpe_text_puts(to, "\n");
}

static void add_object(struct dpe_text *to, struct cli_report *report, const char *verb,
	const struct dpe_wait *wait)
{
	dpe_text_puts(to, verb);
	cli_text_value(to, cli_wait_object(wait));
	cli_text_variable(to, report, cli_wait_object(wait));
}

static void add_deadlock_wait(
	struct dpe_text *to, struct cli_report *report, const struct dpe_wait *wait)
{
	dpe_text_puts(to, "  thread ");
	cli_text_value(to, wait->thread);
	if (wait->alike)
		dpe_text_printf(to, ", and %u more at the same place,", wait->alike);
	add_object(to, report, " waits for ", wait);
	if (wait->holder.kind != DPE_NONE) {
		dpe_text_puts(to, ", which thread ");
		cli_text_value(to, wait->holder);
		dpe_text_puts(to, wait->ended ? " held when it ended" : " holds");
	}
	dpe_text_puts(to, "\n");
	add_moment(to, report, "    waits: ", wait->thread, wait->waits);
	if (wait->holder.kind != DPE_NONE)
		add_moment(to, report, wait->ended ? "    held:  " : "    holds: ", wait->holder,
			wait->holds);
}

/* What did not happen: the end of the wait. The thread holds what the next one of the cycle
 * takes. */
static void add_potential_wait(struct dpe_text *to, struct cli_report *report,
	const struct dpe_wait *wait, const struct dpe_wait *held)
{
	dpe_text_puts(to, "  thread ");
	cli_text_value(to, wait->thread);
	add_object(to, report, " took ", wait);
	add_object(to, report, ", while it held ", held);
	dpe_text_puts(to, "\n");
	add_moment(to, report, "    held: ", wait->thread, held->holds);
	add_moment(to, report, "    took: ", wait->thread, wait->waits);
}

void cli_text_deadlock(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	struct dpe_text text = {0};

	add_deadlock_head(&text, report, rule, deadlock);
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *wait = &deadlock->waits[i];

		if (deadlock->kind == DPE_POTENTIAL_DEADLOCK)
			add_potential_wait(
				&text, report, wait, &deadlock->waits[(i + 1) % deadlock->nwaits]);
		else
			add_deadlock_wait(&text, report, wait);
	}
	if (deadlock->others)
		dpe_text_puts(&text, "  and others through the same places, of other locks\n");
	cli_text_waiting_threads(&text, report, deadlock);
	cli_draw_deadlock(&text, report, deadlock);
	add_deadlock_suppression(&text, report, rule, deadlock);
	cli_text_print(report, &text);
}
