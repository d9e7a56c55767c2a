/* step: from one collective breakpoint to the next, where a command chooses the thread that goes on. Going
 * back is a replay. Source: R. Lovas, Enhanced Debugging Methods for Parallel and Metacomputing
 * Applications Based on Macrosteps, thesis, BME Budapest 2005. */
#include "explore/macrosteps.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct stepping {
	const struct dpe_explore_options *options;
	struct dpe_diags *diags;
	struct dpe_server server;
	struct dpe_macrostep_tree tree;
	struct dpe_schedule schedule; /* to be followed where nothing else is chosen */
	struct dpe_macrostep *here;
	struct dpe_macrostep **way;   /* from the first node to `here`, while the run comes there */
	unsigned on_way, nway;
	bool live; /* the run stands here, and waits for a choice */
	unsigned going; /* macrosteps still to be made by the usual choice */
	int usual;      /* exit status; -1: any */
	bool to_switch; /* … up to a switch of the schedule */
	bool again;     /* the run is made again up to `here` */
	bool quit, broken, found;
};

/* What a command leads to. */
enum after { STAY, GO, AGAIN, QUIT };

/* ---- choices ----------------------------------------------------------------------------- */

static bool is_possible(const struct dpe_sched_question *question, unsigned thread)
{
	for (unsigned i = 0; i < question->count && i < DPE_SCHED_THREADS; i++)
		if (question->possible[i] == thread)
			return thread < DPE_SCHED_THREADS;
	return false;
}

/* That of the schedule, or else without a strategy; *is_switch: the former. */
static unsigned usual_choice(const struct stepping *stepping, bool *is_switch)
{
	const struct dpe_sched_header *memory = stepping->server.memory;
	const struct dpe_sched_question *question = &memory->question;
	const struct dpe_sched_thread *current = &memory->threads[question->current];

	for (unsigned i = 0; i < stepping->schedule.count; i++) {
		const struct dpe_sched_switch *at = &stepping->schedule.at[i];

		*is_switch = at->from == question->current && at->step == current->steps &&
			     at->kind == current->op.kind && is_possible(question, at->to);
		if (*is_switch)
			return at->to;
	}
	*is_switch = false;
	return question->usual;
}

static enum after choose(struct stepping *stepping, unsigned thread)
{
	struct dpe_sched_header *memory = stepping->server.memory;
	struct dpe_sched_question *question = &memory->question;
	const struct dpe_sched_thread *current = &memory->threads[question->current];
	struct dpe_macrostep *child = dpe_macrostep_child(&stepping->tree, stepping->here, thread);

	if (!child) {
		fprintf(stepping->options->to, "the tree is full: %u macrosteps\n", DPE_EXPLORE_TREE);
		return STAY;
	}
	child->op = memory->threads[thread].op;
	child->is_switch = thread != question->usual;
	child->change = (struct dpe_sched_switch){
		.step = current->steps,
		.from = question->current,
		.to = (uint16_t)thread,
		.kind = current->op.kind,
		.pc = current->op.pc,
		.object = current->op.object,
	};
	question->answer = (uint16_t)thread;
	stepping->here = child;
	return GO;
}

/* ---- what is shown ----------------------------------------------------------------------- */

static const char *state_name(const struct dpe_sched_header *memory, unsigned thread)
{
	switch (memory->threads[thread].state) {
	case DPE_SCHED_FINISHED:
		return "over";
	case DPE_SCHED_OUTSIDE:
		return "not controlled";
	default:
		return is_possible(&memory->question, thread) ? "active" : "sleeping";
	}
}

/* What is known of the choice. */
static void print_child(const struct dpe_macrostep *here, unsigned thread, struct dpe_text *to)
{
	for (const struct dpe_macrostep *child = here->first; child; child = child->next)
		if (child->chosen == thread)
			dpe_text_printf(to, "  (#%u%s%s)", child->number, child->end ? ": " : "",
				child->end ? child->end : "");
}

static void print_thread(
	const struct stepping *stepping, unsigned thread, unsigned usual, struct dpe_text *to)
{
	const struct dpe_sched_header *memory = stepping->server.memory;
	const struct dpe_sched_thread *at = &memory->threads[thread];
	const char *state = state_name(memory, thread);

	dpe_text_printf(to, "%c thread %u  %-8s  ", thread == usual ? '>' : ' ', thread + 1, state);
	if (at->state != DPE_SCHED_FINISHED)
		dpe_operation_print(&stepping->server.symbols, &at->op, to);
	if (at->held_by && at->op.kind != DPE_SCHED_JOIN)
		dpe_text_printf(to, ", which thread %u has", at->held_by);
	print_child(stepping->here, thread, to);
	dpe_text_puts(to, "\n");
}

static void print_heading(const struct stepping *stepping, struct dpe_text *to)
{
	const struct dpe_macrostep *here = stepping->here;

	dpe_text_printf(to, "#%u", here->number);
	if (here->name)
		dpe_text_printf(to, " [%s]", here->name);
	if (here->parent) {
		dpe_text_printf(to, " after thread %u: ", here->chosen + 1u);
		dpe_operation_print(&stepping->server.symbols, &here->op, to);
	}
	dpe_text_puts(to, here->end ? "\n  the run has ended: " : "\n");
	if (here->end)
		dpe_text_printf(to, "%s\n", here->end);
}

static enum after show(struct stepping *stepping)
{
	struct dpe_text text = {0};
	bool is_switch;
	unsigned usual = usual_choice(stepping, &is_switch);

	print_heading(stepping, &text);
	for (unsigned i = 0; stepping->live && i < stepping->server.memory->nthreads &&
			     i < DPE_SCHED_THREADS;
		i++)
		print_thread(stepping, i, usual, &text);
	fputs(text.at, stepping->options->to);
	dpe_text_free(&text);
	return STAY;
}

/* ---- commands ---------------------------------------------------------------------------- */

static enum after complain(const struct stepping *stepping, const char *what)
{
	fprintf(stepping->options->to, "%s\n", what);
	return STAY;
}

/* The number in the text, 1 if it is empty; 0 after a message. */
static unsigned number_in(const struct stepping *stepping, const char *text)
{
	unsigned number;
	int end = 0;

	if (!*text)
		return 1;
	if (sscanf(text, "%u%n", &number, &end) == 1 && !text[end] && number)
		return number;
	fprintf(stepping->options->to, "'%s' is no number from 1 on\n", text);
	return 0;
}

static enum after go_on(struct stepping *stepping, bool is_chosen, unsigned thread)
{
	bool is_switch;

	if (!stepping->live)
		return complain(stepping, "the run has ended: 'back', 'goto' or 'quit'");
	if (!is_chosen)
		thread = usual_choice(stepping, &is_switch);
	if (!is_possible(&stepping->server.memory->question, thread)) {
		fprintf(stepping->options->to, "thread %u cannot go on\n", thread + 1);
		return STAY;
	}
	return choose(stepping, thread);
}

static enum after go_next(struct stepping *stepping, const char *with)
{
	unsigned count = number_in(stepping, with);
	enum after after = count ? go_on(stepping, false, 0) : STAY;

	stepping->going = after == GO ? count - 1 : 0;
	return after;
}

static enum after go_continue(struct stepping *stepping, const char *with)
{
	enum after after = go_on(stepping, false, 0);

	(void)with;
	stepping->to_switch = after == GO;
	return after;
}

static enum after move_to(struct stepping *stepping, struct dpe_macrostep *step)
{
	stepping->here = step;
	return AGAIN;
}

static enum after go_back(struct stepping *stepping, const char *with)
{
	unsigned count = number_in(stepping, with);
	struct dpe_macrostep *to = stepping->here;

	while (to && count--)
		to = to->parent;
	if (!to)
		return complain(stepping, "there are not so many macrosteps before");
	return to == stepping->here ? STAY : move_to(stepping, to);
}

static enum after go_to(struct stepping *stepping, const char *with)
{
	struct dpe_macrostep *to = dpe_macrostep_named(&stepping->tree, with);

	if (to)
		return move_to(stepping, to);
	fprintf(stepping->options->to, "there is no '%s': the tree has #1 to #%u, and what was saved\n",
		with, stepping->tree.count);
	return STAY;
}

static enum after save(struct stepping *stepping, const char *with)
{
	if (!*with || *with == '#')
		return complain(stepping, "'save' takes a name, which begins with no '#'");
	dpe_macrostep_name(&stepping->tree, stepping->here, with);
	return STAY;
}

static enum after print_tree(struct stepping *stepping, const char *with)
{
	struct dpe_text text = {0};

	(void)with;
	dpe_macrostep_tree_print(&stepping->tree, &stepping->server.symbols, stepping->here, &text);
	fputs(text.at, stepping->options->to);
	dpe_text_free(&text);
	return STAY;
}

static enum after draw_tree(struct stepping *stepping, const char *with)
{
	struct dpe_text text = {0};
	FILE *file = fopen(with, "we");
	bool good;

	dpe_macrostep_tree_draw(&stepping->tree, &stepping->server.symbols, stepping->here, &text);
	good = file && fwrite(text.at, 1, text.len, file) == text.len;
	if (file && fclose(file))
		good = false;
	if (!good)
		fprintf(stepping->options->to, "%s: %s\n", with, strerror(errno));
	dpe_text_free(&text);
	return STAY;
}

/* The switches that lead to the node; false: there are more than a schedule holds. */
static bool take_path(const struct dpe_macrostep *to, struct dpe_schedule *schedule)
{
	unsigned count = 0;

	for (const struct dpe_macrostep *step = to; step; step = step->parent)
		count += step->is_switch;
	if (count > DPE_SCHED_SWITCHES)
		return false;
	schedule->at = dpe_xcalloc(count + 1, sizeof(*schedule->at));
	schedule->count = count;
	for (const struct dpe_macrostep *step = to; step; step = step->parent)
		if (step->is_switch)
			schedule->at[--count] = step->change;
	return true;
}

static enum after write_schedule(struct stepping *stepping, const char *with)
{
	const struct dpe_macrostep *here = stepping->here;
	struct dpe_schedule schedule = {
		.epoch = stepping->server.memory->epoch,
		.finding = here->found ? dpe_xstrdup(here->end) : NULL,
	};

	if (!take_path(here, &schedule))
		complain(stepping, "there are more switches than a schedule holds");
	else if (!dpe_schedule_write(&schedule, with, &stepping->server, stepping->options->argv,
			 stepping->diags))
		dpe_diags_print(stepping->diags, stderr);
	dpe_schedule_free(&schedule);
	return STAY;
}

static enum after show_here(struct stepping *stepping, const char *with)
{
	(void)with;
	return show(stepping);
}

static enum after quit(struct stepping *stepping, const char *with)
{
	(void)stepping, (void)with;
	return QUIT;
}

static enum after help(struct stepping *stepping, const char *with);

static const struct {
	const char *name, *argument, *help;
	enum after (*run)(struct stepping *stepping, const char *with);
} COMMANDS[] = {
	{"next", "[N]", "go on with the usual choice, marked '>', for N macrosteps; also an empty line", go_next},
	{"continue", "", "go on to the next switch of the schedule that is replayed, or to the end", go_continue},
	{"back", "[N]", "go back N macrosteps", go_back},
	{"save", "NAME", "name this place: a meta-breakpoint", save},
	{"goto", "NAME|#N", "go to a place that was saved, or to a node of the tree", go_to},
	{"where", "", "show where the threads are", show_here},
	{"tree", "", "print the execution tree so far", print_tree},
	{"dot", "FILE", "write it for Graphviz", draw_tree},
	{"write", "FILE", "write the schedule so far, for --replay", write_schedule},
	{"help", "", "print this", help},
	{"quit", "", "end", quit},
};

static enum after help(struct stepping *stepping, const char *with)
{
	FILE *to = stepping->options->to;

	(void)with;
	fprintf(to, "  %-16s %s\n", "N", "let thread N go on");
	for (unsigned i = 0; i < DPE_COUNT(COMMANDS); i++)
		fprintf(to, "  %-8s %-7s %s\n", COMMANDS[i].name, COMMANDS[i].argument, COMMANDS[i].help);
	return STAY;
}

/* A command can be shortened. */
static enum after run_named(struct stepping *stepping, const char *word, const char *with)
{
	for (unsigned i = 0; i < DPE_COUNT(COMMANDS); i++) {
		if (strncmp(COMMANDS[i].name, word, strlen(word)))
			continue;
		if (isupper((unsigned char)*COMMANDS[i].argument) && !*with) {
			fprintf(stepping->options->to, "'%s' takes %s\n", COMMANDS[i].name,
				COMMANDS[i].argument);
			return STAY;
		}
		return COMMANDS[i].run(stepping, with);
	}
	fprintf(stepping->options->to, "'%s' is no command; 'help' lists them\n", word);
	return STAY;
}

static enum after run_command(struct stepping *stepping, char *line)
{
	char *word = line + strspn(line, " \t"), *with;
	unsigned thread;
	int end = 0;

	word[strcspn(word, "\n")] = '\0';
	with = word + strcspn(word, " \t");
	if (*with)
		*with++ = '\0';
	with += strspn(with, " \t");
	if (!*word)
		return go_next(stepping, "");
	if (sscanf(word, "%u%n", &thread, &end) == 1 && !word[end])
		return go_on(stepping, true, thread - 1);
	return run_named(stepping, word, with);
}

/* Until a command leads on. */
static enum after run_commands(struct stepping *stepping)
{
	FILE *from = stepping->options->commands, *to = stepping->options->to;
	enum after after = STAY;
	char *line = NULL;
	size_t size = 0;

	while (after == STAY) {
		if (isatty(fileno(from)))
			fputs("(step) ", to);
		fflush(to);
		after = getline(&line, &size, from) < 0 ? QUIT : run_command(stepping, line);
	}
	free(line);
	fflush(to);
	stepping->again = after == AGAIN;
	stepping->quit = after == QUIT;
	return after;
}

/* ---- runs -------------------------------------------------------------------------------- */

static bool is_at(const struct stepping *stepping, const struct dpe_macrostep *step)
{
	const struct dpe_sched_header *memory = stepping->server.memory;
	unsigned current = memory->question.current;

	return step->current == current && step->steps == memory->threads[current].steps;
}

/* The choice that leads to where the run is to go: that of the path. Choices that are not in it come with
 * memory that is known to be shared since; they are made as usual. True: the run is there. */
static bool find_way(struct stepping *stepping)
{
	struct dpe_sched_question *question = &stepping->server.memory->question;
	const struct dpe_macrostep *at = stepping->way[stepping->on_way];

	if (at->count && !is_at(stepping, at)) {
		question->answer = question->usual;
		return false;
	}
	if (stepping->on_way + 1 == stepping->nway)
		return true;
	question->answer = stepping->way[++stepping->on_way]->chosen;
	return false;
}

static void arrive(struct stepping *stepping)
{
	const struct dpe_sched_question *question = &stepping->server.memory->question;
	struct dpe_macrostep *here = stepping->here;

	free(here->end);
	here->end = NULL;
	here->found = false;
	here->current = question->current;
	here->count = question->count;
	here->steps = stepping->server.memory->threads[question->current].steps;
	stepping->live = true;
}

/* Whether a command before has said so. */
static bool is_on_its_way(struct stepping *stepping)
{
	bool is_switch;

	usual_choice(stepping, &is_switch);
	if (stepping->to_switch && !is_switch)
		return true;
	stepping->to_switch = false;
	if (!stepping->going)
		return false;
	stepping->going--;
	return true;
}

/* False: the run is to be ended. */
static bool answer(void *context)
{
	struct stepping *stepping = context;

	if (stepping->server.memory->question.current >= DPE_SCHED_THREADS)
		return false;
	if (!find_way(stepping))
		return true;
	arrive(stepping);
	if (!is_on_its_way(stepping) || go_on(stepping, false, 0) != GO) {
		stepping->going = 0;
		show(stepping);
		if (run_commands(stepping) != GO)
			return false;
	}
	stepping->live = false;
	stepping->way[0] = stepping->here;
	stepping->on_way = 0;
	stepping->nway = 1;
	return true;
}

static void plan_way(struct stepping *stepping)
{
	unsigned at = stepping->nway = stepping->here->depth + 1;

	free(stepping->way);
	stepping->way = dpe_xcalloc(at, sizeof(*stepping->way));
	for (struct dpe_macrostep *step = stepping->here; step; step = step->parent)
		stepping->way[--at] = step;
	stepping->on_way = 0;
}

static char *end_of(const struct dpe_sched_header *memory, const struct dpe_explored_run *run,
	const struct dpe_finding *finding)
{
	if (finding->found)
		return dpe_xstrdup(finding->what.at);
	if (run->timed_out)
		return dpe_xstrdup("not in time (--run-seconds)");
	switch (memory->end) {
	case DPE_SCHED_CUT:
		return dpe_xstrdup("too many operations (--max-steps)");
	case DPE_SCHED_TOO_MANY:
		return dpe_xstrdup("too many threads");
	case DPE_SCHED_STUCK:
		return dpe_xstrdup("all threads wait, but a handler of a signal might wake one");
	default:
		return dpe_xasprintf("exit status %d", WEXITSTATUS(run->status));
	}
}

/* The run has ended by itself: so does the path in the tree. */
static void end_path(struct stepping *stepping, const struct dpe_explored_run *run,
	const struct dpe_finding *finding)
{
	struct dpe_macrostep *here = stepping->here;

	if (here->count || stepping->on_way + 1 < stepping->nway) {
		fprintf(stepping->options->to,
			"the run ended before it came to #%u: the program depends on something else than the "
			"schedule\n",
			here->number);
		return;
	}
	free(here->end);
	here->end = end_of(stepping->server.memory, run, finding);
	here->found = finding->found;
	stepping->found |= finding->found;
	show(stepping);
	if (finding->details.at)
		fputs(finding->details.at, stepping->options->to);
}

static void report_outside(struct stepping *stepping)
{
	if (stepping->server.outside.at)
		fprintf(stepping->options->to, "not controlled: a thread %s", stepping->server.outside.at);
	dpe_text_free(&stepping->server.outside);
}

static void end_run(struct stepping *stepping, const struct dpe_explored_run *run)
{
	struct dpe_finding finding = {0};
	bool whole = !stepping->again && !stepping->quit;

	stepping->live = false;
	if (whole)
		dpe_finding_read(&finding, &stepping->server, run, stepping->options->fails, stepping->usual);
	report_outside(stepping);
	stepping->going = 0;
	stepping->to_switch = false;
	if (whole)
		end_path(stepping, run, &finding);
	dpe_finding_free(&finding);
	if (whole)
		run_commands(stepping);
}

static void run_again(struct stepping *stepping)
{
	struct dpe_explored_run run;

	stepping->again = false;
	plan_way(stepping);
	if (dpe_server_run(&stepping->server, &run, stepping->diags))
		end_run(stepping, &run);
	else
		stepping->broken = true;
}

/* Runs that are not shown: accesses of memory that is shared are choices from the first one on. */
static bool learn(struct stepping *stepping)
{
	struct dpe_sched_header *memory = stepping->server.memory;
	uint32_t learned = UINT32_MAX;
	struct dpe_explored_run run;

	dpe_schedule_give(&stepping->schedule, memory);
	for (unsigned i = 0; i < DPE_EXPLORE_LEARNING && learned != memory->learned; i++) {
		learned = memory->learned;
		if (!dpe_server_run(&stepping->server, &run, stepping->diags))
			return false;
	}
	memory->nforced = 0;
	memory->asks = true;
	return true;
}

/* ------------------------------------------------------------------------------------------ */

static bool begin(struct stepping *stepping)
{
	const struct dpe_explore_options *options = stepping->options;
	struct dpe_schedule *schedule = &stepping->schedule;

	if (options->fails && !dpe_fails_check(options->fails, stepping->diags))
		return false;
	if (options->replay && !dpe_schedule_read(schedule, options->replay, stepping->diags))
		return false;
	if (schedule->finding && sscanf(schedule->finding, "exit status %*d, and %d", &stepping->usual) != 1)
		stepping->usual = -1;
	if (!dpe_server_start(&stepping->server, options, stepping->diags))
		return false;
	if (!options->replay)
		schedule->epoch = stepping->server.memory->epoch;
	stepping->server.memory->spurious |= schedule->spurious;
	stepping->server.answer = answer;
	stepping->server.answering = stepping;
	stepping->here = dpe_macrostep_child(&stepping->tree, NULL, 0);
	return learn(stepping);
}

enum dpe_explored dpe_explore_step(
	const struct dpe_explore_options *options, struct dpe_diags *diags)
{
	struct stepping stepping = {
		.options = options, .diags = diags, .usual = -1, .server.commands = -1};

	stepping.broken = !begin(&stepping);
	while (!stepping.broken && !stepping.quit)
		run_again(&stepping);
	if (stepping.server.commands >= 0)
		dpe_server_stop(&stepping.server);
	dpe_schedule_free(&stepping.schedule);
	dpe_macrostep_tree_free(&stepping.tree);
	free(stepping.way);
	if (stepping.broken)
		return DPE_EXPLORED_FAILED;
	return stepping.found ? DPE_EXPLORED_FOUND : DPE_EXPLORED_NOTHING;
}
