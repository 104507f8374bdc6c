/* SPDX-License-Identifier: MIT
 *
 * pack.c - writes the archive that a Linux kernel unpacks as its first file system
 *
 *	pack DIRECTORY >ARCHIVE     what is in the directory, links as links
 *
 * The format is "newc" of cpio(1), which is not installed everywhere: a header of 13 numbers of 8 hexadecimal digits, the name with
 * its 0, the contents; header with name, and contents, are filled up to a multiple of 4 bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned int entries;

static void fill(size_t written)
{
	while (written++ % 4)
		putchar(0);
}

static void header(const char *name, unsigned int mode, size_t size)
{
	const size_t n = strlen(name) + 1;

	/* magic, number, mode, owner, group, links, time, size, 4 of devices, length of the name, sum */
	printf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", ++entries, mode, 0, 0, 1, 0,
	       (unsigned int)size, 0, 0, 0, 0, (unsigned int)n, 0);
	fwrite(name, 1, n, stdout);
	fill(6 + 13 * 8 + n);
}

static int contents(const char *path, size_t size)
{
	char block[65536];
	size_t n, written = 0;
	FILE *f = fopen(path, "rb");

	while (f && (n = fread(block, 1, sizeof(block), f)) > 0) {
		fwrite(block, 1, n, stdout);
		written += n;
	}
	if (!f || fclose(f) || written != size)
		return -1;
	fill(size);
	return 0;
}

static int entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	char target[4096];
	ssize_t n;

	if (!ftw->level)
		return 0;
	if (kind == FTW_F || kind == FTW_D)
		header(path + 2, st->st_mode, kind == FTW_F ? (size_t)st->st_size : 0);
	if (kind == FTW_D)
		return 0;
	if (kind == FTW_F)
		return contents(path, (size_t)st->st_size);
	n = readlink(path, target, sizeof(target));
	if (kind != FTW_SL || n < 0)
		return -1;
	header(path + 2, st->st_mode, (size_t)n);
	fwrite(target, 1, (size_t)n, stdout);
	fill((size_t)n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: pack DIRECTORY >ARCHIVE\n");
		return 2;
	}
	if (chdir(argv[1]) || nftw(".", entry, 16, FTW_PHYS)) {
		fprintf(stderr, "pack: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	header("TRAILER!!!", 0, 0);
	return fflush(stdout) || ferror(stdout);
}
