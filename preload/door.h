/* SPDX-License-Identifier: MIT
 *
 * door.h - one source, two doors
 *
 *   libnlock-preload.so   under the names of the C library, for LD_PRELOAD: no symbol versions, so that every reference is bound
 *   libnlock-pthread.so   under names of its own, to which <nlock-pthread.h> maps those of the C library
 *
 * What is not interposed, because it is as right as it is: attribute objects keep the C library's layout, so its functions work
 * on them; spin locks stay the C library's; a named semaphore is the C library's, so are sem_open, sem_close and sem_unlink.
 */
#ifndef NP_DOOR_H
#define NP_DOOR_H

#define NP_EXPORT __attribute__((visibility("default")))

/* DOOR(pthread_, mutex_lock), DOOR(, sem_wait): the name in this door. */
#ifdef NP_DOOR_SOURCE
#define DOOR(prefix, name) nlock_pthread_##name
#else
#define DOOR(prefix, name) prefix##name
#endif

/* Old programs know some functions by a second name. Nobody compiles against those, so the other door has none. */
#ifdef NP_DOOR_SOURCE
#define NP_OLD_NAME(old, name) _Static_assert(1, "")
#else
#define NP_OLD_NAME(old, name) \
	extern __typeof__(name) old __attribute__((alias(#name), NP_COPY(name) visibility("default")))
#endif

/* The attributes of the declaration that the C library has for the other name. */
#if defined __GNUC__ && !defined __clang__
#define NP_COPY(name) copy(name),
#else
#define NP_COPY(name)
#endif

#endif
