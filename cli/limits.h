/* The limits of the commands: of what is shown, and of waiting. No verdict depends on one. */
#ifndef DPE_CLI_LIMITS_H
#define DPE_CLI_LIMITS_H

#define CLI_STEPS_BETWEEN_CHECKS 1024 /* messages of a log between two readings of the clock */
#define CLI_READ_AHEAD 16             /* messages that are read before they are needed, to prefetch for them */
#define CLI_USELESS_STOPS 100         /* stops without a finding before a warning */
#define CLI_WAIT_TIME 50              /* ms between checks for signals */
/* s without progress, once SIGTERM has asked for an end; µs of processor time a second that are progress. */
#define CLI_END_TIME 5
#define CLI_END_PROGRESS 1000
#define CLI_QUIET_TIME 1000     /* ms without an event after which waits are noted, in case that a signal ends the program */
#define CLI_TARGET_END_TIME 100 /* ms in which the program may end together with us */
#define CLI_REMEMBERED_FINDINGS 100000 /* distinct ones; of further ones each is reported */
#define CLI_CREATIONS 10000            /* latest threads whose creator the report knows */
#define CLI_ALLOCATIONS 1000000        /* latest objects on the heap of which the report knows who allocated them */
#define CLI_SHOWN_TURNS 4              /* of threads, before a predicted match */
#define CLI_KEY_FRAMES 4               /* of each event's stack, by which findings are the same, as Valgrind compares them */
#define CLI_EXAMPLES 3                 /* of findings that are alike but for the values of variables */
#define CLI_SHOWN_SIDES 3              /* events that a violation came after, or is independent of; the others are counted */
#define CLI_SHOWN_PATTERN 100          /* bytes of a rule's pattern; its place is always shown */
#define CLI_DRAWN_EVENTS 12            /* of a finding; of more the last ones */
#define CLI_DRAWN_COLUMNS 80
#define CLI_DRAWN_PAIRS 6              /* independent pairs listed below a drawing; the others are counted */
#define CLI_EXPLAINED_PAIRS 20         /* the same for an example */
#define CLI_FEWER_EVENTS 64 /* of a thread, that another run had besides */

#endif
