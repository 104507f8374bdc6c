/* SPDX-License-Identifier: MIT
 *
 * debug_file.h - the file that holds the symbols of a stripped one
 */
#ifndef PRELOAD_DEBUG_FILE_H
#define PRELOAD_DEBUG_FILE_H

#include "object_file.h"

/* The debug file that belongs to f, whose path is given, and has a table of symbols; or NULL. It is good until the next call. */
const struct object_file *debug_file(const struct object_file *f, const char *path);

#endif
