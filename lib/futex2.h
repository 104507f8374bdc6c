/* SPDX-License-Identifier: MIT
 *
 * futex2.h - the kernel's numbers, and its calls as functions that return a result or -errno
 *
 * Own copies: the headers of the build machine may be older than the kernel that runs. errno is left as it was.
 * Since: futex_waitv Linux 5.16; futex_wake, futex_wait, futex_requeue 6.7; NUMA and MPOL 6.16.
 */
#ifndef NL_FUTEX2_H
#define NL_FUTEX2_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Only alpha and MIPS number new calls differently. */
#if defined(__alpha__)
#define NL_NR(n) ((n) + 110)
#elif defined(__mips__)
#define NL_NR(n) ((n) + (_MIPS_SIM == _ABIO32 ? 4000 : _MIPS_SIM == _ABI64 ? 5000 : 6000))
#else
#define NL_NR(n) (n)
#endif

#define NL_SYS_FUTEX_WAITV   NL_NR(449)
#define NL_SYS_FUTEX_WAKE    NL_NR(454)
#define NL_SYS_FUTEX_WAIT    NL_NR(455)
#define NL_SYS_FUTEX_REQUEUE NL_NR(456)

#define FUTEX2_U32     0x02u
#define FUTEX2_NUMA    0x04u
#define FUTEX2_MPOL    0x08u
#define FUTEX2_PRIVATE 0x80u

/* futex(2) */
#define NL_OP_WAIT_BITSET 9
#define NL_OP_WAKE_BITSET 10
#define NL_OP_PRIVATE     128
#define NL_OP_REALTIME    256

#define NL_PR_FUTEX_HASH           78
#define NL_PR_FUTEX_HASH_SET_SLOTS 1
#define NL_PR_FUTEX_HASH_GET_SLOTS 2

/* What the kernel calls __kernel_timespec: 64 bits on every architecture. */
struct nl_timespec {
	int64_t sec;
	int64_t nsec;
};

/* An element of futex_waitv, and of futex_requeue's pair. */
struct nl_futex_waitv {
	uint64_t val;
	uint64_t uaddr;
	uint32_t flags;
	uint32_t reserved;
};

/* Every argument is widened here: the kernel reads whole registers, and refuses a sign-extended mask. */
static inline long nl_syscall(long nr, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
{
	int saved = errno;
	long rc = syscall(nr, a, b, c, d, e, f);

	if (rc == -1)
		rc = -errno;
	errno = saved;
	return rc;
}

static inline long nl_futex2_wait(uint32_t *word, uint32_t expected, uint32_t mask, uint32_t flags,
				  const struct nl_timespec *abs, int clock)
{
	return nl_syscall(NL_SYS_FUTEX_WAIT, (uintptr_t)word, expected, mask, flags, (uintptr_t)abs, (uintptr_t)clock);
}

static inline long nl_futex2_wake(uint32_t *word, uint32_t mask, int n, uint32_t flags)
{
	return nl_syscall(NL_SYS_FUTEX_WAKE, (uintptr_t)word, mask, (uintptr_t)n, flags, 0, 0);
}

static inline long nl_futex2_requeue(const struct nl_futex_waitv *pair, int wake, int move)
{
	return nl_syscall(NL_SYS_FUTEX_REQUEUE, (uintptr_t)pair, 0, (uintptr_t)wake, (uintptr_t)move, 0, 0);
}

static inline long nl_futex2_waitv(const struct nl_futex_waitv *v, uint32_t n, const struct nl_timespec *abs, int clock)
{
	return nl_syscall(NL_SYS_FUTEX_WAITV, (uintptr_t)v, n, 0, (uintptr_t)abs, (uintptr_t)clock, 0);
}

/* `op` carries PRIVATE and REALTIME. On 32 bits the call with 64-bit time comes first (Linux 5.1); where it is missing or
 * filtered, the old one with the time cut to what it can say. */
static inline long nl_futex1_wait(uint32_t *word, int op, uint32_t expected, const struct nl_timespec *abs,
				  uint32_t mask)
{
#ifdef SYS_futex_time64
	long rc = nl_syscall(SYS_futex_time64, (uintptr_t)word, (uintptr_t)op, expected, (uintptr_t)abs, 0, mask);

	if (rc != -ENOSYS && rc != -EPERM && rc != -EACCES)
		return rc;
#endif
#ifdef SYS_futex
	{
		long old[2] = { 0, 0 };

		if (abs) {
			old[0] = abs->sec > INTPTR_MAX ? INTPTR_MAX : (long)abs->sec;
			old[1] = (long)abs->nsec;
		}
		return nl_syscall(SYS_futex, (uintptr_t)word, (uintptr_t)op, expected, (uintptr_t)(abs ? old : NULL), 0,
				  mask);
	}
#else
	return -ENOSYS;
#endif
}

static inline long nl_futex1_wake(uint32_t *word, int op, int n, uint32_t mask)
{
#ifdef SYS_futex
	return nl_syscall(SYS_futex, (uintptr_t)word, (uintptr_t)op, (uintptr_t)n, 0, 0, mask);
#else
	return nl_syscall(SYS_futex_time64, (uintptr_t)word, (uintptr_t)op, (uintptr_t)n, 0, 0, mask);
#endif
}

/* The beginning of a small text file, as a string: its length or -errno. By raw calls: the C library's are cancellation points. */
static inline long nl_read_text(const char *path, char *text, size_t size)
{
	long fd, n;

	fd = nl_syscall(SYS_openat, (uintptr_t)AT_FDCWD, (uintptr_t)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return fd;
	n = nl_syscall(SYS_read, (uintptr_t)fd, (uintptr_t)text, size - 1, 0, 0, 0);
	nl_syscall(SYS_close, (uintptr_t)fd, 0, 0, 0, 0, 0);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* One millisecond. Not the C library's, which is a cancellation point. */
static inline void nl_nap(void)
{
#ifdef SYS_clock_nanosleep
	const long ms[2] = { 0, 1000000 };

	nl_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (uintptr_t)ms, 0, 0, 0);
#else
	const struct nl_timespec ms = { 0, 1000000 };

	nl_syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, (uintptr_t)&ms, 0, 0, 0);
#endif
}

#endif
