/* SPDX-License-Identifier: MIT
 *
 * strip.c - see strip.h
 */
#include "strip.h"

#include <stdlib.h>
#include <unistd.h>

#define NOBODY TASKS_MAX

static unsigned changes_in(const uint16_t *owners, size_t n)
{
	unsigned changes = 0;

	for (size_t i = 1; i < n; i++)
		changes += owners[i] != owners[i - 1];
	return changes;
}

/* The median over all windows, by counting: there are only STRIP_WIDTH possible values. */
static unsigned median_changes(const struct history *h)
{
	size_t windows = h->count / STRIP_WIDTH, count[STRIP_WIDTH] = { 0 }, below = 0;
	unsigned changes = 0;

	for (size_t w = 0; w < windows; w++)
		count[changes_in(h->owners + w * STRIP_WIDTH, STRIP_WIDTH)]++;
	for (; changes < STRIP_WIDTH - 1; changes++) {
		below += count[changes];
		if (2 * below >= windows)
			break;
	}
	return changes;
}

/* Where the window starts; there is at least one. Looks outwards from the middle. */
static size_t typical_window(const struct history *h)
{
	size_t windows = h->count / STRIP_WIDTH, middle = windows / 2;
	unsigned median = median_changes(h);

	for (size_t d = 0; d <= windows; d++) {
		size_t up = middle + d, down = middle - d;

		if (up < windows && changes_in(h->owners + up * STRIP_WIDTH, STRIP_WIDTH) == median)
			return up * STRIP_WIDTH;
		if (d <= middle && down < windows && changes_in(h->owners + down * STRIP_WIDTH, STRIP_WIDTH) == median)
			return down * STRIP_WIDTH;
	}
	return 0;
}

/* Who has more than half of it. By the Boyer-Moore vote the candidate is the only one that can, and then it is
 * counted. */
static unsigned majority(const uint16_t *owners, size_t n)
{
	unsigned candidate = NOBODY;
	size_t margin = 0, has = 0;

	for (size_t i = 0; i < n; i++) {
		if (!margin)
			candidate = owners[i];
		margin = owners[i] == candidate ? margin + 1 : margin - 1;
	}
	for (size_t i = 0; i < n; i++)
		has += owners[i] == candidate;
	return 2 * has > n ? candidate : NOBODY;
}

static char name_of(unsigned owner)
{
	static const char names[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (owner == NOBODY)
		return '.';
	return owner < sizeof names - 1 ? names[owner] : '+';
}

/* Black on one of six colours; set only where the owner changes. */
static void put_strip(FILE *out, const uint16_t *owners, size_t step, bool colour)
{
	unsigned last = NOBODY;

	for (unsigned i = 0; i < STRIP_WIDTH; i++) {
		unsigned owner = majority(owners + i * step, step);

		if (colour && owner != last && owner == NOBODY)
			fputs("\033[0m", out);
		else if (colour && owner != last)
			fprintf(out, "\033[30;4%um", 1 + owner % 6);
		putc(name_of(owner), out);
		last = owner;
	}
	fputs(colour ? "\033[0m\n" : "\n", out);
}

void strip_print(FILE *out, char lock, const struct history *h, bool colour)
{
	size_t start, step = h->count / STRIP_WIDTH < STRIP_WIDTH ? h->count / STRIP_WIDTH : STRIP_WIDTH;

	if (h->count < STRIP_WIDTH) {
		fprintf(out, "%c  fewer than %u acquisitions\n", lock, STRIP_WIDTH);
		return;
	}
	if (h->dropped)
		fprintf(out, "%c  the first %zu acquisitions; %llu more are not in the numbers about runs\n", lock,
			h->count, (unsigned long long)h->dropped);
	start = typical_window(h);
	fprintf(out, "%c  each   1 ", lock);
	put_strip(out, h->owners + start, 1, colour);
	start = start + step * STRIP_WIDTH <= h->count ? start : h->count - step * STRIP_WIDTH;
	fprintf(out, "   each %3zu ", step);
	put_strip(out, h->owners + start, step, colour);
}

bool strip_has_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR");

	return isatty(fileno(out)) && (!no || !*no);
}

void history_print(FILE *out, const struct config *cf, const struct summary *s)
{
	const struct history *h = &s->history;
	size_t length;

	fprintf(out, "# ulockflex history 1\n");
	fprintf(out,
		"# lock %c, tasks %u, locks %u (this is the first), seconds %g, r %g, x %g, %s, placed %s, seed %llu\n",
		s->kind->letter, cf->tasks, cf->locks, cf->seconds, cf->r, cf->x,
		cf->processes ? "processes" : "threads", place_names[cf->place], (unsigned long long)cf->seed);
	fprintf(out, "# acquisitions %zu, and %llu more after the table was full\n", h->count,
		(unsigned long long)h->dropped);
	fprintf(out, "# acquisition [ how often in a row, if more than once ]: task\n");
	for (size_t i = 0; i < h->count; i += length) {
		for (length = 1; i + length < h->count && h->owners[i + length] == h->owners[i];)
			length++;
		if (length > 1)
			fprintf(out, "%zu [ %zu ]: %u\n", i, length, h->owners[i]);
		else
			fprintf(out, "%zu : %u\n", i, h->owners[i]);
	}
}
