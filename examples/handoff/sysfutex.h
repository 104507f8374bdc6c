/* SPDX-License-Identifier: MIT
 *
 * sysfutex.h - the kernel's calls themselves, for what is measured without nlock
 *
 * Own copies of the numbers: the headers of the machine may be older than its kernel. Results are >= 0 or -errno.
 */
#ifndef HANDOFF_SYSFUTEX_H
#define HANDOFF_SYSFUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Newer 32-bit machines have only the call with 64-bit times. No time is passed to it here, so the two are the same. */
#if !defined(SYS_futex) && defined(SYS_futex_time64)
#define SYS_futex SYS_futex_time64
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454 /* Linux 6.7 */
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

/* Flags of these two. With NUMA a second word behind the first holds the node in whose table waiters queue (6.16). */
#define SYS2_U32     0x02u
#define SYS2_NUMA    0x04u
#define SYS2_PRIVATE 0x80u
#define SYS2_NO_NODE 0xffffffffu /* the kernel puts the caller's node there */

#define SYS_PR_FUTEX_HASH 78 /* 6.16 */
#define SYS_HASH_SET      1
#define SYS_HASH_GET      2

static inline long sys_result(long rc)
{
	return rc == -1 ? -errno : rc;
}

/* futex(2) */
static inline long sys_futex_wait(_Atomic uint32_t *word, uint32_t expected, bool shared)
{
	long op = shared ? FUTEX_WAIT : FUTEX_WAIT | FUTEX_PRIVATE_FLAG;

	return sys_result(syscall(SYS_futex, word, op, (unsigned long)expected, NULL, NULL, 0UL));
}

static inline long sys_futex_wake(_Atomic uint32_t *word, int n, bool shared)
{
	long op = shared ? FUTEX_WAKE : FUTEX_WAKE | FUTEX_PRIVATE_FLAG;

	return sys_result(syscall(SYS_futex, word, op, (long)n, NULL, NULL, 0UL));
}

/* futex2, of any mask. `until` is monotonic time in ns; 0: for ever. */
static inline long sys_futex2_wait(_Atomic uint32_t *word, uint32_t expected, unsigned flags, int64_t until)
{
	const int64_t ts[2] = { until / 1000000000, until % 1000000000 };
	unsigned long all = 0xffffffffu;

	return sys_result(syscall(SYS_futex_wait, word, (unsigned long)expected, all, (unsigned long)flags,
				  until ? ts : NULL, CLOCK_MONOTONIC));
}

static inline long sys_futex2_wake(_Atomic uint32_t *word, int n, unsigned flags)
{
	unsigned long all = 0xffffffffu;

	return sys_result(syscall(SYS_futex_wake, word, all, (long)n, (unsigned long)flags));
}

/* The process's private hash: its slots, 0 if it uses the global one; and how to ask for so many. */
static inline long sys_hash_slots(void)
{
	return sys_result(prctl(SYS_PR_FUTEX_HASH, SYS_HASH_GET, 0L, 0L, 0L));
}

static inline long sys_hash_set(unsigned slots)
{
	return sys_result(prctl(SYS_PR_FUTEX_HASH, SYS_HASH_SET, (unsigned long)slots, 0L, 0L));
}

#endif
