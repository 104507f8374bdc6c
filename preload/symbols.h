/* SPDX-License-Identifier: MIT
 *
 * symbols.h - the names of addresses in this process, for the report at exit
 *
 * dladdr would take the loader's lock, which a thread that is still running may hold for ever, and knows exported symbols
 * only. Here /proc/self/maps says which file an address is in, and the file's own table of symbols says the rest. Nothing
 * is allocated, nothing in the process is locked.
 */
#ifndef PRELOAD_SYMBOLS_H
#define PRELOAD_SYMBOLS_H

#include "text.h"

#include <stddef.h>
#include <stdint.h>

#define PLACE_FILE 256

/* Where an address is. Set `address`, and the rest to zero. */
struct place {
	uintptr_t address;
	uintptr_t image;       /* where the file that it is in begins; 0: in none */
	char file[PLACE_FILE]; /* its name; or "[heap]", "[stack]"; or empty: other memory */
};

/* Finds out for n addresses at once. What cannot be found out stays zero. */
void places_find(struct place *p, size_t n);

/* Appends "name in file", "name+0x1c in file", "file+0x4060" (what addr2line(1) takes), "heap 0x5581", "stack 0x7ffd" or
 * "memory 0x7f12". */
void put_place(struct text *t, const struct place *p);

#endif
