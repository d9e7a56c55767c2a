/* dpe.h: Data Path Expressions, for programs that have events of their own. The dpe command is made
 * of what stands here and in dpe-probes.h, and of nothing else.
 *
 *	names = dpe_names_new();
 *	spec = dpe_spec_compile_text("rules", text, strlen(text), names, NULL, diags);
 *	recognizer = dpe_recognizer_new(spec, NULL, &sink, diags);
 *	dpe_recognizer_feed(recognizer, dpe_message_new(&draft), diags); … for each event
 *	dpe_recognizer_finish(recognizer); … the sink has heard of all verdicts
 *
 * Its parts:
 *
 *	dpe-base.h        text, places in source text, diagnostics
 *	dpe-event.h       names, values, messages, logs of them
 *	dpe-spec.h        specifications, their rules, nets
 *	dpe-recognizer.h  from messages to verdicts
 *	dpe-probes.h      (not included here) messages of running programs
 *
 * Objects are handles, made and freed by functions: what they consist of is private. Structs whose
 * members are declared are plain data: what functions are given, and what callbacks are shown.
 * What a callback is shown is borrowed for the time of the call, unless it says otherwise.
 *
 * Nothing here is global. A table of names, what was made with it (specifications, recognizers,
 * logs, messages), and the diagnostics that these are given, are used by one thread at a time;
 * those of different tables have nothing in common. So two recognizers in two threads have a
 * table each, and messages of their own. Recognizers in several threads may share a specification,
 * once all of them are made, as long as no thread adds names to its table or reads a log with it.
 *
 * What is stable: as long as DPE_API_VERSION is the same, programs that compile do so with later
 * versions, and mean the same. Functions, members at the end of structs, and enumerators are
 * added; none is removed, renamed, or gets another meaning. So begin structs from {0} or name
 * their members: in those that a program fills in, 0 is always what was before. A switch over an
 * enumeration has a default. Members that say so are private. The library is a static one:
 * programs are compiled with the headers of the library that they are linked with. */
#ifndef DPE_H
#define DPE_H

#define DPE_API_VERSION 1

#include "dpe-recognizer.h"

#endif
