/* SPDX-License-Identifier: MIT
 *
 * ticket.c - see ticket.h
 *
 * A waiter sleeps only on a word with bit 0 set, which obliges the releaser to wake: the releaser's exchange
 * returns it. The release order of the exchange pairs with the acquire load of the waiter whose turn it is.
 * After the exchange the releaser touches nothing; its wake may come late and then disturbs a later ticket of
 * the same slot, which looks again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ticket.h"

#include "cpu.h"
#include "sysfutex.h"

uint32_t ticket_slots(unsigned tasks)
{
	uint32_t n = 1;

	while (n < tasks)
		n *= 2;
	return n;
}

void ticket_init(struct ticket_lock *l, struct ticket_slot *slots, unsigned tasks, bool shared)
{
	uint32_t n = ticket_slots(tasks);

	atomic_init(&l->next, 0);
	l->mask = n - 1;
	l->shared = shared;
	l->slots = slots;
	/* Ticket 0 may enter. The other slots hold the turn before their first. */
	for (uint32_t i = 0; i < n; i++)
		atomic_init(&slots[i].turn, i ? (i - n) << 1 : 0);
}

static bool is_turn(uint32_t turn, uint32_t ticket)
{
	return (turn | 1) == (ticket << 1 | 1);
}

static bool watch(struct ticket_slot *slot, uint32_t ticket, int64_t patience_ns)
{
	int64_t end = now_ns() + patience_ns;

	do {
		for (int i = 0; i < 16; i++) {
			if (is_turn(atomic_load_explicit(&slot->turn, memory_order_acquire), ticket))
				return true;
			cpu_pause();
		}
	} while (now_ns() < end);
	return false;
}

/* Returns how often it slept. */
static uint64_t sleep_until_turn(struct ticket_slot *slot, uint32_t ticket, bool shared)
{
	uint32_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
	uint64_t sleeps = 0;

	while (!is_turn(turn, ticket)) {
		if ((turn & 1) || atomic_compare_exchange_strong_explicit(&slot->turn, &turn, turn | 1,
									  memory_order_relaxed, memory_order_relaxed)) {
			sys_futex_wait(&slot->turn, turn | 1, shared);
			sleeps++;
		}
		turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
	}
	return sleeps;
}

struct ticket_trip ticket_acquire(struct ticket_lock *l, int64_t patience_ns)
{
	uint32_t ticket = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
	struct ticket_slot *slot = &l->slots[ticket & l->mask];
	struct ticket_trip trip = { false, false, 0 };

	if (!is_turn(atomic_load_explicit(&slot->turn, memory_order_acquire), ticket)) {
		trip.waited = true;
		trip.watched = patience_ns && watch(slot, ticket, patience_ns);
		if (!trip.watched)
			trip.sleeps = sleep_until_turn(slot, ticket, l->shared);
	}
	l->owner = ticket;
	return trip;
}

/* If the next ticket may enter, nobody is in line, and whoever draws it is the owner. */
bool ticket_try(struct ticket_lock *l)
{
	uint32_t ticket = atomic_load_explicit(&l->next, memory_order_relaxed);
	struct ticket_slot *slot = &l->slots[ticket & l->mask];

	if (!is_turn(atomic_load_explicit(&slot->turn, memory_order_acquire), ticket) ||
	    !atomic_compare_exchange_strong_explicit(&l->next, &ticket, ticket + 1, memory_order_relaxed,
						     memory_order_relaxed))
		return false;
	l->owner = ticket;
	return true;
}

void ticket_release(struct ticket_lock *l)
{
	uint32_t next = l->owner + 1;
	struct ticket_slot *slot = &l->slots[next & l->mask];
	bool shared = l->shared;
	uint32_t old = atomic_exchange_explicit(&slot->turn, next << 1, memory_order_release);

	if (old & 1)
		sys_futex_wake(&slot->turn, 1, shared);
}
