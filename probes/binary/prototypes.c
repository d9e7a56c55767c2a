/* The functions of POSIX and C threads, the ones of libc that return or take memory, files and descriptors, and C++'s
 * operators new and delete, as their standards declare them. */
#include "probes/binary/prototypes.h"

#include <stdlib.h>
#include <string.h>

/* Each name is between blanks. No other function has one of these, in whichever library. */
static const struct dpe_prototype ANYWHERE[] = {
	{"", 'h', " pthread_self thrd_current "},
	{"", 'i', " pthread_yield "},
	{"", 'v', " pthread_testcancel thrd_yield "},
	{"h", 'i', " pthread_cancel pthread_detach thrd_detach "},
	{"hh", 'i', " pthread_equal thrd_equal "},
	{"hi", 'i', " pthread_kill "},
	{"hp", 'i', " pthread_join pthread_setname_np pthread_tryjoin_np thrd_join "},
	{"hpip", 'i', " pthread_clockjoin_np "},
	{"hpp", 'i', " pthread_timedjoin_np "},
	{"i", 'v', " thrd_exit "},
	{"ip", 'i', " pthread_setcancelstate pthread_setcanceltype "},
	{"p", 'i',
		" cnd_broadcast cnd_init cnd_signal mtx_lock mtx_trylock mtx_unlock pthread_attr_destroy "
		"pthread_attr_init pthread_barrier_destroy pthread_barrier_wait pthread_cond_broadcast "
		"pthread_cond_destroy pthread_cond_signal pthread_mutex_consistent pthread_mutex_destroy "
		"pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_destroy "
		"pthread_mutexattr_init pthread_rwlock_destroy pthread_rwlock_rdlock "
		"pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock "
		"pthread_rwlock_wrlock pthread_spin_destroy pthread_spin_lock pthread_spin_trylock "
		"pthread_spin_unlock sem_close sem_destroy sem_post sem_trywait sem_unlink sem_wait "},
	{"p", 'v', " cnd_destroy mtx_destroy pthread_exit "},
	{"pi", 'i',
		" mtx_init pthread_attr_setdetachstate pthread_mutexattr_settype pthread_spin_init "},
	{"pip", 'i',
		" pthread_mutex_clocklock pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock "
		"sem_clockwait "},
	{"piu", 'i', " sem_init "},
	{"pp", 'i',
		" cnd_wait mtx_timedlock pthread_cond_init pthread_cond_wait pthread_key_create "
		"pthread_mutex_init pthread_mutex_timedlock pthread_once pthread_rwlock_init "
		"pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock sem_getvalue sem_timedwait "
		"thrd_sleep tss_create "},
	{"pp", 'v', " call_once "},
	{"ppip", 'i', " pthread_cond_clockwait "},
	{"ppp", 'i', " cnd_timedwait pthread_cond_timedwait thrd_create "},
	{"pppp", 'i', " pthread_create "},
	{"ppu", 'i', " pthread_barrier_init "},
	{"pz", 'i', " pthread_attr_setstacksize "},
	{"u", 'i', " pthread_key_delete "},
	{"u", 'p', " pthread_getspecific tss_get "},
	{"u", 'v', " tss_delete "},
	{"up", 'i', " pthread_setspecific tss_set "},
	{"p", 'v', " _ZdlPv _ZdaPv "},
	{"pz", 'v', " _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t "},
	{"pzz", 'v', " _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t "},
	{"z", 'p', " _Znwm _Znam "},
	{"zp", 'p', " _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t "},
	{"zz", 'p', " _ZnwmSt11align_val_t _ZnamSt11align_val_t "},
};

static const struct dpe_prototype OF_LIBC[] = {
	{"", 'i', " fork vfork "},
	{"i", 'i', " close dup epoll_create epoll_create1 inotify_init1 "},
	{"i", 'p', " fdopendir "},
	{"ii", 'i', " dup2 listen shutdown "},
	{"iii", 'i', " dup3 socket "},
	{"iiip", 'i', " socketpair "},
	{"ip", 'p', " fdopen "},
	{"ip.", 'i', " openat openat64 "},
	{"ipp", 'i', " accept "},
	{"ippi", 'i', " accept4 "},
	{"ipu", 'i', " bind connect "},
	{"p", 'i', " closedir dlclose fclose pclose pipe "},
	{"p", 'p', " opendir "},
	{"p", 'v', " cfree free freeaddrinfo globfree regfree "},
	{"p.", 'i', " open open64 "},
	{"pi", 'i', " creat pipe2 "},
	{"pi", 'p', " dlopen "},
	{"pp", 'p', " fopen fopen64 popen "},
	{"ppp", 'p', " freopen freopen64 "},
	{"pppp", 'i', " getaddrinfo "},
	{"pz", 'i', " munmap "},
	{"pz", 'p', " realloc "},
	{"pziiiz", 'p', " mmap mmap64 "},
	{"pzz", 'i', " posix_memalign "},
	{"pzz", 'p', " reallocarray "},
	{"z", 'p', " malloc pvalloc valloc "},
	{"zz", 'p', " aligned_alloc calloc memalign "},
};

static const struct dpe_prototype *find(
	const struct dpe_prototype *table, unsigned count, const char *name)
{
	const struct dpe_prototype *found = NULL;
	char *word = dpe_xasprintf(" %s ", name);

	for (unsigned i = 0; i < count && !found; i++)
		found = strstr(table[i].names, word) ? &table[i] : NULL;
	free(word);
	return found;
}

const struct dpe_prototype *dpe_prototype_find(const char *name, bool of_libc)
{
	const struct dpe_prototype *found = find(ANYWHERE, DPE_COUNT(ANYWHERE), name);

	return found || !of_libc ? found : find(OF_LIBC, DPE_COUNT(OF_LIBC), name);
}
