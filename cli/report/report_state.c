/* What a report knows of an event only while its program runs. */
#include "cli/report/report_state.h"

static char *variable_at(const struct cli_report *report, struct dpe_value value, bool object)
{
	if (!report->probes ||
		(value.kind != DPE_POINTER && value.kind != DPE_UINT && value.kind != DPE_INT))
		return NULL;
	return dpe_probes_variable_at(report->probes, (uint64_t)value.num, object);
}

char *cli_variable_at(const struct cli_report *report, struct dpe_value value)
{
	return variable_at(report, value, false);
}

char *cli_object_at(const struct cli_report *report, struct dpe_value value)
{
	return variable_at(report, value, true);
}

struct dpe_message *cli_resolved(struct cli_report *report, const struct dpe_message *message)
{
	/* Reference counts are not visible to others. */
	struct dpe_message *counted = (struct dpe_message *)message;

	if (!report->probes)
		return dpe_message_ref(counted);
	return dpe_probes_resolve(report->probes, counted);
}
