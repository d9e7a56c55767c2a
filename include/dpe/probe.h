/* probe.h: events that a program reports itself, for dpe to observe, as in
 *	DPE_EVENT(request_done, request->id, bytes);
 * which is the event request_done(id, bytes) of a specification. For gcc and clang, x86-64, C and
 * C++. */
#ifndef DPE_PROBE_H
#define DPE_PROBE_H

/* Reports the event `name` with the arguments after it; a statement. Up to six arguments: integers
 * or pointers, passed as 64 bits each; text is a pointer that a rule reads by text(x). The same
 * event may be reported at many places, in libraries, too, always with as many arguments. Its name
 * becomes a function's: neither the program nor its libraries may have one of that name.
 *
 * It is a call of a function that is never inlined and begins with a nop of five bytes, where a
 * probe costs least: without a probe, a nop and a return. Nothing has to be linked, and the program
 * runs everywhere. */
#define DPE_EVENT(...)                                                                             \
	DPE_EVENT_CHOOSE(__VA_ARGS__, DPE_EVENT_6, DPE_EVENT_5, DPE_EVENT_4, DPE_EVENT_3,          \
		DPE_EVENT_2, DPE_EVENT_1, DPE_EVENT_0, )                                           \
	(__VA_ARGS__)

/* ---- how it is done ---------------------------------------------------------------------- */

#define DPE_EVENT_CHOOSE(name, a, b, c, d, e, f, chosen, ...) chosen

/* A copy in each object file that needs it; the linker keeps one of them. */
#define DPE_EVENT_FUNCTION(name)                                                                   \
	__asm__ volatile(".ifndef " #name "\n"                                                     \
			 ".pushsection .text.dpe_event." #name ",\"axG\",@progbits," #name         \
			 ",comdat\n"                                                               \
			 ".weak " #name "\n"                                                       \
			 ".hidden " #name "\n"                                                     \
			 ".type " #name ", @function\n" #name ":\n"                                \
			 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"                                    \
			 "ret\n"                                                                   \
			 ".size " #name ", . - " #name "\n"                                        \
			 ".popsection\n"                                                           \
			 ".endif")

#ifdef __cplusplus
#define DPE_EVENT_DECLARE(name, ...) extern void dpe_event_##name(__VA_ARGS__) __asm__(#name)
#define DPE_EVENT_CALL(name) dpe_event_##name
#else /* under its own name: one that is a function's already is an error then */
#define DPE_EVENT_DECLARE(name, ...) extern void name(__VA_ARGS__)
#define DPE_EVENT_CALL(name) name
#endif

#define DPE_EVENT_TELL(name, types, values)                                                        \
	do {                                                                                       \
		DPE_EVENT_FUNCTION(name);                                                          \
		DPE_EVENT_DECLARE(name, DPE_EVENT_LIST types);                                     \
		DPE_EVENT_CALL(name) values;                                                       \
	} while (0)
#define DPE_EVENT_LIST(...) __VA_ARGS__
#define DPE_EVENT_W unsigned long
#define DPE_EVENT_0(name) DPE_EVENT_TELL(name, (void), ())
#define DPE_EVENT_1(name, a) DPE_EVENT_TELL(name, (DPE_EVENT_W), ((DPE_EVENT_W)(a)))
#define DPE_EVENT_2(name, a, b)                                                                    \
	DPE_EVENT_TELL(                                                                            \
		name, (DPE_EVENT_W, DPE_EVENT_W), ((DPE_EVENT_W)(a), (DPE_EVENT_W)(b)))
#define DPE_EVENT_3(name, a, b, c)                                                                 \
	DPE_EVENT_TELL(name, (DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W),                              \
		((DPE_EVENT_W)(a), (DPE_EVENT_W)(b), (DPE_EVENT_W)(c)))
#define DPE_EVENT_4(name, a, b, c, d)                                                              \
	DPE_EVENT_TELL(name, (DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W),                 \
		((DPE_EVENT_W)(a), (DPE_EVENT_W)(b), (DPE_EVENT_W)(c), (DPE_EVENT_W)(d)))
#define DPE_EVENT_5(name, a, b, c, d, e)                                                           \
	DPE_EVENT_TELL(name, (DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W),    \
		((DPE_EVENT_W)(a), (DPE_EVENT_W)(b), (DPE_EVENT_W)(c), (DPE_EVENT_W)(d),           \
			(DPE_EVENT_W)(e)))
#define DPE_EVENT_6(name, a, b, c, d, e, f)                                                        \
	DPE_EVENT_TELL(name,                                                                       \
		(DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W, DPE_EVENT_W),    \
		((DPE_EVENT_W)(a), (DPE_EVENT_W)(b), (DPE_EVENT_W)(c), (DPE_EVENT_W)(d),           \
			(DPE_EVENT_W)(e), (DPE_EVENT_W)(f)))

#endif
