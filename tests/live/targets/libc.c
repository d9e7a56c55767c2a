/* Functions of the C library on memory that another thread accesses: libc [locked]. Each function has
 * memory of its own; the other thread writes to it where the function reads, and reads where it writes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define SIZE PATH_MAX
#define TEXT "a text of the file\n"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int locked, descriptor, queue, sockets[2];
static mqd_t messages;
static FILE *file;
static volatile long result;
static const time_t epoch;
static const struct tm day = {.tm_mday = 1};
static char private[2][SIZE] = {"xxxvate", "xxxvate"}; /* which only the first thread has */

void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);
int __xpg_strerror_r(int, char *, size_t);
int __printf_chk(int, const char *, ...);
int __fprintf_chk(FILE *, int, const char *, ...);
int __dprintf_chk(int, int, const char *, ...);
int __asprintf_chk(char **, int, const char *, ...);
int __sprintf_chk(char *, int, size_t, const char *, ...);
int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
char *__fgets_chk(char *, size_t, int, FILE *);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);

#define VECTOR(shared) (&(struct iovec){shared, 4})
#define MESSAGES(shared) (&(struct mmsghdr){.msg_hdr = {.msg_iov = VECTOR(shared), .msg_iovlen = 1}})
#define MESSAGE(shared) (&(struct msghdr){.msg_iov = VECTOR(shared), .msg_iovlen = 1})
#define CALL(name, call)                                                                           \
	__attribute__((noinline)) void call_##name(char *shared)                                   \
	{                                                                                          \
		result = (long)(call);                                                             \
		__asm__ volatile("" : : "r"(shared) : "memory");                                   \
	}
#define READERS(X)                                                                                 \
	X(strlen, strlen(shared))                                                                  \
	X(strnlen, strnlen(shared, SIZE))                                                          \
	X(memcmp, memcmp(shared, private[0], 4))                                                   \
	X(strcmp, strcmp(shared, private[0]))                                                      \
	X(strncmp, strncmp(private[0], shared, 3))                                                 \
	X(strcasecmp, strcasecmp(shared, private[0]))                                              \
	X(strncasecmp, strncasecmp(shared, private[0], 3))                                         \
	X(memchr, memchr(shared, 'q', 8))                                                          \
	X(strchr, strchr(shared, 'q'))                                                             \
	X(strrchr, strrchr(shared, 'q'))                                                           \
	X(strstr, strstr(shared, "q"))                                                             \
	X(strdup, strdup(shared))                                                                  \
	X(strndup, strndup(shared, 3))                                                             \
	X(fwrite, fwrite(shared, 1, 4, file))                                                      \
	X(fputs, fputs(shared, file))                                                              \
	X(puts, puts(shared))                                                                      \
	X(write, write(sockets[0], shared, 8))                                                     \
	X(pwrite, pwrite(descriptor, shared, 4, SIZE))                                             \
	X(send, send(sockets[0], shared, 4, 0))                                                    \
	X(memcpy, memcpy(private[1], shared, 4))                                                   \
	X(memmove, memmove(private[1], shared, 4))                                                 \
	X(printf, printf("%*.*f %Lf%% %s\n", 1, 2, 3.0, 4.0L, shared))                             \
	X(fprintf, fprintf(file, "%d %.4s", 1, shared))                                            \
	X(dprintf, dprintf(descriptor, "%hhd%p %s", 1, private[0], shared))                        \
	X(vprintf, print(NULL, 0, "%zu %c %s\n", (size_t)1, 'x', shared))                          \
	X(memcpychk, __memcpy_chk(private[1], shared, 4, SIZE))                                    \
	X(memmovechk, __memmove_chk(private[1], shared, 4, SIZE))                                  \
	X(printfchk, __printf_chk(1, "%s\n", shared))                                              \
	X(fprintfchk, __fprintf_chk(file, 1, "%s", shared))                                        \
	X(dprintfchk, __dprintf_chk(descriptor, 1, "%s", shared))                                  \
	X(strtol, strtol(shared, NULL, 36))                                                        \
	X(strtoul, strtoul(shared, NULL, 36))                                                      \
	X(strtoll, strtoll(shared, NULL, 36))                                                      \
	X(strtoull, strtoull(shared, NULL, 36))                                                    \
	X(strtof, strtof(shared + 2, NULL))                                                        \
	X(strtod, strtod(shared + 2, NULL))                                                        \
	X(strtold, strtold(shared + 2, NULL))                                                      \
	X(atoi, atoi(shared + 2))                                                                  \
	X(atol, atol(shared + 2))                                                                  \
	X(atoll, atoll(shared + 2))                                                                \
	X(atof, atof(shared + 2))                                                                  \
	X(sscanftext, sscanf(shared, "%*s"))                                                       \
	X(writev, writev(sockets[0], VECTOR(shared), 1))                                           \
	X(sendmsg, sendmsg(sockets[0], MESSAGE(shared), 0))                                        \
	X(sendmmsg, sendmmsg(sockets[0], MESSAGES(shared), 1, 0))                                  \
	X(strtok, strtok(shared, "q"))                                                             \
	X(strtokr, strtok_r(shared, "q", &(char *){0}))                                            \
	X(strsep, strsep(&(char *){shared}, "q"))                                                  \
	X(strspn, strspn(shared, "x"))                                                             \
	X(strcspn, strcspn(shared, "q"))                                                           \
	X(strpbrk, strpbrk(shared, "q"))                                                           \
	X(strcasestr, strcasestr(shared, "q"))                                                     \
	X(strcoll, strcoll(shared, private[0]))                                                    \
	X(strchrnul, strchrnul(shared, 'q'))                                                       \
	X(memrchr, memrchr(shared, 'q', 4))                                                        \
	X(memmem, memmem(shared, 4, "q", 1))                                                       \
	X(mempcpy, mempcpy(private[1], shared, 4))                                                 \
	X(memccpy, memccpy(private[1], shared, 'q', 4))                                            \
	X(wcsnlen, wcsnlen((wchar_t *)shared, 4))                                                  \
	X(wcsdup, wcsdup((wchar_t *)shared))                                                       \
	X(wcsncpyfrom, wcsncpy((wchar_t *)private[1], (wchar_t *)shared, 1))                       \
	X(mqsend, mq_send(messages, shared, 4, 0))                                                 \
	X(msgsnd, msgsnd(queue, shared, 4, 0))                                                     \
	X(wcsncat, wcsncat((wchar_t *)shared, L"x", 1))                                            \
	X(wcslen, wcslen((wchar_t *)shared))                                                       \
	X(wcscmp, wcscmp((wchar_t *)shared, L"q"))                                                 \
	X(pwritev, pwritev(descriptor, VECTOR(shared), 1, SIZE))
#define WRITERS(X)                                                                                 \
	X(mqreceive, mq_receive(messages, shared, SIZE, NULL))                                     \
	X(msgrcv, msgrcv(queue, shared, SIZE - 8, 0, 0))                                           \
	X(wcsncpy, wcsncpy((wchar_t *)shared, L"x", 1))                                            \
	X(printfcount, snprintf(private[1], SIZE, "%d%n", 7, (int *)shared))                       \
	X(strerrorr, strerror_r(-1, shared, SIZE))                                                 \
	X(strerrorposix, __xpg_strerror_r(1, shared, SIZE))                                        \
	X(statfs, statfs("/", (struct statfs *)shared))                                            \
	X(fstatvfs, fstatvfs(descriptor, (struct statvfs *)shared))                                \
	X(getrusage, getrusage(RUSAGE_SELF, (struct rusage *)shared))                              \
	X(getrlimit, getrlimit(RLIMIT_CORE, (struct rlimit *)shared))                              \
	X(getitimer, getitimer(ITIMER_REAL, (struct itimerval *)shared))                           \
	X(timerfdgettime, timerfd_gettime(timerfd_create(CLOCK_MONOTONIC, 0), (struct itimerspec *)shared)) \
	X(semgetvalue, sem_getvalue(&(sem_t){0}, (int *)shared))                                   \
	X(schedgetaffinity, sched_getaffinity(0, 128, (cpu_set_t *)shared))                        \
	X(pthreadgetaffinitynp, pthread_getaffinity_np(pthread_self(), 128, (cpu_set_t *)shared))  \
	X(pthreadgetschedparam, pthread_getschedparam(pthread_self(), (int *)shared, &(struct sched_param){0})) \
	X(getloadavg, getloadavg((double *)shared, 1))                                             \
	X(confstr, confstr(_CS_PATH, shared, SIZE))                                                \
	X(pthreadgetnamenp, pthread_getname_np(pthread_self(), shared, SIZE))                      \
	X(randomr, random_r(seeded(), (int32_t *)shared))                                          \
	X(drand, drand48_r((struct drand48_data *)shared, &(double){0}))                           \
	X(clockgettime, clock_gettime(CLOCK_REALTIME, (struct timespec *)shared))                  \
	X(timespecget, timespec_get((struct timespec *)shared, TIME_UTC))                          \
	X(times, times((struct tms *)shared))                                                      \
	X(strftime, strftime(shared, SIZE, "%Y", &day))                                            \
	X(strptime, strptime("59", "%S", (struct tm *)shared))                                     \
	X(modf, modf(1.5, (double *)shared))                                                       \
	X(frexpf, frexpf(1.5f, (int *)shared))                                                     \
	X(qsort, (qsort(shared, 8, 1, compare), 0))                                                \
	X(qsortr, (qsort_r(shared, 8, 1, compare_with, NULL), 0))                                  \
	X(stat, stat("/", (struct stat *)shared))                                                  \
	X(lstat, lstat("/", (struct stat *)shared))                                                \
	X(fstat, fstat(descriptor, (struct stat *)shared))                                         \
	X(fstatat, fstatat(AT_FDCWD, "/", (struct stat *)shared, 0))                               \
	X(statlarge, stat64("/", (struct stat64 *)shared))                                         \
	X(waitpid, waitpid(child(), (int *)shared, 0))                                             \
	X(waitid, waitid(P_PID, (id_t)child(), (siginfo_t *)shared, WEXITED))                      \
	X(uname, uname((struct utsname *)shared))                                                  \
	X(sysinfo, sysinfo((struct sysinfo *)shared))                                              \
	X(gethostname, gethostname(shared, SIZE))                                                  \
	X(getpwuidr, getpwuid_r(0, (struct passwd *)shared, private[1], SIZE, &(struct passwd *){NULL})) \
	X(inetntop, inet_ntop(AF_INET, "four", shared, SIZE))                                      \
	X(inetpton, inet_pton(AF_INET, "1.2.3.4", shared))                                         \
	X(inetaton, inet_aton("1.2.3.4", (struct in_addr *)shared))                                \
	X(getaddrinfo, getaddrinfo("127.0.0.1", NULL, NULL, (struct addrinfo **)shared))           \
	X(getsockname, getsockname(listening(), (struct sockaddr *)shared, &(socklen_t){SIZE}))    \
	X(getsockopt, getsockopt(sockets[0], SOL_SOCKET, SO_TYPE, shared, &(socklen_t){SIZE}))     \
	X(accept, accept_into(shared))                                                             \
	X(poll, poll((struct pollfd *)(shared - 4), 1, 0))                                         \
	X(epollwait, wait_for_events(shared))                                                      \
	X(sigwait, wait_for_signal(shared))                                                        \
	X(asprintf, asprintf((char **)shared, "%d", 1000))                                         \
	X(asprintfchk, __asprintf_chk((char **)shared, 1, "%d", 1000))                             \
	X(bzero, (bzero(shared, 4), 0))                                                            \
	X(explicitbzero, (explicit_bzero(shared, 4), 0))                                           \
	X(bcopy, (bcopy(private[0], shared, 4), 0))                                                \
	X(wmemset, wmemset((wchar_t *)shared, 'x', 1))                                             \
	X(wmemcpy, wmemcpy((wchar_t *)shared, L"x", 1))                                            \
	X(wcscpy, wcscpy((wchar_t *)shared, L"x"))                                                 \
	X(mbstowcs, mbstowcs((wchar_t *)shared, "x", 4))                                           \
	X(wcstombs, wcstombs(shared, L"xxxx", 8))                                                  \
	X(preadv, preadv(descriptor, VECTOR(shared), 1, 0))                                        \
	X(time, time((time_t *)shared))                                                            \
	X(clockgetres, clock_getres(CLOCK_REALTIME, (struct timespec *)shared))                    \
	X(gettimeofday, gettimeofday((struct timeval *)shared, NULL))                              \
	X(mktime, mktime((struct tm *)shared))                                                     \
	X(asctimer, asctime_r(&day, shared))                                                       \
	X(ctimer, ctime_r(&epoch, shared))                                                         \
	X(getcwd, getcwd(shared, SIZE))                                                            \
	X(realpath, realpath("/proc/self/exe", shared))                                            \
	X(readlink, readlink("/proc/self/exe", shared, SIZE))                                      \
	X(pipe, pipe((int *)shared))                                                               \
	X(pipetwo, pipe2((int *)shared, 0))                                                        \
	X(socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, (int *)shared))                          \
	X(getrandom, getrandom(shared, 8, 0))                                                      \
	X(strcpy, strcpy(shared, private[0]))                                                      \
	X(stpcpy, stpcpy(shared, private[0]))                                                      \
	X(strncpy, strncpy(shared, private[0], 4))                                                 \
	X(strcat, strcat(shared, private[0]))                                                      \
	X(strncat, strncat(shared, private[0], 3))                                                 \
	X(sprintf, sprintf(shared, "%d", 1000))                                                    \
	X(snprintf, snprintf(shared, 4, "%d", 1000))                                               \
	X(vsprintf, print(shared, 0, "%d", 1000))                                                  \
	X(vsnprintf, print(shared, 4, "%d", 1000))                                                 \
	X(fread, fread(shared, 2, 2, file))                                                        \
	X(fgets, fgets(shared, SIZE, file))                                                        \
	X(read, read(descriptor, shared, 4))                                                       \
	X(pread, pread(descriptor, shared, 4, 0))                                                  \
	X(recv, recv(sockets[1], shared, 4, 0))                                                    \
	X(memset, memset(shared, 'x', 4))                                                          \
	X(memsetchk, __memset_chk(shared, 'x', 4, SIZE))                                           \
	X(strcpychk, __strcpy_chk(shared, private[0], SIZE))                                       \
	X(stpcpychk, __stpcpy_chk(shared, private[0], SIZE))                                       \
	X(strncpychk, __strncpy_chk(shared, private[0], 4, SIZE))                                  \
	X(strcatchk, __strcat_chk(shared, private[0], SIZE))                                       \
	X(strncatchk, __strncat_chk(shared, private[0], 3, SIZE))                                  \
	X(sprintfchk, __sprintf_chk(shared, 1, SIZE, "%d", 1000))                                  \
	X(snprintfchk, __snprintf_chk(shared, 4, 1, SIZE, "%d", 1000))                             \
	X(fgetschk, __fgets_chk(shared, SIZE, SIZE, file))                                         \
	X(freadchk, __fread_chk(shared, SIZE, 2, 2, file))                                         \
	X(readchk, __read_chk(descriptor, shared, 4, SIZE))                                        \
	X(preadchk, __pread_chk(descriptor, shared, 4, 0, SIZE))                                   \
	X(recvchk, __recv_chk(sockets[1], shared, 4, SIZE, 0))                                     \
	X(scanf, scanf("%4c", shared))                                                             \
	X(fscanf, fscanf(file, "%4c", shared))                                                     \
	X(sscanf, sscanf("a 7 1000", "%*[]a] %*hhd %lf", (double *)shared))                        \
	X(vscanf, scan(NULL, NULL, "%8s", shared))                                                \
	X(vfscanf, scan(NULL, file, "%8[^]]", shared))                                             \
	X(vsscanf, scan("1000", NULL, "%d%d", shared, private[1]))                                 \
	X(getline, read_line(shared, 0))                                                           \
	X(getdelim, read_line(shared, 'e'))                                                        \
	X(readv, readv(sockets[1], VECTOR(shared), 1))                                             \
	X(recvmsg, recvmsg(sockets[1], MESSAGE(shared), 0))                                        \
	X(recvmmsg, recvmmsg(sockets[1], MESSAGES(shared), 1, 0, NULL))                            \
	X(localtimer, (long)localtime_r(&(time_t){0}, (struct tm *)shared))                        \
	X(gmtimer, (long)gmtime_r(&(time_t){0}, (struct tm *)shared))                              \
	X(randr, rand_r((unsigned *)shared))

static int compare(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

static int compare_with(const void *a, const void *b, void *none)
{
	return compare(a, none ? none : b);
}

static struct random_data *seeded(void)
{
	static struct random_data data;
	static char state[64];

	if (!data.state)
		initstate_r(1, state, sizeof(state), &data);
	return &data;
}

/* Nobody else opens it. Its messages and those of System V come back in the order in which they were sent. */
static mqd_t open_queue(void)
{
	struct mq_attr size = {.mq_maxmsg = 2, .mq_msgsize = SIZE};
	char name[40];
	mqd_t opened;

	sprintf(name, "/libc-%d", (int)getpid());
	opened = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &size);
	mq_unlink(name);
	return opened;
}

static pid_t child(void)
{
	pid_t process = fork();

	if (!process)
		_exit(0);
	return process;
}

static int listening(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int file = socket(AF_INET, SOCK_STREAM, 0);

	return bind(file, (struct sockaddr *)&any, sizeof(any)) || listen(file, 1) ? -1 : file;
}

static int accept_into(char *address)
{
	struct sockaddr_in at;
	socklen_t size = sizeof(at);
	int file = listening(), caller = socket(AF_INET, SOCK_STREAM, 0);

	if (getsockname(file, (struct sockaddr *)&at, &size) || connect(caller, (struct sockaddr *)&at, size))
		abort();
	size = SIZE;
	return accept(file, (struct sockaddr *)address, &size);
}

static int wait_for_events(char *events)
{
	struct epoll_event event = {.events = EPOLLIN};
	int file = epoll_create1(0);

	epoll_ctl(file, EPOLL_CTL_ADD, eventfd(1, 0), &event);
	return epoll_wait(file, (struct epoll_event *)events, 1, -1);
}

static int wait_for_signal(char *number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_kill(pthread_self(), SIGUSR1);
	return sigwait(&set, (int *)number);
}

static int print(char *to, size_t size, const char *format, ...)
{
	va_list arguments;
	int printed;

	va_start(arguments, format);
	printed = size ? vsnprintf(to, size, format, arguments)
		  : to ? vsprintf(to, format, arguments)
		       : vprintf(format, arguments);
	va_end(arguments);
	return printed;
}

static int scan(const char *text, FILE *from, const char *format, ...)
{
	va_list arguments;
	int found;

	va_start(arguments, format);
	found = text   ? vsscanf(text, format, arguments)
		: from ? vfscanf(from, format, arguments)
		       : vscanf(format, arguments);
	va_end(arguments);
	return found;
}

static long read_line(char *to, int end)
{
	size_t size = SIZE;

	return end ? getdelim(&to, &size, end, file) : getline(&to, &size, file);
}

READERS(CALL)
WRITERS(CALL)

#define ROW(name, call) {#name, call_##name},
static const struct {
	const char *name;
	void (*call)(char *shared);
} READERS_OF[] = {READERS(ROW)}, WRITERS_OF[] = {WRITERS(ROW)};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
static char read_by[COUNT(READERS_OF)][SIZE], written_by[COUNT(WRITERS_OF)][SIZE];

static void take(void)
{
	if (locked)
		pthread_mutex_lock(&mutex);
}

static void give(void)
{
	if (locked)
		pthread_mutex_unlock(&mutex);
}

static void *call_all(void *unused)
{
	for (size_t i = 0; i < COUNT(READERS_OF); i++) {
		take();
		READERS_OF[i].call(read_by[i]);
		give();
	}
	for (size_t i = 0; i < COUNT(WRITERS_OF); i++) {
		take();
		WRITERS_OF[i].call(written_by[i]);
		give();
	}
	return unused;
}

/* What the functions refuse, they refuse as before. */
static bool refuses(void)
{
	char *untouched = private[0];

	if (stat(NULL, NULL) != -1 || getsockname(sockets[0], NULL, NULL) != -1 || errno != EFAULT)
		return false;
	return !strtol("7", &untouched, 1) && untouched == private[0] && getline(NULL, NULL, file) == -1;
}

/* The third byte of each; strcat appends behind the first byte. */
static void *access_all(void *unused)
{
	for (size_t i = 0; i < COUNT(READERS_OF); i++) {
		take();
		read_by[i][2] = 'x';
		give();
	}
	for (size_t i = 0; i < COUNT(WRITERS_OF); i++) {
		take();
		result += written_by[i][2];
		give();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	locked = argc > 1;
	if (argc > 1 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < COUNT(READERS_OF); i++)
			puts(READERS_OF[i].name);
		for (size_t i = 0; i < COUNT(WRITERS_OF); i++)
			puts(WRITERS_OF[i].name);
		return 0;
	}
	for (size_t i = 0; i < COUNT(READERS_OF); i++)
		memcpy(read_by[i], "xxxxx", 6);
	for (size_t i = 0; i < COUNT(WRITERS_OF); i++)
		written_by[i][0] = 'x';
	file = tmpfile();
	stdin = tmpfile();
	fputs(TEXT, stdin);
	rewind(stdin);
	for (int i = 0; i < 20; i++)
		fputs(TEXT, file);
	rewind(file);
	descriptor = dup(fileno(tmpfile()));
	pwrite(descriptor, TEXT, sizeof(TEXT), 0);
	socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	queue = msgget(IPC_PRIVATE, 0600);
	messages = open_queue();
	if (!refuses() || queue < 0 || messages < 0)
		abort();
	pthread_create(&threads[0], NULL, call_all, NULL);
	pthread_create(&threads[1], NULL, access_all, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	msgctl(queue, IPC_RMID, NULL);
	return 0;
}
