/* SPDX-License-Identifier: MIT
 *
 * debug_file.c - looks where a debugger would, for the symbols of a stripped file
 *
 *   by build ID    /usr/lib/debug/.build-id/12/3456.debug
 *   by the name that the file has in .gnu_debuglink   beside it, in .debug/ beside it, and under /usr/lib/debug with its whole path
 *
 * What is found is believed if it has the same build ID; if the file has none, if its checksum is the one that stands beside
 * the name. Any other may be of another version, and would name strangers. Nobody but the report comes here, from one thread; it asks
 * for the same file again and again, so the last answer is kept.
 */
#include "debug_file.h"
#include "text.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define DEBUG_DIRECTORY "/usr/lib/debug"
#define PATH_ROOM       1024

/* ---------------------------------------------------------------- whose is it */

struct build_id {
	const unsigned char *bytes;
	size_t size; /* 0: none */
};

static struct build_id build_id(const struct object_file *f)
{
	const ElfW(Shdr) *s = object_section(f, SHT_NOTE, ".note.gnu.build-id");
	const ElfW(Nhdr) *note = s && s->sh_size >= sizeof(*note) + 4 ? (const void *)(f->bytes + s->sh_offset) : NULL;
	struct build_id none = { NULL, 0 };

	if (!note || note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 || memcmp(note + 1, "GNU", 4) ||
	    note->n_descsz > s->sh_size - sizeof(*note) - 4)
		return none;
	return (struct build_id){ (const unsigned char *)(note + 1) + 4, note->n_descsz };
}

/* What .gnu_debuglink says: a name, zeroes up to the next word, a checksum. */
struct link {
	const char *name; /* NULL: it says nothing */
	uint32_t checksum;
};

static struct link debug_link(const struct object_file *f)
{
	const ElfW(Shdr) *s = object_section(f, SHT_PROGBITS, ".gnu_debuglink");
	const char *name = s ? f->bytes + s->sh_offset : NULL;
	size_t n = s ? strnlen(name, s->sh_size) : 0, at = (n + 4) & ~(size_t)3;
	struct link l = { NULL, 0 };

	if (!n || n >= s->sh_size || at + sizeof(l.checksum) > s->sh_size || memchr(name, '/', n))
		return l;
	l.name = name;
	memcpy(&l.checksum, name + at, sizeof(l.checksum));
	return l;
}

/* The CRC that Ethernet and zip have, four bits at a time. */
static uint32_t checksum(const struct object_file *f)
{
	static const uint32_t of_bits[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
					      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
					      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	uint32_t sum = UINT32_MAX;

	for (size_t i = 0; i < f->size; i++) {
		sum ^= (unsigned char)f->bytes[i];
		sum = sum >> 4 ^ of_bits[sum & 15];
		sum = sum >> 4 ^ of_bits[sum & 15];
	}
	return ~sum;
}

/* What is wanted of a debug file. */
struct wanted {
	const char *path; /* of the file whose symbols it has */
	struct build_id id;
	struct link link;
};

static bool belongs(const struct object_file *f, const struct wanted *w)
{
	struct build_id id = build_id(f);

	if (!object_section(f, SHT_SYMTAB, NULL))
		return false;
	if (w->id.size)
		return id.size == w->id.size && !memcmp(id.bytes, w->id.bytes, id.size);
	return checksum(f) == w->link.checksum;
}

/* ---------------------------------------------------------------- where is it */

static bool try_path(struct object_file *f, const struct wanted *w, const struct text *path)
{
	if (path->used + 1 == path->room || !object_open(path->to, f))
		return false;
	if (belongs(f, w))
		return true;
	object_close(f);
	return false;
}

static bool find_by_id(struct object_file *f, const struct wanted *w)
{
	static char bytes[PATH_ROOM];
	struct text path = { .to = bytes, .room = sizeof(bytes) };

	if (w->id.size < 2)
		return false;
	put(&path, DEBUG_DIRECTORY "/.build-id/");
	for (size_t i = 0; i < w->id.size; i++) {
		put_based(&path, w->id.bytes[i] >> 4, 16);
		put_based(&path, w->id.bytes[i] & 15, 16);
		put(&path, i ? "" : "/");
	}
	put(&path, ".debug");
	return try_path(f, w, &path);
}

/* BEFORE, the directory of the file, BETWEEN, the name. */
static bool find_by_name(struct object_file *f, const struct wanted *w, const char *before, const char *between)
{
	static char bytes[PATH_ROOM];
	struct text path = { .to = bytes, .room = sizeof(bytes) };
	const char *slash = strrchr(w->path, '/');

	if (!w->link.name || !slash)
		return false;
	put(&path, before);
	for (const char *c = w->path; c <= slash; c++)
		put_char(&path, *c);
	put(&path, between);
	put(&path, w->link.name);
	return try_path(f, w, &path);
}

static bool find(struct object_file *f, const struct wanted *w)
{
	return find_by_id(f, w) || find_by_name(f, w, "", "") || find_by_name(f, w, "", ".debug/") ||
	       find_by_name(f, w, DEBUG_DIRECTORY, "");
}

const struct object_file *debug_file(const struct object_file *f, const char *path)
{
	static struct {
		char of[PATH_ROOM];
		struct object_file file;
		bool is_found;
	} last;
	const struct wanted w = { path, build_id(f), debug_link(f) };

	if (strnlen(path, sizeof(last.of)) == sizeof(last.of))
		return NULL;
	if (strcmp(path, last.of)) {
		if (last.is_found)
			object_close(&last.file);
		strcpy(last.of, path);
		last.is_found = find(&last.file, &w);
	}
	return last.is_found ? &last.file : NULL;
}
