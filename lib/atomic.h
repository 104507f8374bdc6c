/* SPDX-License-Identifier: MIT
 *
 * atomic.h - the only file that spells an atomic builtin
 *
 * The order is in the operation's name:
 *   _rlx   no order; the operation is atomic and its location has one history
 *   _acq   nothing after it moves before it; pairs with a _rel whose value it reads
 *   _rel   nothing before it moves after it
 *   _acqrel both
 *
 * nl_cas_* returns true and stores, or returns false and puts what it found into *seen. Failure is always relaxed.
 * Every operation but a relaxed one carries a tag at its site that the file's Orders table explains.
 *
 * nl_own_get/nl_own_set are plain accesses to a field that only the owner of the lock touches.
 *
 * tests/explore/ supplies the same names under the same include guard; so do other back ends.
 */
#ifndef NL_ATOMIC_H
#define NL_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t nl_load_rlx(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint32_t nl_load_acq(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void nl_store_rlx(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline bool nl_cas_rlx(uint32_t *p, uint32_t *seen, uint32_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline bool nl_cas_acq(uint32_t *p, uint32_t *seen, uint32_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline bool nl_cas_rel(uint32_t *p, uint32_t *seen, uint32_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* These return the value before. */
static inline uint32_t nl_add_rel(uint32_t *p, uint32_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_RELEASE);
}

static inline uint32_t nl_add_acqrel(uint32_t *p, uint32_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_ACQ_REL);
}

/* Reads the newest value: a read-modify-write that changes nothing. The compiler must not know that it does not, or it
 * may make a load of it, as clang does. */
static inline uint32_t nl_fresh_rlx(uint32_t *p)
{
	uint32_t nothing = 0;

	__asm__("" : "+r"(nothing));
	return __atomic_fetch_add(p, nothing, __ATOMIC_RELAXED);
}

/* A hint: may be stale, may be lost. */
static inline uint8_t nl_load8_rlx(const uint8_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void nl_store8_rlx(uint8_t *p, uint8_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* A state of 64 bits, which must be aligned to 8: not every ABI aligns uint64_t so. */
static inline uint64_t nl_load64_rlx(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint64_t nl_load64_acq(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void nl_store64_rlx(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* As nl_fresh_rlx. */
static inline uint64_t nl_fresh64_rlx(uint64_t *p)
{
	uint64_t nothing = 0;

	__asm__("" : "+r"(nothing));
	return __atomic_fetch_add(p, nothing, __ATOMIC_RELAXED);
}

static inline bool nl_cas64_rlx(uint64_t *p, uint64_t *seen, uint64_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline bool nl_cas64_acq(uint64_t *p, uint64_t *seen, uint64_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline bool nl_cas64_rel(uint64_t *p, uint64_t *seen, uint64_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static inline bool nl_cas64_acqrel(uint64_t *p, uint64_t *seen, uint64_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The pair {word, node} as one: only wait.c uses it. */
typedef uint64_t __attribute__((may_alias)) nl_pair;

static inline bool nl_cas_pair_rlx(nl_pair *p, uint64_t *seen, uint64_t v)
{
	return __atomic_compare_exchange_n(p, seen, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline void nl_count_rlx(uint64_t *p, uint64_t n)
{
	__atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static inline uint64_t nl_get_rlx(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void nl_highest_rlx(uint64_t *p, uint64_t n)
{
	uint64_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (seen < n && !__atomic_compare_exchange_n(p, &seen, n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static inline uint16_t nl_own_get(const uint16_t *p)
{
	return *p;
}

static inline void nl_own_set(uint16_t *p, uint16_t v)
{
	*p = v;
}

/* Tells the CPU that this is a waiting loop. */
static inline void nl_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ volatile("isb" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
