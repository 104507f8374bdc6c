/* SPDX-License-Identifier: MIT
 *
 * text.h - lines put together without stdio, which has locks of its own
 *
 * What does not fit is cut off.
 */
#ifndef PRELOAD_TEXT_H
#define PRELOAD_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *to;
	size_t room, used; /* used < room: there is always place for the zero byte */
};

static inline void put_char(struct text *t, char c)
{
	if (t->used + 1 >= t->room)
		return;
	t->to[t->used++] = c;
	t->to[t->used] = '\0';
}

static inline void put(struct text *t, const char *s)
{
	while (*s)
		put_char(t, *s++);
}

static inline void put_based(struct text *t, uint64_t n, unsigned int base)
{
	char digits[24];
	int i = 0;

	do {
		digits[i++] = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	while (i)
		put_char(t, digits[--i]);
}

static inline void put_number(struct text *t, uint64_t n)
{
	put_based(t, n, 10);
}

static inline void put_hex(struct text *t, uint64_t n)
{
	put(t, "0x");
	put_based(t, n, 16);
}

/* n / 10^digits, with so many digits behind the point. */
static inline void put_decimal(struct text *t, uint64_t n, int digits)
{
	uint64_t unit = 1;

	for (int i = 0; i < digits; i++)
		unit *= 10;
	put_number(t, n / unit);
	if (digits)
		put_char(t, '.');
	for (n %= unit; unit /= 10; n %= unit)
		put_char(t, (char)('0' + n / unit));
}

/* Three digits that count, and the unit: "0", "812 ns", "13.1 us", "2.00 s". */
static inline void put_ns(struct text *t, uint64_t ns)
{
	static const char *const units[] = { " ns", " us", " ms", " s" };
	uint64_t scaled = ns * 100; /* of the unit, in hundredths: good for 5,000 years */
	int unit = 0, digits;

	if (!ns) {
		put(t, "0");
		return;
	}
	for (; scaled >= 100000 && unit < 3; unit++)
		scaled /= 1000;
	digits = !unit || scaled >= 10000 ? 0 : scaled >= 1000 ? 1 : 2;
	for (int i = digits; i < 2; i++)
		scaled /= 10;
	put_decimal(t, scaled, digits);
	put(t, units[unit]);
}

/* What was put since `from` is moved to the right, so that it is `width` wide. */
static inline void align_right(struct text *t, size_t from, size_t width)
{
	size_t n = t->used - from, pad = n < width ? width - n : 0;

	for (size_t i = 0; i < pad; i++)
		put_char(t, ' ');
	if (t->used - from != n + pad)
		return;
	for (size_t i = n; i--;)
		t->to[from + pad + i] = t->to[from + i];
	for (size_t i = 0; i < pad; i++)
		t->to[from + i] = ' ';
}

/* The same to the left. */
static inline void align_left(struct text *t, size_t from, size_t width)
{
	while (t->used - from < width && t->used + 1 < t->room)
		put_char(t, ' ');
}

#endif
