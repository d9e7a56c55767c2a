/* What a sink is given about synchronisation: each event's parts in `sync` rules, and the locks that actions hold. */
#include "dpe/dpe-recognizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const char spec_text[] =
	"sync exclusive lock(l): rel(l) ; acq(l).exit [.ret = 0]\n"
	"sync fifo pipe: send ; receive\n"
	"expect locks(T): (acq.exit by T {hold(T, .args[0]);} + rel by T {unhold(T, .args[0]);})*\n";

struct seen {
	struct dpe_names *names;
	struct dpe_text text;
};

static void on_event(void *context, const struct dpe_event *event)
{
	struct seen *seen = context;

	dpe_text_printf(&seen->text, "%s:", dpe_name_text(seen->names, event->message->name));
}

static void on_part(void *context, const struct dpe_event *event, const struct dpe_sync_part *part)
{
	struct seen *seen = context;

	assert_non_null(event->message);
	dpe_text_printf(&seen->text, " %s %s%s", dpe_rule_name(part->rule), part->sends ? "sends" : "", part->receives ? "receives" : "");
	if (part->object.kind != DPE_NONE)
		dpe_text_puts(&seen->text, " ");
	if (part->object.kind != DPE_NONE)
		dpe_value_print(&seen->text, part->object);
}

static void on_holds(void *context, struct dpe_value thread, struct dpe_value object, bool held)
{
	struct seen *seen = context;

	dpe_text_puts(&seen->text, " ");
	dpe_value_print(&seen->text, thread);
	dpe_text_puts(&seen->text, held ? " holds " : " lets go of ");
	dpe_value_print(&seen->text, object);
}

static void feed(struct seen *seen, struct dpe_recognizer *recognizer, const char *event, int64_t object, int64_t ret)
{
	struct dpe_value arg = dpe_value_int(object);
	struct dpe_message draft = {.thread = dpe_value_int(1), .args = &arg, .nargs = 1, .ret = dpe_value_int(ret)};
	struct dpe_diags *diags = dpe_diags_new();

	draft.place = seen->text.len + 1;
	dpe_event_parse(seen->names, event, strlen(event), &draft.name, &draft.phase);
	assert_true(dpe_recognizer_feed(recognizer, dpe_message_new(&draft), diags));
	dpe_text_puts(&seen->text, "\n");
	dpe_diags_free(diags);
}

static void a_sink_is_given_parts_and_locks(void **state)
{
	struct seen seen = {.names = dpe_names_new()};
	const struct dpe_recognizer_sink sink = {
		.context = &seen, .event = on_event, .synchronises = on_part, .holds = on_holds};
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_spec *spec =
		dpe_spec_compile_text("test", spec_text, sizeof(spec_text) - 1, seen.names, NULL, diags);
	struct dpe_recognizer *recognizer;

	(void)state;
	dpe_diags_print(diags, stderr);
	assert_non_null(spec);
	recognizer = dpe_recognizer_new(spec, NULL, &sink, diags);
	feed(&seen, recognizer, "acq.exit", 7, 0);
	feed(&seen, recognizer, "acq.exit", 7, 1);
	feed(&seen, recognizer, "send", 8, 0);
	feed(&seen, recognizer, "receive", 9, 0);
	feed(&seen, recognizer, "other", 9, 0);
	feed(&seen, recognizer, "rel", 7, 0);
	dpe_recognizer_finish(recognizer);
	assert_string_equal(seen.text.at, "acq: lock receives 7 1 holds 7\n"
					  "acq: 1 holds 7\n" /* by the action alone, which has no condition */
					  "send: pipe sends\n"
					  "receive: pipe receives\n"
					  "other:\n"
					  "rel: lock sends 7 1 lets go of 7\n");
	dpe_recognizer_free(recognizer);
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_text_free(&seen.text);
	dpe_names_free(seen.names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_sink_is_given_parts_and_locks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
