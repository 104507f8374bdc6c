/* SPDX-License-Identifier: MIT
 *
 * host.c - finds the C library's functions without asking it
 *
 * dlsym takes the loader's lock and may allocate, and the caller may be malloc, a signal handler, or a thread that another one,
 * which holds the loader's lock, waits for. So the C library's own table of symbols is read here: the loader's list of objects
 * (_r_debug) leads to it. Objects that were there when the program started come first in that list and stay for ever, the C
 * library among them, so no lock is needed; what was found is kept.
 *
 * If we step aside, we look for what would have been called without us: the first definition behind us in the list.
 */
#include "host.h"

#ifndef NP_DOOR_SOURCE

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

struct table {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;
	const ElfW(Half) * versions; /* or NULL */
	ElfW(Addr) base;
	const char *soname; /* or NULL */
};

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* The loader has added the base to these addresses in most objects; not where the section is read-only. */
static const void *address(const struct link_map *l, ElfW(Addr) a)
{
	return (const void *)(a < l->l_addr ? a + l->l_addr : a);
}

static bool read_table(const struct link_map *l, struct table *t)
{
	const ElfW(Dyn) * d;
	ElfW(Addr) soname = 0;

	*t = (struct table){ .base = l->l_addr };
	if (!l->l_ld)
		return false;
	for (d = l->l_ld; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			t->symbols = address(l, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			t->strings = address(l, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			t->hash = address(l, d->d_un.d_ptr);
			break;
		case DT_VERSYM:
			t->versions = address(l, d->d_un.d_ptr);
			break;
		case DT_SONAME:
			soname = d->d_un.d_val;
			break;
		}
	}
	if (!t->symbols || !t->strings || !t->hash)
		return false;
	t->soname = soname ? t->strings + soname : NULL;
	return true;
}

/* A function of that name, in the version that programs are linked with today: the one that is not hidden. */
static bool is_it(const struct table *t, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &t->symbols[i];

	return s->st_shndx != SHN_UNDEF && (s->st_info & 0xf) == STT_FUNC &&
	       !(t->versions && t->versions[i] & 0x8000) && strcmp(t->strings + s->st_name, name) == 0;
}

/* DT_GNU_HASH: four counts, a filter that is passed over, buckets, and chains of hashes whose last has its low bit set. */
static void *look_up(const struct table *t, const char *name)
{
	const uint32_t buckets = t->hash[0], first = t->hash[1];
	const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(t->hash + 4) + t->hash[2]);
	const uint32_t *chain = bucket + buckets;
	uint32_t h = 5381, i;

	for (const char *c = name; *c; c++)
		h = h * 33 + (unsigned char)*c;
	i = buckets ? bucket[h % buckets] : 0;
	if (i < first || i == 0)
		return NULL;
	do {
		if ((chain[i - first] | 1) == (h | 1) && is_it(t, i, name))
			return (void *)(t->base + t->symbols[i].st_value);
	} while (!(chain[i++ - first] & 1));
	return NULL;
}

static bool is_libc(const struct table *t)
{
	return t->soname && strcmp(t->soname, "libc.so.6") == 0;
}

static void *search(const char *name, bool in_libc_only)
{
	const struct link_map *l = _r_debug.r_map;
	bool is_behind_us = in_libc_only;
	struct table t;
	void *found = NULL;

	for (; l && !found; l = l->l_next) {
		bool is_us = l->l_ld == _DYNAMIC;

		if (!is_us && is_behind_us && read_table(l, &t) && (!in_libc_only || is_libc(&t)))
			found = look_up(&t, name);
		is_behind_us |= is_us;
	}
	return found;
}

static int is_missing(void)
{
	return ENOSYS;
}

void *np_host_find(enum np_host which)
{
#define NP_NAME(name) #name,
	static const char names[][32] = { NP_HOST_FUNCTIONS(NP_NAME) };
	static void *found[sizeof(names) / sizeof(*names)];
	void *f = __atomic_load_n(&found[which], __ATOMIC_RELAXED);

	if (f)
		return f;
	f = search(names[which], np_is_active());
	if (!f)
		f = (void *)is_missing;
	__atomic_store_n(&found[which], f, __ATOMIC_RELAXED);
	return f;
}

#endif
