/* A program that follows a rule in its own events: cc example.c $(pkg-config --cflags --libs
 * --static libdpe) */
#include <dpe.h>

#include <stdio.h>
#include <stdlib.h>

static const char rule[] = "expect file(f): open(f) ; (read(f) + write(f))* ; close(f)\n";

static void on_verdict(void *context, const struct dpe_session_verdict *verdict)
{
	static const char *const outcomes[] = {
		[DPE_SESSION_SATISFIED] = "satisfied",
		[DPE_SESSION_VIOLATED] = "violated",
		[DPE_SESSION_INCOMPLETE] = "incomplete",
		[DPE_SESSION_MATCH] = "a match",
		[DPE_SESSION_INCONCLUSIVE] = "inconclusive",
	};

	(void)context;
	printf("%s: %s of %s = %s", verdict->rule, outcomes[verdict->outcome],
		verdict->variables[0], verdict->values[0].text);
	printf(verdict->event ? " at %s\n" : "\n", verdict->event);
}

static void feed(struct dpe_session *session, const char *name, const char *file)
{
	const struct dpe_session_value args[] = {{.text = file}};
	const struct dpe_session_event event = {
		.size = sizeof(event),
		.name = name,
		.has_thread = true,
		.thread = 1,
		.args = args,
		.nargs = 1,
	};
	char *errors;

	if (!dpe_session_feed(session, &event, &errors))
		fputs(errors, stderr);
	free(errors);
}

int main(void)
{
	const struct dpe_session_callbacks callbacks = {
		.size = sizeof(callbacks), .verdict = on_verdict};
	struct dpe_session *session;
	char *errors;
	int status;

	session = dpe_session_open("example", rule, NULL, 0, &callbacks, &errors);
	if (!session)
		fputs(errors, stderr);
	free(errors);
	if (!session)
		return 2;
	feed(session, "open", "a.txt");
	feed(session, "open", "b.txt");
	feed(session, "write", "a.txt");
	feed(session, "close", "a.txt");
	feed(session, "read", "a.txt");
	status = dpe_session_finish(session);
	dpe_session_close(session);
	return status;
}
