/* SPDX-License-Identifier: MIT
 *
 * find.c - where the files are that belong to this command: in the build tree, beside it, or where they were to be installed
 */
#define _GNU_SOURCE
#include "tool.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const char *path)
{
	return !access(path, R_OK);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Takes the last component off. False if there is none. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool try_path(char out[PATH_MAX], const char *dir, const char *sub, const char *name)
{
	int n = snprintf(out, PATH_MAX, "%s/%s/%s", dir, sub, name);

	return n > 0 && n < PATH_MAX && is_there(out);
}

/* In the build tree the command is TREE/tools/nlock or, by libtool's way, TREE/tools/.libs/nlock. */
static bool find_in_build_tree(char out[PATH_MAX], const char *own_dir, const char *name, const char *const *dirs)
{
	char tree[PATH_MAX];

	strcpy(tree, own_dir);
	if (ends_with(tree, "/.libs"))
		go_up(tree);
	if (!ends_with(tree, "/tools") || !go_up(tree))
		return false;
	for (; *dirs; dirs++) {
		if (try_path(out, tree, *dirs, name))
			return true;
	}
	return false;
}

/* The number of bytes that two paths have in common, whole components only. */
static size_t common_prefix(const char *a, const char *b)
{
	size_t common = 0;

	for (size_t i = 0; a[i] == b[i]; i++) {
		if (a[i] == '/' || !a[i])
			common = i;
		if (!a[i])
			break;
	}
	return common;
}

/* Wherever the tree was moved to: from BINDIR to where else it was installed it is as far as it was when the two were chosen. */
static bool find_beside_bindir(char out[PATH_MAX], const char *own_dir, const char *name, const char *dir)
{
	size_t common = common_prefix(BINDIR, dir);
	const char *bin = &BINDIR[common];
	char prefix[PATH_MAX];

	if (!ends_with(own_dir, bin))
		return false;
	strcpy(prefix, own_dir);
	prefix[strlen(prefix) - strlen(bin)] = '\0';
	return try_path(out, prefix, &dir[common + 1], name);
}

bool find_own_file(char *out, const char *name, const char *const *in_tree, const char *installed)
{
	char own_dir[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own_dir, sizeof(own_dir) - 1);

	own_dir[n > 0 ? n : 0] = '\0';
	if (n > 0 && go_up(own_dir) &&
	    (find_in_build_tree(out, own_dir, name, in_tree) || find_beside_bindir(out, own_dir, name, installed)))
		return true;
	return try_path(out, installed, ".", name);
}
