/* step_commands: what a command does at a macrostep. */
#include "explore/stepping.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum dpe_after choose(struct dpe_stepping *stepping, unsigned thread)
{
	struct dpe_sched_header *memory = stepping->server.memory;
	struct dpe_sched_question *question = &memory->question;
	const struct dpe_sched_thread *current = &memory->threads[question->current];
	struct dpe_macrostep *child = dpe_macrostep_child(&stepping->tree, stepping->here, thread);

	if (!child) {
		fprintf(stepping->options->to, "the tree is full: %u macrosteps\n", DPE_EXPLORE_TREE);
		return DPE_STAY;
	}
	child->op = memory->threads[thread].op;
	child->is_switch = thread != question->by_default;
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
	return DPE_GO;
}

static enum dpe_after complain(const struct dpe_stepping *stepping, const char *what)
{
	fprintf(stepping->options->to, "%s\n", what);
	return DPE_STAY;
}

/* All of the text, which has no sign. */
static bool is_number(const char *text, unsigned *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	*number = (unsigned)value;
	return isdigit((unsigned char)*text) && !*end && !errno && value <= UINT_MAX;
}

/* The number in the text, 1 if it is empty; 0 after a message. */
static unsigned number_in(const struct dpe_stepping *stepping, const char *text)
{
	unsigned number;

	if (!*text)
		return 1;
	if (is_number(text, &number) && number)
		return number;
	fprintf(stepping->options->to, "'%s' is not a number of at least 1\n", text);
	return 0;
}

static enum dpe_after make_choice(struct dpe_stepping *stepping, bool is_chosen, unsigned thread)
{
	bool is_switch;

	if (!stepping->live)
		return complain(stepping, "the run has ended: 'back', 'goto' or 'quit'");
	if (!is_chosen)
		thread = dpe_step_default(stepping, &is_switch);
	if (thread >= stepping->server.memory->nthreads) {
		fprintf(stepping->options->to, "there is no thread %u here\n", thread + 1);
		return DPE_STAY;
	}
	if (!dpe_step_is_possible(&stepping->server.memory->question, thread)) {
		fprintf(stepping->options->to, "thread %u cannot proceed\n", thread + 1);
		return DPE_STAY;
	}
	return choose(stepping, thread);
}

static enum dpe_after go_next(struct dpe_stepping *stepping, const char *with)
{
	unsigned count = number_in(stepping, with);
	enum dpe_after after = count ? make_choice(stepping, false, 0) : DPE_STAY;

	stepping->going = after == DPE_GO ? count - 1 : 0;
	return after;
}

static enum dpe_after go_continue(struct dpe_stepping *stepping, const char *with)
{
	enum dpe_after after = make_choice(stepping, false, 0);

	(void)with;
	stepping->to_switch = after == DPE_GO;
	return after;
}

static enum dpe_after move_to(struct dpe_stepping *stepping, struct dpe_macrostep *step)
{
	stepping->here = step;
	return DPE_AGAIN;
}

static enum dpe_after go_back(struct dpe_stepping *stepping, const char *with)
{
	unsigned count = number_in(stepping, with);
	struct dpe_macrostep *to = stepping->here;

	while (to && count--)
		to = to->parent;
	if (!to)
		return complain(stepping, "there are fewer macrosteps before this one");
	return to == stepping->here ? DPE_STAY : move_to(stepping, to);
}

static enum dpe_after go_to(struct dpe_stepping *stepping, const char *with)
{
	struct dpe_macrostep *to = dpe_macrostep_named(&stepping->tree, with);

	if (to)
		return move_to(stepping, to);
	fprintf(stepping->options->to, "there is no '%s': the tree has #1 to #%u, and what was saved\n",
		with, stepping->tree.count);
	return DPE_STAY;
}

static enum dpe_after save(struct dpe_stepping *stepping, const char *with)
{
	if (!*with || *with == '#')
		return complain(stepping, "'save' takes a name, which begins with no '#'");
	dpe_macrostep_name(&stepping->tree, stepping->here, with);
	fprintf(stepping->options->to, "#%u is '%s'\n", stepping->here->number, with);
	return DPE_STAY;
}

static enum dpe_after print_tree(struct dpe_stepping *stepping, const char *with)
{
	struct dpe_text text = {0};

	(void)with;
	dpe_macrostep_tree_print(&stepping->tree, &stepping->server.symbols, stepping->here, &text);
	fputs(text.at, stepping->options->to);
	dpe_text_free(&text);
	return DPE_STAY;
}

static enum dpe_after draw_tree(struct dpe_stepping *stepping, const char *with)
{
	struct dpe_text text = {0};
	FILE *file = fopen(with, "we");
	bool good;

	dpe_macrostep_tree_draw(&stepping->tree, &stepping->server.symbols, stepping->here, &text);
	good = file && fwrite(text.at, 1, text.len, file) == text.len;
	if (file && fclose(file))
		good = false;
	if (good)
		fprintf(stepping->options->to, "%s: the tree, with %u nodes\n", with, stepping->tree.count);
	else
		fprintf(stepping->options->to, "%s: %s\n", with, strerror(errno));
	dpe_text_free(&text);
	return DPE_STAY;
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

static enum dpe_after write_schedule(struct dpe_stepping *stepping, const char *with)
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
	else
		fprintf(stepping->options->to, "%s: the schedule up to here, with %u switch%s\n", with, schedule.count,
			schedule.count == 1 ? "" : "es");
	dpe_schedule_free(&schedule);
	return DPE_STAY;
}

static enum dpe_after show_here(struct dpe_stepping *stepping, const char *with)
{
	(void)with;
	dpe_step_show(stepping);
	return DPE_STAY;
}

static enum dpe_after quit(struct dpe_stepping *stepping, const char *with)
{
	(void)stepping, (void)with;
	return DPE_QUIT;
}

static enum dpe_after help(struct dpe_stepping *stepping, const char *with);

static const struct {
	const char *name, *argument, *help;
	enum dpe_after (*run)(struct dpe_stepping *stepping, const char *with);
} COMMANDS[] = {
	{"next", "[N]", "take the default choice, marked '>', for N macrosteps; also an empty line", go_next},
	{"continue", "", "continue to the next switch of the schedule that is replayed, or to the end", go_continue},
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

static enum dpe_after help(struct dpe_stepping *stepping, const char *with)
{
	FILE *to = stepping->options->to;

	(void)with;
	fprintf(to, "  %-16s %s\n", "N", "let thread N continue");
	for (unsigned i = 0; i < DPE_COUNT(COMMANDS); i++)
		fprintf(to, "  %-8s %-7s %s\n", COMMANDS[i].name, COMMANDS[i].argument, COMMANDS[i].help);
	return DPE_STAY;
}

/* A command can be shortened. */
static enum dpe_after run_named(struct dpe_stepping *stepping, const char *word, const char *with)
{
	for (unsigned i = 0; i < DPE_COUNT(COMMANDS); i++) {
		if (strncmp(COMMANDS[i].name, word, strlen(word)))
			continue;
		if (isupper((unsigned char)*COMMANDS[i].argument) && !*with) {
			fprintf(stepping->options->to, "'%s' takes %s\n", COMMANDS[i].name,
				COMMANDS[i].argument);
			return DPE_STAY;
		}
		return COMMANDS[i].run(stepping, with);
	}
	fprintf(stepping->options->to, "'%s' is not a command; 'help' lists them\n", word);
	return DPE_STAY;
}

static enum dpe_after run_command(struct dpe_stepping *stepping, char *line)
{
	char *word = line + strspn(line, " \t"), *with;
	unsigned thread;

	word[strcspn(word, "\n")] = '\0';
	with = word + strcspn(word, " \t");
	if (*with)
		*with++ = '\0';
	with += strspn(with, " \t");
	if (!*word)
		return go_next(stepping, "");
	if (is_number(word, &thread))
		return make_choice(stepping, true, thread - 1);
	return run_named(stepping, word, with);
}

enum dpe_after dpe_step_commands(struct dpe_stepping *stepping)
{
	FILE *from = stepping->options->commands, *to = stepping->options->to;
	enum dpe_after after = DPE_STAY;
	char *line = NULL;
	size_t size = 0;

	while (after == DPE_STAY) {
		if (isatty(fileno(from)))
			fputs("(step) ", to);
		fflush(to);
		after = getline(&line, &size, from) < 0 ? DPE_QUIT : run_command(stepping, line);
	}
	free(line);
	fflush(to);
	stepping->again = after == DPE_AGAIN;
	stepping->quit = after == DPE_QUIT;
	return after;
}

enum dpe_after dpe_step_continue(struct dpe_stepping *stepping)
{
	return make_choice(stepping, false, 0);
}
