/* SPDX-License-Identifier: MIT
 *
 * symbols.c - from an address to a name: /proc/self/maps first, then the file's table of symbols
 *
 * The file on the disk is read, not its image in memory: another thread may be unmapping that. What has been stripped of its
 * table may have it in a debug file; what is left in it is the table for the linker, with the names that are exported.
 */
#include "symbols.h"
#include "debug_file.h"
#include "object_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- /proc/self/maps, line by line */

struct reader {
	int fd;
	size_t at, end;
	char bytes[4096];
};

static int next_byte(struct reader *r)
{
	if (r->at == r->end) {
		ssize_t n = read(r->fd, r->bytes, sizeof(r->bytes));

		if (n <= 0)
			return -1;
		r->at = 0;
		r->end = (size_t)n;
	}
	return (unsigned char)r->bytes[r->at++];
}

/* The rest of a line that is too long is dropped. */
static bool read_line(struct reader *r, char *line, size_t room)
{
	size_t n = 0;
	int c;

	while ((c = next_byte(r)) >= 0 && c != '\n') {
		if (n + 1 < room)
			line[n++] = (char)c;
	}
	line[n] = '\0';
	return c >= 0 || n;
}

static const char *read_hex(const char *s, uintptr_t *n)
{
	for (*n = 0;; s++) {
		if (*s >= '0' && *s <= '9')
			*n = *n << 4 | (uintptr_t)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			*n = *n << 4 | (uintptr_t)(*s - 'a' + 10);
		else
			return s;
	}
}

static const char *skip_word(const char *s)
{
	while (*s && *s != ' ')
		s++;
	while (*s == ' ')
		s++;
	return s;
}

/* "55d0-55d1 r--p 00001000 08:01 1234   /usr/bin/true" */
struct mapping {
	uintptr_t from, to, offset;
	const char *path; /* empty: none */
};

static bool read_mapping(const char *line, struct mapping *m)
{
	const char *s = read_hex(line, &m->from);

	if (*s != '-')
		return false;
	s = skip_word(skip_word(read_hex(s + 1, &m->to)));
	s = skip_word(read_hex(s, &m->offset));
	m->path = skip_word(skip_word(s));
	return true;
}

/* The file that was seen last, from its first byte on. */
struct image {
	uintptr_t start, end;
	char file[PLACE_FILE];
};

static void copy_name(char *to, const char *from)
{
	size_t n = strnlen(from, PLACE_FILE - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

/* Does the mapping belong to the image? What has no name and follows directly may be its zeroed data, and is taken for it
 * until its program headers are asked. */
static bool goes_on(const struct image *i, const struct mapping *m)
{
	return i->start && (m->path[0] ? !strncmp(i->file, m->path, PLACE_FILE - 1) && m->offset : i->end == m->from);
}

static void note_mapping(struct place *p, size_t n, const struct mapping *m, struct image *i)
{
	if (goes_on(i, m)) {
		i->end = m->to;
	} else {
		i->start = m->path[0] == '/' && !m->offset ? m->from : 0;
		i->end = m->to;
		copy_name(i->file, m->path);
	}
	for (size_t k = 0; k < n; k++) {
		if (p[k].address < m->from || p[k].address >= m->to)
			continue;
		p[k].image = i->start;
		copy_name(p[k].file, i->file);
	}
}

void places_find(struct place *p, size_t n)
{
	static struct reader r; /* not on a stack that may be small */
	static struct image i;
	static char line[1024];
	struct mapping m;

	r.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (r.fd < 0)
		return;
	r.at = r.end = 0;
	i.start = 0;
	while (read_line(&r, line, sizeof(line))) {
		if (read_mapping(line, &m))
			note_mapping(p, n, &m, &i);
	}
	close(r.fd);
}

/* ---------------------------------------------------------------- the table of symbols */

/* The address as the file has it: what addr2line(1) wants. 0: it is not in this file. */
static uintptr_t address_in_file(const struct object_file *f, const struct place *p)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), low = UINTPTR_MAX, high = 0, address;
	size_t n;
	const ElfW(Phdr) *ph = object_segments(f, &n);

	for (size_t i = 0; ph && i < n; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		low = ph[i].p_vaddr < low ? ph[i].p_vaddr : low;
		high = ph[i].p_vaddr + ph[i].p_memsz > high ? ph[i].p_vaddr + ph[i].p_memsz : high;
	}
	address = p->address - p->image + (low & ~(page - 1));
	return address < high ? address : 0;
}

static bool is_within(const ElfW(Sym) * s, uintptr_t address)
{
	unsigned int type = s->st_info & 0xf;

	return (type == STT_OBJECT || type == STT_FUNC) && s->st_shndx != SHN_UNDEF && s->st_value <= address &&
	       address - s->st_value < (s->st_size ? s->st_size : 1);
}

/* The symbol that the address is inside; of several, the one that begins last. A near miss is no answer: in a file without
 * its own table it would name a stranger. */
static const ElfW(Sym) * find_symbol(const struct object_file *f, const ElfW(Shdr) * table, uintptr_t address)
{
	const ElfW(Sym) *s = (const void *)(f->bytes + table->sh_offset), *best = NULL;
	size_t n = table->sh_size / sizeof(*s);

	for (size_t i = 0; i < n; i++) {
		if (is_within(&s[i], address) && (!best || s[i].st_value > best->st_value))
			best = &s[i];
	}
	return best;
}

static bool put_symbol(struct text *t, const struct object_file *f, uint32_t type, uintptr_t address)
{
	const ElfW(Shdr) *table = object_section(f, type, NULL), *names = table ? object_linked(f, table) : NULL;
	const ElfW(Sym) *s = names ? find_symbol(f, table, address) : NULL;

	if (!s)
		return false;
	for (size_t i = s->st_name; i < names->sh_size && f->bytes[names->sh_offset + i]; i++)
		put_char(t, f->bytes[names->sh_offset + i]);
	if (address != s->st_value) {
		put(t, "+");
		put_hex(t, address - s->st_value);
	}
	return true;
}

/* ---------------------------------------------------------------- the two together */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* By the file's own table, else by that of its debug file, else by the names that it exports. */
static bool put_name(struct text *t, const struct object_file *f, const char *path, uintptr_t address)
{
	const struct object_file *debug = object_section(f, SHT_SYMTAB, NULL) ? NULL : debug_file(f, path);

	return put_symbol(t, f, SHT_SYMTAB, address) || (debug && put_symbol(t, debug, SHT_SYMTAB, address)) ||
	       put_symbol(t, f, SHT_DYNSYM, address);
}

static bool put_place_in(struct text *t, const struct object_file *f, const struct place *p)
{
	uintptr_t address = address_in_file(f, p);

	if (!address)
		return false;
	if (put_name(t, f, p->file, address)) {
		put(t, " in ");
		put(t, base_name(p->file));
		return true;
	}
	put(t, base_name(p->file));
	put(t, "+");
	put_hex(t, address);
	return true;
}

/* A file that is gone by now: as far from its first byte. */
static void put_without_file(struct text *t, const struct place *p)
{
	put(t, base_name(p->file));
	put(t, "+");
	put_hex(t, p->address - p->image);
}

static void put_memory(struct text *t, const struct place *p)
{
	bool is_heap = !strcmp(p->file, "[heap]"), is_stack = !strcmp(p->file, "[stack]");

	put(t, is_heap ? "heap " : is_stack ? "stack " : "memory ");
	put_hex(t, p->address);
}

void put_place(struct text *t, const struct place *p)
{
	struct object_file f;

	if (!p->image) {
		put_memory(t, p);
	} else if (!object_open(p->file, &f)) {
		put_without_file(t, p);
	} else {
		if (!put_place_in(t, &f, p))
			put_memory(t, p);
		object_close(&f);
	}
}
