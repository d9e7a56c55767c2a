/* A program that follows a rule in its own events: cc example.c $(pkg-config --cflags --libs
 * --static libdpe) */
#include <dpe.h>

#include <string.h>

static const char rule[] = "expect file(f): open(f) ; (read(f) + write(f))* ; close(f)\n";

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	static const char *const outcomes[] = {
		[DPE_SATISFIED] = "satisfied",
		[DPE_VIOLATED] = "violated",
		[DPE_INCOMPLETE] = "incomplete",
		[DPE_INCONCLUSIVE] = "inconclusive",
		[DPE_MATCH] = "a match",
	};
	const struct dpe_names *names = context;
	struct dpe_text text = {0};

	dpe_text_printf(&text, "%s: %s of %s = ", dpe_rule_name(verdict->rule),
		outcomes[verdict->kind], dpe_name_text(names, dpe_rule_variable(verdict->rule, 0)));
	dpe_value_print(&text, verdict->params[0]);
	if (verdict->event)
		dpe_text_puts(&text, " at ");
	if (verdict->event)
		dpe_message_print_id(&text, names, verdict->event);
	puts(text.at);
	dpe_text_free(&text);
}

/* All happens in one thread, and so in the order in which it is reported. */
static void feed(struct dpe_recognizer *recognizer, struct dpe_names *names, const char *name,
	const char *file, struct dpe_diags *diags)
{
	static uint64_t number;
	const struct dpe_value args[] = {dpe_value_string(file)};
	const struct dpe_message draft = {
		.name = dpe_intern_string(names, name),
		.thread = dpe_value_int(1),
		.place = ++number,
		.args = args,
		.nargs = 1,
	};

	dpe_recognizer_feed(recognizer, dpe_message_new(&draft), diags);
}

static int follow(const struct dpe_spec *spec, struct dpe_names *names, struct dpe_diags *diags)
{
	const struct dpe_recognizer_sink sink = {.context = names, .verdict = on_verdict};
	struct dpe_recognizer *recognizer = dpe_recognizer_new(spec, NULL, &sink, diags);
	struct dpe_summary summary;

	if (!recognizer)
		return 2;
	feed(recognizer, names, "open", "a.txt", diags);
	feed(recognizer, names, "open", "b.txt", diags);
	feed(recognizer, names, "write", "a.txt", diags);
	feed(recognizer, names, "close", "a.txt", diags);
	feed(recognizer, names, "read", "a.txt", diags);
	dpe_recognizer_finish(recognizer);
	dpe_recognizer_summary(recognizer, &summary);
	dpe_recognizer_free(recognizer);
	return dpe_summary_findings(&summary) > 0;
}

int main(void)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_spec *spec =
		dpe_spec_compile_text("example", rule, strlen(rule), names, NULL, diags);
	int status = spec ? follow(spec, names, diags) : 2;

	dpe_diags_print(diags, stderr); /* what was wrong with the rule, or with messages */
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return status;
}
