/* SPDX-License-Identifier: MIT
 *
 * object_file.c - the headers of an ELF file
 */
#include "object_file.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool object_open(const char *path, struct object_file *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* it may be anything by now */
	void *bytes = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (size_t)st.st_size >= sizeof(ElfW(Ehdr)))
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	f->bytes = bytes;
	f->size = (size_t)st.st_size;
	return true;
}

void object_close(const struct object_file *f)
{
	munmap((void *)(uintptr_t)f->bytes, f->size);
}

static bool is_inside(const struct object_file *f, uint64_t from, uint64_t n)
{
	return from <= f->size && n <= f->size - from;
}

/* Is there a table of n entries of that size, as the file says, and as we would read it? */
static bool is_table(const struct object_file *f, uint64_t from, uint64_t n, size_t said, size_t size)
{
	return !memcmp(f->bytes, ELFMAG, SELFMAG) && said == size && !(from % sizeof(uint32_t)) &&
	       is_inside(f, from, n * size);
}

const ElfW(Phdr) * object_segments(const struct object_file *f, size_t *n)
{
	const ElfW(Ehdr) *h = (const void *)f->bytes;

	*n = h->e_phnum;
	return is_table(f, h->e_phoff, h->e_phnum, h->e_phentsize, sizeof(ElfW(Phdr)))
		       ? (const void *)(f->bytes + h->e_phoff)
		       : NULL;
}

static const ElfW(Shdr) * sections(const struct object_file *f, size_t *n)
{
	const ElfW(Ehdr) *h = (const void *)f->bytes;

	*n = h->e_shnum;
	return h->e_shoff && is_table(f, h->e_shoff, h->e_shnum, h->e_shentsize, sizeof(ElfW(Shdr)))
		       ? (const void *)(f->bytes + h->e_shoff)
		       : NULL;
}

/* Are its contents in the file? */
static bool is_readable(const struct object_file *f, const ElfW(Shdr) * s)
{
	return s->sh_type != SHT_NOBITS && is_inside(f, s->sh_offset, s->sh_size);
}

static bool is_named(const struct object_file *f, const ElfW(Shdr) * s, const ElfW(Shdr) * names, const char *name)
{
	size_t room = strlen(name) + 1;

	return is_readable(f, names) && s->sh_name <= names->sh_size && room <= names->sh_size - s->sh_name &&
	       !memcmp(f->bytes + names->sh_offset + s->sh_name, name, room);
}

const ElfW(Shdr) * object_section(const struct object_file *f, uint32_t type, const char *name)
{
	size_t n, names = ((const ElfW(Ehdr) *)(const void *)f->bytes)->e_shstrndx;
	const ElfW(Shdr) *s = sections(f, &n);

	for (size_t i = 0; s && i < n; i++) {
		if (s[i].sh_type == type && !(s[i].sh_offset % sizeof(uint32_t)) && is_readable(f, &s[i]) &&
		    (!name || (names < n && is_named(f, &s[i], &s[names], name))))
			return &s[i];
	}
	return NULL;
}

const ElfW(Shdr) * object_linked(const struct object_file *f, const ElfW(Shdr) * from)
{
	size_t n;
	const ElfW(Shdr) *s = sections(f, &n);

	return s && from->sh_link < n && is_readable(f, &s[from->sh_link]) ? &s[from->sh_link] : NULL;
}
