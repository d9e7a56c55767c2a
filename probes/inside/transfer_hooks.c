/* transfer_hooks: functions that transfer several buffers or messages, or data of another descriptor, to or from a descriptor. */
#include "probes/inside/string_hooks.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define HERE DPE_MEMORY_HERE

/* The buffers of a vector are read or written, up to `size` bytes. */
static void access_vector(enum dpe_preload_memory what, const struct iovec *vector, size_t count, size_t size,
	struct dpe_memory_place place)
{
	if (!dpe_memory_is_wanted(what))
		return;
	for (size_t i = 0; i < count && size; i++) {
		size_t part = at_most(vector[i].iov_len, size);

		dpe_memory_access(what, (uint64_t)vector[i].iov_base, part, place);
		size -= part;
	}
}

/* ---- sends ------------------------------------------------------------------------------- */

#define RELEASE(type, name, parameters, arguments, before)                                         \
	HOOK type name parameters                                                                  \
	{                                                                                          \
		before;                                                                            \
		send_to(file, HERE);                                                               \
		return REAL(name) arguments;                                                       \
	}
#define READS_VECTOR(vector, count) access_vector(DPE_PRELOAD_READ, vector, (size_t)(count), SIZE_MAX, HERE)
RELEASE(ssize_t, writev, (int file, const struct iovec *from, int count), (file, from, count), READS_VECTOR(from, count))
#define WRITE_VECTOR_AT(name, number)                                                              \
	RELEASE(ssize_t, name, (int file, const struct iovec *from, int count, number offset), (file, from, count, offset), \
		READS_VECTOR(from, count))
WRITE_VECTOR_AT(pwritev, off_t)
WRITE_VECTOR_AT(pwritev64, off64_t)
#define WRITE_VECTOR_WITH(name, number)                                                            \
	RELEASE(ssize_t, name, (int file, const struct iovec *from, int count, number offset, int flags), \
		(file, from, count, offset, flags), READS_VECTOR(from, count))
WRITE_VECTOR_WITH(pwritev2, off_t)
WRITE_VECTOR_WITH(pwritev64v2, off64_t)
RELEASE(ssize_t, vmsplice, (int file, const struct iovec *from, size_t count, unsigned flags), (file, from, count, flags),
	READS_VECTOR(from, count))
RELEASE(int, eventfd_write, (int file, eventfd_t value), (file, value), NOTHING)

static void send_message(int file, const struct msghdr *message, struct dpe_memory_place place)
{
	access_vector(DPE_PRELOAD_READ, message->msg_iov, message->msg_iovlen, SIZE_MAX, place);
	release();
	dpe_order_release_to(file, message->msg_name, place);
}

HOOK ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
	send_message(file, message, HERE);
	return REAL(sendmsg)(file, message, flags);
}

HOOK int sendmmsg(int file, struct mmsghdr *messages, unsigned count, int flags)
{
	for (unsigned i = 0; i < count; i++)
		send_message(file, &messages[i].msg_hdr, HERE);
	return REAL(sendmmsg)(file, messages, count, flags);
}

/* ---- receives ---------------------------------------------------------------------------- */

#define ACQUIRE(type, name, parameters, arguments, after)                                          \
	HOOK type name parameters                                                                  \
	{                                                                                          \
		type result = REAL(name) arguments;                                                \
                                                                                                   \
		if (result >= 0) {                                                                 \
			after;                                                                     \
			dpe_order_acquire(file, !result, HERE);                                    \
		}                                                                                  \
		return result;                                                                     \
	}
#define WRITES_VECTOR(vector, count)                                                               \
	access_vector(DPE_PRELOAD_WRITE, vector, (size_t)(count), (size_t)result, HERE)
ACQUIRE(ssize_t, readv, (int file, const struct iovec *to, int count), (file, to, count), WRITES_VECTOR(to, count))
#define READ_VECTOR_AT(name, number)                                                               \
	ACQUIRE(ssize_t, name, (int file, const struct iovec *to, int count, number offset), (file, to, count, offset), \
		WRITES_VECTOR(to, count))
READ_VECTOR_AT(preadv, off_t)
READ_VECTOR_AT(preadv64, off64_t)
#define READ_VECTOR_WITH(name, number)                                                             \
	ACQUIRE(ssize_t, name, (int file, const struct iovec *to, int count, number offset, int flags), \
		(file, to, count, offset, flags), WRITES_VECTOR(to, count))
READ_VECTOR_WITH(preadv2, off_t)
READ_VECTOR_WITH(preadv64v2, off64_t)
ACQUIRE(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags),
	WRITES_VECTOR(message->msg_iov, message->msg_iovlen))
ACQUIRE(int, eventfd_read, (int file, eventfd_t *value), (file, value), WRITES(value, sizeof(*value)))

static void receive_messages(const struct mmsghdr *messages, int count, struct dpe_memory_place place)
{
	for (int i = 0; i < count; i++)
		access_vector(DPE_PRELOAD_WRITE, messages[i].msg_hdr.msg_iov, messages[i].msg_hdr.msg_iovlen,
			messages[i].msg_len, place);
}

ACQUIRE(int, recvmmsg, (int file, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	(file, messages, count, flags, timeout), receive_messages(messages, result, HERE))

/* ---- from a descriptor to another -------------------------------------------------------- */

#define MOVE(name, parameters, arguments)                                                          \
	HOOK ssize_t name parameters                                                               \
	{                                                                                          \
		ssize_t result;                                                                    \
                                                                                                   \
		send_to(to, HERE);                                                                 \
		result = REAL(name) arguments;                                                     \
		if (result >= 0)                                                                   \
			dpe_order_acquire(from, !result, HERE);                                    \
		return result;                                                                     \
	}
MOVE(splice, (int from, off64_t *read, int to, off64_t *written, size_t size, unsigned flags),
	(from, read, to, written, size, flags))
MOVE(tee, (int from, int to, size_t size, unsigned flags), (from, to, size, flags))
MOVE(sendfile, (int to, int from, off_t *read, size_t size), (to, from, read, size))
MOVE(sendfile64, (int to, int from, off64_t *read, size_t size), (to, from, read, size))
