/* Statements of actions. They act only through the sink. */
#include "recognizer/actions/actions.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

/* ---- text -------------------------------------------------------------------------------- */

static const struct dpe_message *event_of(const struct dpe_env *env, const struct dpe_expr *expr)
{
	if (!expr->index)
		return env->event;
	return env->positions ? env->positions[expr->index - 1] : NULL;
}

/* All frames, for a message whose stack is text. */
static void print_stack(const struct dpe_env *env, const struct dpe_message *message)
{
	struct dpe_recognizer_sink *sink = &env->recognizer->sink;
	struct dpe_message *resolved = NULL;

	if (message && !message->nstack && message->npcs && sink->resolve)
		message = resolved = sink->resolve(sink->context, message);
	if (!message || !message->nstack)
		dpe_text_puts(env->text, "(no stack)");
	for (unsigned i = 0; message && i < message->nstack; i++)
		dpe_text_printf(env->text, "%s%s", i ? " < " : "", message->stack[i]);
	dpe_message_unref(resolved);
}

static void print_expr(const struct dpe_env *env, const struct dpe_expr *expr)
{
	bool whole = expr->kind == DPE_EXPR_POSITION;
	const struct dpe_message *event;

	if (expr->kind == DPE_EXPR_FIELD && expr->field == DPE_FIELD_STACK) {
		print_stack(env, event_of(env, expr));
		return;
	}
	if (whole && (event = event_of(env, expr))) {
		dpe_message_print_id(env->text, env->recognizer->spec->names, event);
		return;
	}
	struct dpe_value value = dpe_eval(env, expr);

	if (value.kind == DPE_NONE)
		dpe_text_puts(env->text, "(none)");
	else
		dpe_value_print(env->text, value);
}

static void print_from(const struct dpe_env *env, const struct dpe_stmt *stmt, unsigned first)
{
	for (unsigned i = first; i < stmt->nargs; i++) {
		if (i > first)
			dpe_text_puts(env->text, " ");
		print_expr(env, stmt->args[i]);
	}
}

static void print_all(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	print_from(env, stmt, 0);
}

/* Pads what `print_expr` wrote from `begin` on, for formats like %-10s and %.3s. */
static void pad(struct dpe_text *text, size_t begin, int width, int precision, bool left)
{
	size_t len = text->len - begin, missing;

	if (precision >= 0 && len > (size_t)precision) {
		text->len = begin + (size_t)precision;
		text->at[text->len] = '\0';
		len = (size_t)precision;
	}
	if (width < 0 || len >= (size_t)width)
		return;
	missing = (size_t)width - len;
	for (size_t i = 0; i < missing; i++)
		dpe_text_puts(text, " ");
	if (left)
		return;
	memmove(text->at + begin + missing, text->at + begin, len);
	memset(text->at + begin, ' ', missing);
}

/* One conversion of a format: %[flags][width][.precision][length]letter. */
struct conversion {
	char flags[8];
	int width, precision; /* -1: none */
	char letter;
};

static int read_number(const char **at)
{
	int number = 0;

	while (**at >= '0' && **at <= '9') {
		number = number * 10 + (**at - '0');
		if (number > DPE_FORMAT_WIDTH)
			number = DPE_FORMAT_WIDTH;
		(*at)++;
	}
	return number;
}

static const char *read_conversion(const char *at, struct conversion *conversion)
{
	unsigned nflags = 0;

	*conversion = (struct conversion){.width = -1, .precision = -1};
	for (; *at && strchr("-+ #0", *at); at++) {
		if (nflags < 5 && !strchr(conversion->flags, *at))
			conversion->flags[nflags++] = *at;
	}
	if (*at >= '0' && *at <= '9')
		conversion->width = read_number(&at);
	if (*at == '.') {
		at++;
		conversion->precision = read_number(&at);
	}
	while (*at && strchr("hljztq", *at))
		at++;
	conversion->letter = *at;
	return *at ? at + 1 : at;
}

static void print_integer(const struct dpe_env *env, const struct conversion *how, int64_t number)
{
	char format[64], width[16] = "", precision[16] = "";
	size_t len;
	char *line;

	if (how->width >= 0)
		snprintf(width, sizeof(width), "%d", how->width);
	if (how->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", how->precision);
	snprintf(format, sizeof(format), "%%%s%s%s%s%c", how->flags, width, precision,
		how->letter == 'c' ? "" : "ll", how->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	/* The letter is one of d i u x X o c: the format takes one integer. */
	if (how->letter == 'c')
		line = dpe_xasprintf(format, (int)(unsigned char)number);
	else
		line = dpe_xasprintf(format, (long long)number);
#pragma GCC diagnostic pop
	len = strlen(line);
	dpe_text_add(env->text, line, len);
	free(line);
}

static void print_converted(
	const struct dpe_env *env, const struct conversion *how, const struct dpe_expr *expr)
{
	size_t begin = env->text->len;
	struct dpe_value value;

	if (strchr("diuxXoc", how->letter)) {
		value = dpe_eval(env, expr);
		if (value.kind == DPE_INT || value.kind == DPE_UINT || value.kind == DPE_POINTER) {
			print_integer(env, how, value.num);
			return;
		}
	}
	if (how->letter == 'p') {
		value = dpe_eval(env, expr);
		if (value.kind == DPE_INT)
			value = dpe_value_pointer((uint64_t)value.num);
		dpe_value_print(env->text, value);
	} else {
		print_expr(env, expr);
	}
	pad(env->text, begin, how->width, how->letter == 's' ? how->precision : -1,
		strchr(how->flags, '-'));
}

/* The compiler has checked the format against its arguments. */
static void print_format(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	const char *at = stmt->args[0]->value.text;
	unsigned next = 1;

	while (*at) {
		size_t plain = strcspn(at, "%");
		struct conversion how;

		dpe_text_add(env->text, at, plain);
		at += plain;
		if (!*at)
			return;
		at = read_conversion(at + 1, &how);
		if (how.letter == '%')
			dpe_text_puts(env->text, "%");
		else if (next < stmt->nargs)
			print_converted(env, &how, stmt->args[next++]);
	}
}

/* ---- statements -------------------------------------------------------------------------- */

static void begin_text(const struct dpe_env *env)
{
	env->text->len = 0;
	if (env->text->at)
		*env->text->at = '\0';
	else
		dpe_text_puts(env->text, "");
}

static bool speaks(enum dpe_call call)
{
	return call == DPE_CALL_PRINT || call == DPE_CALL_PRINTF || call == DPE_CALL_ERROR ||
	       call == DPE_CALL_BREAK;
}

static void report_error(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	if (dpe_action_suppressed(env))
		return;
	print_all(env, stmt);
	dpe_action_error(env, env->text->at);
}

static void print_line(const struct dpe_env *env)
{
	const struct dpe_recognizer_sink *sink = &env->recognizer->sink;

	if (sink->print)
		sink->print(sink->context, env->run->rule, env->text->at);
}

/* At the end of the input there is nothing to stop. */
static void stop(const struct dpe_env *env)
{
	const struct dpe_recognizer_sink *sink = &env->recognizer->sink;

	if (env->event && (!sink->stop || sink->stop(sink->context, env->run->rule, env->event) == DPE_BREAK_END))
		env->recognizer->ended = true;
}

static void run_call(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	struct dpe_recognizer *recognizer = env->recognizer;

	if (recognizer->suppressing && speaks(stmt->call))
		return;
	begin_text(env);
	switch (stmt->call) {
	case DPE_CALL_PRINT:
		print_all(env, stmt);
		print_line(env);
		return;
	case DPE_CALL_PRINTF:
		print_format(env, stmt);
		print_line(env);
		return;
	case DPE_CALL_ERROR:
		report_error(env, stmt);
		return;
	case DPE_CALL_BREAK:
		stop(env);
		return;
	case DPE_CALL_PROGRESS:
		dpe_progress_check(env, stmt);
		return;
	case DPE_CALL_COUNT:
	case DPE_CALL_SUM:
	case DPE_CALL_HIST:
	case DPE_CALL_QUANTILES:
		print_from(env, stmt, stmt->call != DPE_CALL_COUNT);
		dpe_measure_take(env, stmt);
		return;
	case DPE_CALL_SYNC_EVENT: /* makes the rule a `sync` rule, which runs no action */
		return;
	default:
		dpe_wait_call(env, stmt);
		return;
	}
}

static void assign(const struct dpe_env *env, const struct dpe_expr *name, struct dpe_value value)
{
	struct dpe_value keys[DPE_MAX_KEYS];

	if (dpe_eval_keys(env, name, keys))
		dpe_spec_variable_set(env->recognizer->variables, name->index, keys, value);
}

static void run_statement(const struct dpe_env *env, const struct dpe_stmt *stmt)
{
	for (; stmt && !env->recognizer->ended; stmt = stmt->next) {
		switch (stmt->kind) {
		case DPE_STMT_EXPR:
			break;
		case DPE_STMT_ASSIGN:
			assign(env, stmt->args[0], dpe_eval(env, stmt->expr));
			break;
		case DPE_STMT_IF:
			run_statement(env,
				dpe_eval_condition(env, stmt->expr) ? stmt->body : stmt->otherwise);
			break;
		case DPE_STMT_BLOCK:
			run_statement(env, stmt->body);
			break;
		case DPE_STMT_CALL:
			run_call(env, stmt);
			break;
		}
	}
}

bool dpe_run_may_act(struct dpe_run *run, const struct dpe_stmt *action)
{
	for (unsigned i = 0; i < run->nran; i++) {
		if (run->ran[i] == action)
			return false;
	}
	*DPE_GROW(run->ran, run->nran, run->capran) = action;
	return true;
}

void dpe_run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_message *const *positions,
	const struct dpe_message *event)
{
	const struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.slice = slice->number,
		.variables = slice->params,
		.event = event,
		.positions = positions,
		.text = &run->recognizer->text,
	};

	run_statement(&env, action);
}

/* ---- what an action asks for ------------------------------------------------------------- */

bool dpe_action_names_positions(const struct dpe_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		for (unsigned i = 0; i < stmt->nargs; i++) {
			if (dpe_expr_names_positions(stmt->args[i]))
				return true;
		}
		if (dpe_expr_names_positions(stmt->expr) ||
			dpe_action_names_positions(stmt->body) ||
			dpe_action_names_positions(stmt->otherwise))
			return true;
	}
	return false;
}
