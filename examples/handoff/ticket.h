/* SPDX-License-Identifier: MIT
 *
 * ticket.h - a strict FIFO lock, the reference that the others are measured against
 *
 * Strict: the order is fixed by one fetch-and-add on arrival, and it binds whether or not the next owner is
 * asleep yet. The lock is never free while anybody is on the way, so nobody can overtake, ever, and a convoy
 * can never dissolve. Franke's `usema` of 2002 was strict in this sense.
 *
 * Ticket n waits on a word of its own, slot n mod the number of slots, so that a release wakes exactly the next
 * one. It uses the classic futex(2) on purpose: it shares neither code nor system calls with nlock.
 */
#ifndef HANDOFF_TICKET_H
#define HANDOFF_TICKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 2n: ticket n may enter. 2n + 1: the same, and a sleeper needs a wake when it changes. */
struct ticket_slot {
	_Alignas(128) _Atomic uint32_t turn;
};

struct ticket_lock {
	_Atomic uint32_t next; /* the next arrival's ticket; tickets wrap at 2^31 */
	uint32_t owner;        /* the owner's ticket; only the owner touches it */
	uint32_t mask;         /* number of slots - 1 */
	bool shared;
	struct ticket_slot *slots;
};

/* The number of slots that `tasks` tasks need: a power of two, so that slots and tickets wrap together. */
uint32_t ticket_slots(unsigned tasks);

/* `slots` has room for ticket_slots(tasks) of them. */
void ticket_init(struct ticket_lock *l, struct ticket_slot *slots, unsigned tasks, bool shared);

/* What an acquisition went through. */
struct ticket_trip {
	bool waited;  /* it was not its turn at once */
	bool watched; /* its turn came while it watched */
	uint64_t sleeps;
};

/* Watches for at most patience_ns before it sleeps. */
struct ticket_trip ticket_acquire(struct ticket_lock *l, int64_t patience_ns);

/* False if somebody has it or is in line: then nothing has changed. */
bool ticket_try(struct ticket_lock *l);

void ticket_release(struct ticket_lock *l);

#endif
