/* kernel_order: releases and acquires of keys that are not addresses: a descriptor of an eventfd, epoll or timer; the
 * port to which a socket sends; what a pipe, or all Unix sockets, as none knows its peer, hold unread; the code of a
 * handler; a signal; all timers; a set of semaphores. Sources: ip(7), eventfd(2), epoll(7), pipe(7), poll(2), unix(7),
 * sigaction(2), kill(2), timer_settime(2), timerfd_create(2), semop(2). */
#include "probes/inside/string_hooks.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define HERE DPE_MEMORY_HERE
#define NOT_MEMORY (UINT64_C(1) << 63)
enum { DESCRIPTOR = 1, PORT, UNREAD, SIGNAL, TIMER, SEMAPHORES };

/* What poll and ppoll become with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *files, nfds_t count, int timeout, size_t size);
int __ppoll_chk(
	struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *signals, size_t size);

static void release_key(uint64_t key, struct dpe_memory_place place)
{
	if (key)
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_STORE, key, 1, place);
}

static void acquire_key(uint64_t key, struct dpe_memory_place place)
{
	if (key)
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_LOAD, key, 1, place);
}

/* ---- descriptors ------------------------------------------------------------------------- */

static uint64_t key_of(unsigned kind, unsigned number)
{
	return NOT_MEMORY | (uint64_t)kind << 32 | number;
}

static uint64_t port_key(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return key_of(PORT, ((const struct sockaddr_in *)address)->sin_port);
	if (address->sa_family == AF_INET6)
		return key_of(PORT, ((const struct sockaddr_in6 *)address)->sin6_port);
	return 0;
}

typedef int ends_of_sockets(int file, struct sockaddr *address, socklen_t *length);

/* 0: the file orders nothing, or is a channel of the BPF programs, which report reads and writes, but neither its end nor what
 * shows that it can be read. */
static uint64_t file_key(int file, ends_of_sockets *end, bool pipes)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);
	int error = errno;
	struct stat status;
	uint64_t key = 0;

	if (dpe_preload_filtered) {
		dpe_preload_lose_one(); /* what the file orders is not known */
		return 0;
	}
	if (!REAL(fstat)(file, &status)) {
		if (!(status.st_mode & S_IFMT)) /* an inode without a name */
			key = key_of(DESCRIPTOR, (unsigned)file);
		else if (S_ISFIFO(status.st_mode) && pipes)
			key = key_of(UNREAD, (unsigned)status.st_ino);
		else if (S_ISSOCK(status.st_mode) && !end(file, (struct sockaddr *)&address, &length))
			key = port_key((struct sockaddr *)&address);
		if (S_ISSOCK(status.st_mode) && !key && pipes)
			key = key_of(UNREAD, 0);
	}
	errno = error;
	return key;
}

void dpe_order_release(int file, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		release_key(file_key(file, REAL(getpeername), true), place);
}

void dpe_order_acquire(int file, bool unread, struct dpe_memory_place place)
{
	dpe_preload_news++;
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		acquire_key(file_key(file, REAL(getsockname), unread), place);
}

void dpe_order_release_to(int file, const struct sockaddr *to, struct dpe_memory_place place)
{
	uint64_t port = to ? port_key(to) : 0;

	if (!port)
		dpe_order_release(file, place);
	else if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		release_key(port, place);
}

HOOK int shutdown(int file, int how)
{
	dpe_order_release(file, HERE);
	return REAL(shutdown)(file, how);
}

#define ACCEPT(name, parameters, arguments)                                                        \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		socklen_t room = from && length ? *length : 0;                                     \
		int result = REAL(name) arguments;                                                 \
                                                                                                   \
		if (result >= 0) {                                                                 \
			WRITES_IF(room, from, at_most(*length, room));                             \
			dpe_order_acquire(file, false, HERE);                                      \
		}                                                                                  \
		return result;                                                                     \
	}
ACCEPT(accept, (int file, struct sockaddr *from, socklen_t *length), (file, from, length))
ACCEPT(accept4, (int file, struct sockaddr *from, socklen_t *length, int flags), (file, from, length, flags))

/* ---- epoll ------------------------------------------------------------------------------- */

/* A descriptor in an epoll, with the data by which a wait names it. */
static struct watched {
	uint64_t key; /* of both; 0: there is none yet */
	uint64_t data;
} watched[DPE_PRELOAD_WATCHED];

static uint64_t watched_key(int epoll, int file)
{
	return ((uint64_t)(uint32_t)epoll << 32 | (uint32_t)file) + 1;
}

/* The entry of the pair, which is made if there is none; NULL: there is no room. */
static struct watched *find_watched(int epoll, int file)
{
	uint64_t key = watched_key(epoll, file);

	for (unsigned i = 0; i < DPE_PRELOAD_WATCHED; i++) {
		uint64_t free = 0;

		if (__atomic_compare_exchange_n(&watched[i].key, &free, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
			free == key)
			return &watched[i];
	}
	return NULL;
}

HOOK int epoll_ctl(int file, int operation, int other, struct epoll_event *event)
{
	struct watched *entry;

	dpe_order_release(file, HERE);
	if (event && operation != EPOLL_CTL_DEL && dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD)) {
		entry = find_watched(file, other);
		if (entry)
			__atomic_store_n(&entry->data, event->data.u64, __ATOMIC_RELEASE);
		else
			dpe_preload_lose_one();
	}
	return REAL(epoll_ctl)(file, operation, other, event);
}

/* Several descriptors may have the same data: then any of them may be ready. */
static void acquire_ready(int epoll, const struct epoll_event *event, struct dpe_memory_place place)
{
	for (unsigned i = 0; i < DPE_PRELOAD_WATCHED; i++) {
		uint64_t key = __atomic_load_n(&watched[i].key, __ATOMIC_ACQUIRE);

		if (!key)
			return;
		if ((key - 1) >> 32 == (uint32_t)epoll && __atomic_load_n(&watched[i].data, __ATOMIC_ACQUIRE) == event->data.u64)
			dpe_order_acquire((int)(key - 1), true, place);
	}
}

static void find_ready(int epoll, const struct epoll_event *events, int count, struct dpe_memory_place place)
{
	if (count < 0)
		return;
	if (count && dpe_memory_is_wanted(DPE_PRELOAD_WRITE))
		dpe_memory_access(DPE_PRELOAD_WRITE, (uint64_t)events, (size_t)count * sizeof(*events), place);
	dpe_order_acquire(epoll, !count, place);
	for (int i = 0; i < count && dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD); i++)
		if (events[i].events & ~(uint32_t)EPOLLOUT)
			acquire_ready(epoll, &events[i], place);
}

#define EPOLL(name, parameters, arguments)                                                         \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		int result = REAL(name) arguments;                                                 \
                                                                                                   \
		find_ready(file, events, result, HERE);                                            \
		return result;                                                                     \
	}
EPOLL(epoll_wait, (int file, struct epoll_event *events, int count, int timeout), (file, events, count, timeout))
EPOLL(epoll_pwait, (int file, struct epoll_event *events, int count, int timeout, const sigset_t *signals),
	(file, events, count, timeout, signals))
EPOLL(epoll_pwait2,
	(int file, struct epoll_event *events, int count, const struct timespec *timeout, const sigset_t *signals),
	(file, events, count, timeout, signals))

/* ---- readiness --------------------------------------------------------------------------- */

#define POLL(name, parameters, arguments)                                                          \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		int ready = REAL(name) arguments;                                                  \
                                                                                                   \
		for (nfds_t i = 0; ready >= 0 && i < count; i++) {                                 \
			WRITES(&files[i].revents, sizeof(files[i].revents));                       \
			if (files[i].revents & ~POLLOUT)                                           \
				dpe_order_acquire(files[i].fd, true, HERE);                        \
		}                                                                                  \
		return ready;                                                                      \
	}
POLL(poll, (struct pollfd * files, nfds_t count, int timeout), (files, count, timeout))
POLL(ppoll, (struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *signals),
	(files, count, timeout, signals))
POLL(__poll_chk, (struct pollfd * files, nfds_t count, int timeout, size_t size), (files, count, timeout, size))
POLL(__ppoll_chk,
	(struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *signals, size_t size),
	(files, count, timeout, signals, size))

#define SELECT(name, parameters, arguments)                                                        \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		int ready = REAL(name) arguments;                                                  \
                                                                                                   \
		for (int i = 0; ready > 0 && readable && i < count; i++)                           \
			if (FD_ISSET(i, readable))                                                 \
				dpe_order_acquire(i, true, HERE);                                  \
		return ready;                                                                      \
	}
SELECT(select, (int count, fd_set *readable, fd_set *writable, fd_set *others, struct timeval *timeout),
	(count, readable, writable, others, timeout))
SELECT(pselect,
	(int count, fd_set *readable, fd_set *writable, fd_set *others, const struct timespec *timeout,
		const sigset_t *signals),
	(count, readable, writable, others, timeout, signals))

/* ---- sockets ----------------------------------------------------------------------------- */

HOOK int connect(int file, const struct sockaddr *to, socklen_t length)
{
	if (to && dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		release_key(port_key(to), HERE);
	return REAL(connect)(file, to, length);
}

HOOK ssize_t sendto(int file, const void *from, size_t size, int flags, const struct sockaddr *to,
	socklen_t length_of_to)
{
	use_file(DPE_PRELOAD_FILE_USED, file, HERE);
	READS(from, size);
	release();
	dpe_order_release_to(file, to, HERE);
	return REAL(sendto)(file, from, size, flags, to, length_of_to);
}

RECEIVE(recvfrom, (int file, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length_of_from),
	(file, to, size, flags, from, length_of_from))

/* ---- signals ----------------------------------------------------------------------------- */

#define RAISE(name, parameters, arguments)                                                         \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))                                \
			release_key(key_of(SIGNAL, (unsigned)number), HERE);                       \
		return REAL(name) arguments;                                                       \
	}
RAISE(kill, (pid_t process, int number), (process, number))
RAISE(tgkill, (pid_t process, pid_t thread, int number), (process, thread, number))
RAISE(pthread_kill, (pthread_t thread, int number), (thread, number))
RAISE(sigqueue, (pid_t process, int number, const union sigval value), (process, number, value))
RAISE(pthread_sigqueue, (pthread_t thread, int number, const union sigval value), (thread, number, value))

static void take_signal(int number, struct dpe_memory_place place)
{
	if (number > 0 && dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		acquire_key(key_of(SIGNAL, (unsigned)number), place);
}

HOOK int sigwait(const sigset_t *awaited, int *number)
{
	int error = REAL(sigwait)(awaited, number);

	if (!error) {
		WRITES(number, sizeof(*number));
		take_signal(*number, HERE);
	}
	return error;
}

#define AWAIT(name, parameters, arguments)                                                         \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		int number = REAL(name) arguments;                                                 \
                                                                                                   \
		take_signal(number, HERE);                                                         \
		return number;                                                                     \
	}
AWAIT(sigwaitinfo, (const sigset_t *awaited, siginfo_t *info), (awaited, info))
AWAIT(sigtimedwait, (const sigset_t *awaited, siginfo_t *info, const struct timespec *timeout), (awaited, info, timeout))

/* ---- handlers ---------------------------------------------------------------------------- */

uint64_t dpe_signal_return;
static uint64_t handlers[_NSIG]; /* of the program, by signal */

/* The handler as the kernel has it. */
struct installed {
	void (*handler)(int);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static void find_return(int number)
{
	struct installed action = {0};
	int error = errno;

	if (!dpe_signal_return && !syscall(SYS_rt_sigaction, number, NULL, &action, sizeof(action.mask)))
		dpe_signal_return = (uint64_t)action.restorer;
	errno = error;
}

static void note_handler(int number, void (*handler)(int), struct dpe_memory_place place)
{
	if (number <= 0 || number >= _NSIG || handler == SIG_DFL || handler == SIG_IGN ||
		!dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		return;
	release_key((uint64_t)handler, place);
	__atomic_store_n(&handlers[number], (uint64_t)handler, __ATOMIC_RELEASE);
}

HOOK int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	int result;

	if (action)
		note_handler(number, action->sa_handler, HERE);
	result = REAL(sigaction)(number, action, old);
	if (action && !result)
		find_return(number);
	return result;
}

HOOK sighandler_t signal(int number, sighandler_t handler)
{
	sighandler_t old;

	note_handler(number, handler, HERE);
	old = REAL(signal)(number, handler);
	if (old != SIG_ERR)
		find_return(number);
	return old;
}

/* The handler is the function that begins at the call's address, or closest before it. */
void dpe_order_handler(struct dpe_memory_place place)
{
	uint64_t closest = 0;

	for (unsigned i = 1; i < _NSIG; i++) {
		uint64_t handler = __atomic_load_n(&handlers[i], __ATOMIC_ACQUIRE);

		if (handler <= place.pc && handler > closest)
			closest = handler;
	}
	if (!closest || !dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		return;
	acquire_key(closest, place);
	for (unsigned i = 1; i < _NSIG; i++)
		if (__atomic_load_n(&handlers[i], __ATOMIC_ACQUIRE) == closest)
			acquire_key(key_of(SIGNAL, i), place);
}

/* ---- timers ------------------------------------------------------------------------------
 * The C library calls the function of a timer in a new thread that no call of the program creates. So it is given one of
 * these instead, as which the program's function is known. */

typedef void timer_function(union sigval value);

static timer_function *expiring[DPE_PRELOAD_TIMERS]; /* of the program; NULL: there is none yet */

static __attribute__((noinline)) void expire(unsigned which, union sigval value)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		acquire_key(key_of(TIMER, 0), HERE);
	__atomic_load_n(&expiring[which], __ATOMIC_ACQUIRE)(value);
}

#define EXPIRE(n)                                                                                  \
	static void expire##n(union sigval value)                                                  \
	{                                                                                          \
		expire(n, value);                                                                  \
	}
EXPIRE(0)
EXPIRE(1)
EXPIRE(2)
EXPIRE(3)
EXPIRE(4)
EXPIRE(5)
EXPIRE(6)
EXPIRE(7)

static timer_function *const expires[] = {expire0, expire1, expire2, expire3, expire4, expire5, expire6, expire7};

_Static_assert(DPE_PRELOAD_TIMERS <= sizeof(expires) / sizeof(*expires), "there is one for each");

/* What calls the function after it has acquired; the function itself if there is no room, which is a loss. */
static timer_function *find_expiring(timer_function *function)
{
	for (unsigned i = 0; i < DPE_PRELOAD_TIMERS; i++) {
		timer_function *free = NULL;

		if (__atomic_compare_exchange_n(&expiring[i], &free, function, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
			free == function)
			return expires[i];
	}
	dpe_preload_lose_one();
	return function;
}

static void release_timers(struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		release_key(key_of(TIMER, 0), place);
}

HOOK int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	struct sigevent changed;

	release_timers(HERE);
	if (!event || event->sigev_notify != SIGEV_THREAD || !event->sigev_notify_function ||
		!dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		return REAL(timer_create)(clock, event, timer);
	changed = *event;
	changed.sigev_notify_function = find_expiring(event->sigev_notify_function);
	return REAL(timer_create)(clock, &changed, timer);
}

HOOK int timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	release_timers(HERE);
	return REAL(timer_settime)(timer, flags, value, old);
}

HOOK int timerfd_settime(int file, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	dpe_order_release(file, HERE);
	return REAL(timerfd_settime)(file, flags, value, old);
}

/* ---- semaphores of System V --------------------------------------------------------------
 * A call may wait for some semaphores of a set and post others. */

#define OPERATE(name, parameters, arguments)                                                       \
	HOOK int name parameters                                                                   \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))                                \
			release_key(key_of(SEMAPHORES, (unsigned)set), HERE);                      \
		result = REAL(name) arguments;                                                     \
		if (!result && dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))                      \
			acquire_key(key_of(SEMAPHORES, (unsigned)set), HERE);                      \
		return result;                                                                     \
	}
OPERATE(semop, (int set, struct sembuf *operations, size_t count), (set, operations, count))
OPERATE(semtimedop, (int set, struct sembuf *operations, size_t count, const struct timespec *timeout),
	(set, operations, count, timeout))
