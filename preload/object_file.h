/* SPDX-License-Identifier: MIT
 *
 * object_file.h - an ELF file on the disk, read without trusting it
 *
 * Whatever it says of itself may be wrong: what these functions hand out lies inside the file.
 */
#ifndef PRELOAD_OBJECT_FILE_H
#define PRELOAD_OBJECT_FILE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object_file {
	const char *bytes;
	size_t size;
};

/* Maps a regular file, of whatever format, or returns false. */
bool object_open(const char *path, struct object_file *f);
void object_close(const struct object_file *f);

/* Its program headers, and how many; NULL: no ELF file of this machine's size, or none that can be read. */
const ElfW(Phdr) * object_segments(const struct object_file *f, size_t *n);

/* The first section of that type, and of that name if it is not NULL, whose contents are in the file; or NULL. */
const ElfW(Shdr) * object_section(const struct object_file *f, uint32_t type, const char *name);

/* The section whose number another one has as its link; or NULL. */
const ElfW(Shdr) * object_linked(const struct object_file *f, const ElfW(Shdr) * from);

#endif
