/* dpe.h: Data Path Expressions for programs with events of their own. docs/library.md shows an
 * example, and says what is stable and which objects threads may share. Objects are opaque handles;
 * structs with declared members are plain data: arguments of functions and of callbacks. What a
 * callback is shown is borrowed for the duration of the call unless it says otherwise. */
#ifndef DPE_H
#define DPE_H

#define DPE_API_VERSION 1

#include "dpe-recognizer.h" /* which includes dpe-spec.h, dpe-event.h and dpe-base.h */

#endif
