/* Memory: growing arrays, arenas and text. Running out of it ends the work of the innermost dpe_protect. */
#include "base/limits.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- running out of memory ------------------------------------------------------------------ */

struct protection {
	jmp_buf begin;
	struct protection *outer;
};

/* Where the thread continues when memory runs out; NULL: dpe aborts. */
static _Thread_local struct protection *innermost;

bool dpe_protect(void (*work)(void *with), void *with)
{
	struct protection here = {.outer = innermost};

	if (_setjmp(here.begin)) {
		innermost = here.outer;
		return false;
	}
	innermost = &here;
	work(with);
	innermost = here.outer;
	return true;
}

bool dpe_is_protected(void)
{
	return innermost;
}

_Noreturn void dpe_out_of_memory(void)
{
	if (innermost)
		_longjmp(innermost->begin, 1);
	fputs("dpe: out of memory\n", stderr);
	abort();
}

/* ---- allocations ---------------------------------------------------------------------------- */

static void *checked(void *memory)
{
	if (!memory)
		dpe_out_of_memory();
	return memory;
}

void *dpe_xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *dpe_xcalloc(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *dpe_xmalloc_lines(size_t size)
{
	void *at;

	if (posix_memalign(&at, 64, size ? size : 1))
		dpe_out_of_memory();
	return at;
}

void *dpe_xcalloc_lines(size_t count, size_t size)
{
	size_t bytes = 0;

	if (__builtin_mul_overflow(count, size, &bytes))
		dpe_out_of_memory();
	return memset(dpe_xmalloc_lines(bytes), 0, bytes);
}

void *dpe_xrealloc(void *old, size_t size)
{
	return checked(realloc(old, size ? size : 1));
}

char *dpe_xstrdup(const char *text)
{
	return checked(strdup(text));
}

char *dpe_xasprintf(const char *fmt, ...)
{
	struct dpe_text text = {0};
	va_list args;

	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	return text.at;
}

/* The first capacity fills a cache line: many arrays never get a second element. */
static unsigned first_cap(size_t element)
{
	return element >= 32 ? 1 : element >= 16 ? 4 : 8;
}

/* A large array is filled soon: with huge pages the kernel is asked for memory less often. */
static void advise_huge_pages(void *array, size_t size)
{
	uintptr_t begin = (uintptr_t)array & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);

	(void)madvise((void *)begin, (uintptr_t)array + size - begin, MADV_HUGEPAGE); /* only a hint */
}

void *dpe_grow(void *array, unsigned *cap, size_t element)
{
	unsigned more = *cap ? *cap * 2 : first_cap(element);
	size_t size;

	if (more <= *cap || __builtin_mul_overflow((size_t)more, element, &size))
		dpe_out_of_memory();
	array = dpe_xrealloc(array, size);
	*cap = more;
	if (size >= DPE_HUGE_ARRAY)
		advise_huge_pages(array, size);
	return array;
}

/* ---- arenas ------------------------------------------------------------------------------ */

#define ALIGNMENT _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

struct dpe_arena {
	struct block *blocks;
};

struct dpe_arena *dpe_arena_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_arena));
}

void dpe_arena_free(struct dpe_arena *arena)
{
	if (!arena)
		return;
	while (arena->blocks) {
		struct block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	free(arena);
}

void dpe_arena_reset(struct dpe_arena *arena)
{
	struct block *kept = arena->blocks, *rest;

	if (!kept)
		return;
	rest = kept->next;
	while (rest) {
		struct block *next = rest->next;

		free(rest);
		rest = next;
	}
	kept->next = NULL;
	memset(kept->bytes, 0, kept->used);
	kept->used = 0;
}

static void add_block(struct dpe_arena *arena, size_t size)
{
	struct block *block;
	size_t whole;

	if (__builtin_add_overflow(size, sizeof(*block), &whole))
		dpe_out_of_memory();
	block = dpe_xcalloc(1, whole);
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
}

void *dpe_arena_alloc(struct dpe_arena *arena, size_t size)
{
	size_t need;
	void *memory;

	if (__builtin_add_overflow(size, ALIGNMENT - 1, &need))
		dpe_out_of_memory();
	need -= need % ALIGNMENT;
	if (!arena->blocks || arena->blocks->size - arena->blocks->used < need)
		add_block(arena, need > DPE_ARENA_BLOCK ? need : DPE_ARENA_BLOCK);
	memory = arena->blocks->bytes + arena->blocks->used;
	arena->blocks->used += need;
	return memory;
}

char *dpe_arena_strndup(struct dpe_arena *arena, const char *text, size_t len)
{
	char *copy = dpe_arena_alloc(arena, len + 1);

	if (len)
		memcpy(copy, text, len);
	return copy;
}

char *dpe_arena_printf(struct dpe_arena *arena, const char *fmt, ...)
{
	struct dpe_text text = {0};
	va_list args;
	char *copy;

	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	copy = dpe_arena_strndup(arena, text.at, text.len);
	dpe_text_free(&text);
	return copy;
}

/* ---- text -------------------------------------------------------------------------------- */

static void make_room(struct dpe_text *text, size_t len)
{
	size_t need;

	if (__builtin_add_overflow(text->len, len, &need) || need > SIZE_MAX / 4)
		dpe_out_of_memory();
	if (need < text->cap)
		return;
	need = need < 32 ? 64 : need * 2;
	text->at = dpe_xrealloc(text->at, need);
	text->cap = need;
}

void dpe_text_add(struct dpe_text *text, const char *bytes, size_t len)
{
	make_room(text, len);
	if (len)
		memcpy(text->at + text->len, bytes, len);
	text->len += len;
	text->at[text->len] = '\0';
}

void dpe_text_puts(struct dpe_text *text, const char *string)
{
	dpe_text_add(text, string, strlen(string));
}

void dpe_text_printf(struct dpe_text *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	dpe_text_vprintf(text, fmt, args);
	va_end(args);
}

void dpe_text_vprintf(struct dpe_text *text, const char *fmt, va_list args)
{
	va_list again;
	size_t room;
	int len;

	make_room(text, 0);
	room = text->cap - text->len;
	va_copy(again, args);
	len = vsnprintf(text->at + text->len, room, fmt, again);
	va_end(again);
	if (len < 0)
		dpe_out_of_memory();
	if ((size_t)len >= room) {
		make_room(text, (size_t)len);
		vsnprintf(text->at + text->len, (size_t)len + 1, fmt, args);
	}
	text->len += (size_t)len;
}

void dpe_text_free(struct dpe_text *text)
{
	free(text->at);
	*text = (struct dpe_text){0};
}
