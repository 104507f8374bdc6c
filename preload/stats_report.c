/* SPDX-License-Identifier: MIT
 *
 * stats_report.c - what was counted, when the process ends
 *
 * At exit other threads may still run, and hold any lock: nothing here takes one, allocates, or uses stdio. The whole report
 * is put together first and written by one write(2) at the end of the file, so that the reports of several processes
 * do not mix. A process that used no lock reports nothing. Neither does one that ends by anything but exit() or a return from
 * main: _exit, quick_exit, a signal, exec.
 *
 * A child of fork begins at zero. A set-user-ID program finds no NLOCK_STATS, and says nothing.
 */
#include "stats_table.h"
#include "symbols.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nlock.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HIGH_FD 200 /* out of the way of programs that reckon with the lowest free ones */

static struct {
	bool is_wanted;
	char file[PATH_MAX];  /* empty: standard error */
	int fd;               /* the file, or a second number of standard error; -1: it could not be opened */
	struct stat output;   /* and what it was at first */
	nlock_stats_t before; /* the library's counts when this process began */
} self;

/* ---------------------------------------------------------------- sums */

struct sum {
	uint64_t objects, acquired, contended, waited, longest;
};

/* Another thread may be counting: a count may be newer than the one before it, but never torn. */
static uint64_t get(const uint64_t *n)
{
	return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static void add(struct sum *s, const struct stat_object *o)
{
	uint64_t longest = get(&o->longest);

	s->acquired += get(&o->acquired);
	s->contended += get(&o->contended);
	s->waited += get(&o->waited);
	if (longest > s->longest)
		s->longest = longest;
}

static void sum_up(struct sum sums[STAT_FAMILIES])
{
	for (size_t i = 0; i < STAT_OBJECTS; i++) {
		const struct stat_object *o = &stat_table.object[i];

		if (!get(&o->key))
			continue;
		sums[stat_family(o)].objects++;
		add(&sums[stat_family(o)], o);
	}
	for (int family = 0; family < STAT_FAMILIES; family++)
		add(&sums[family], &stat_table.rest[family]);
}

/* ---------------------------------------------------------------- the table of kinds */

static const char *const names[STAT_FAMILIES] = { [STAT_MUTEX] = "mutex",
						  [STAT_RECURSIVE] = "recursive mutex",
						  [STAT_ERRORCHECK] = "error-checking mutex",
						  [STAT_ADAPTIVE] = "adaptive mutex",
						  [STAT_RWLOCK] = "rwlock",
						  [STAT_SEM] = "semaphore",
						  [STAT_COND] = "condition variable",
						  [STAT_BARRIER] = "barrier" };

static void put_count(struct text *t, uint64_t n, size_t width)
{
	size_t from = t->used;

	put_number(t, n);
	align_right(t, from, width);
}

static void put_time(struct text *t, uint64_t ns, size_t width)
{
	size_t from = t->used;

	put_ns(t, ns);
	align_right(t, from, width);
}

static void put_name(struct text *t, enum stat_family family, size_t width)
{
	size_t from = t->used;

	put(t, names[family]);
	align_left(t, from, width);
}

/* Waiting is what the others are for. */
static bool is_a_lock(enum stat_family family)
{
	return family != STAT_COND && family != STAT_BARRIER;
}

/* Of the calls that wanted a lock, those that had to wait: in hundredths of a per cent. */
static void put_share(struct text *t, enum stat_family family, const struct sum *s, size_t width)
{
	uint64_t most = s->contended > s->acquired ? s->contended : s->acquired;
	size_t from = t->used;

	if (is_a_lock(family)) {
		put_decimal(t, most ? s->contended * 10000 / most : 0, 2);
		put(t, " %");
	} else {
		put(t, "-");
	}
	align_right(t, from, width);
}

static void put_kinds(struct text *t, const struct sum sums[STAT_FAMILIES])
{
	put(t, "  kind                  objects     acquired    contended    share    waited   longest\n");
	for (int family = 0; family < STAT_FAMILIES; family++) {
		const struct sum *s = &sums[family];

		if (!s->objects && !s->acquired && !s->contended)
			continue;
		put(t, "  ");
		put_name(t, (enum stat_family)family, 20);
		put_count(t, s->objects, 9);
		put_count(t, s->acquired, 13);
		put_count(t, s->contended, 13);
		put_share(t, (enum stat_family)family, s, 9);
		put_time(t, s->waited, 10);
		put_time(t, s->longest, 10);
		put(t, "\n");
	}
}

/* ---------------------------------------------------------------- how locks were handed over */

static void put_part(struct text *t, const char *before, uint64_t n, const char *after)
{
	put(t, before);
	put_number(t, n);
	put(t, after);
}

static void put_hand_over(struct text *t)
{
	nlock_stats_t s;

	if (nlock_stats(&s))
		return;
	put_part(t, "  hand-off: ", s.grants - self.before.grants, " grants");
	put_part(t, ", ", s.waited - self.before.waited, " taken open by a waiter");
	put_part(t, ", ", s.barges - self.before.barges, " past the head");
	put_part(t, " (at most ", s.bypass_max, " past one)");
	put_part(t, "; ", s.sleeps - self.before.sleeps, " sleeps");
	put_part(t, ", ", s.wakes - self.before.wakes, " wakes\n");
}

/* ---------------------------------------------------------------- the most contended objects */

#define TOP 10

struct top {
	const struct stat_object *object[TOP];
	uint64_t contended[TOP]; /* as it was when it was chosen: it may go on growing */
	size_t n;
};

static void consider(struct top *top, const struct stat_object *o)
{
	uint64_t contended = get(&o->contended);
	size_t at = top->n;

	if (!contended || (top->n == TOP && top->contended[TOP - 1] >= contended))
		return;
	if (top->n < TOP)
		top->n++;
	else
		at--;
	for (; at && top->contended[at - 1] < contended; at--) {
		top->object[at] = top->object[at - 1];
		top->contended[at] = top->contended[at - 1];
	}
	top->object[at] = o;
	top->contended[at] = contended;
}

static void put_object(struct text *t, const struct top *top, size_t i, const struct place *at,
		       const struct place *caller)
{
	const struct stat_object *o = top->object[i];

	put_count(t, top->contended[i], 11);
	put_count(t, get(&o->acquired), 13);
	put_time(t, get(&o->waited), 10);
	put_time(t, get(&o->longest), 10);
	put(t, "  ");
	put_name(t, stat_family(o), 0);
	put(t, " ");
	put_place(t, at);
	if (caller->address) {
		put(t, ", first used by ");
		put_place(t, caller);
	}
	put(t, "\n");
}

static void put_top(struct text *t)
{
	static struct place places[2 * TOP];
	static struct top top;

	for (size_t i = 0; i < STAT_OBJECTS; i++) {
		if (get(&stat_table.object[i].key) && is_a_lock(stat_family(&stat_table.object[i])))
			consider(&top, &stat_table.object[i]);
	}
	if (!top.n)
		return;
	for (size_t i = 0; i < top.n; i++) {
		places[2 * i].address = stat_address(top.object[i]);
		places[2 * i + 1].address = get(&top.object[i]->caller);
	}
	places_find(places, 2 * top.n);
	put(t, "  contended     acquired    waited   longest  object\n");
	for (size_t i = 0; i < top.n; i++)
		put_object(t, &top, i, &places[2 * i], &places[2 * i + 1]);
}

/* ---------------------------------------------------------------- the whole */

static void put_report(struct text *t)
{
	static struct sum sums[STAT_FAMILIES];
	uint64_t used = 0, unlisted = 0;

	sum_up(sums);
	for (int family = 0; family < STAT_FAMILIES; family++) {
		used += sums[family].acquired + sums[family].contended;
		unlisted += get(&stat_table.rest[family].acquired) + get(&stat_table.rest[family].contended);
	}
	if (!used)
		return;
	put_part(t, "nlock: process ", (uint64_t)getpid(), ", ");
	put(t, program_invocation_short_name);
	put(t, "\n");
	put_kinds(t, sums);
	if (unlisted)
		put_part(t, "  the table was full: ", unlisted,
			 " calls were on objects that are not among those counted\n");
	put_hand_over(t);
	put_top(t);
}

static bool is_still_it(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_dev == self.output.st_dev && st.st_ino == self.output.st_ino;
}

/* A pipe that nobody reads is not waited for. */
static int open_file(void)
{
	int fd = open(self.file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

/* The program may have closed every descriptor, and the numbers may by now belong to something that wants no report. */
static int find_output(void)
{
	if (is_still_it(self.fd))
		return self.fd;
	if (self.file[0])
		return open_file();
	return is_still_it(STDERR_FILENO) ? STDERR_FILENO : -1;
}

static void write_all(int fd, const char *from, size_t n)
{
	while (n) {
		ssize_t written = write(fd, from, n);

		if (written < 0 && errno != EINTR)
			return;
		from += written > 0 ? written : 0;
		n -= written > 0 ? (size_t)written : 0;
	}
}

/* A report that nobody reads, or for which there is no room, must not change how the process ends. */
static void write_quietly(int fd, const char *from, size_t n)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t deadly, old, pending;

	sigemptyset(&deadly);
	sigaddset(&deadly, SIGPIPE);
	sigaddset(&deadly, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &deadly, &old);
	write_all(fd, from, n);
	while (!sigismember(&pending, SIGPIPE) && !sigismember(&pending, SIGXFSZ) &&
	       sigtimedwait(&deadly, NULL, &at_once) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void report(void) __attribute__((destructor));

static void report(void)
{
	static char bytes[32768];
	struct text t = { .to = bytes, .room = sizeof(bytes) };
	int fd, state;

	if (!self.is_wanted)
		return;
	self.is_wanted = false;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	put_report(&t);
	fd = t.used ? find_output() : -1;
	if (fd >= 0)
		write_quietly(fd, bytes, t.used);
	pthread_setcancelstate(state, &state);
}

/* What the parent did is the parent's to report. The pages of the table are given back, which makes them zero. */
static void begin_child(void)
{
	int rc = nlock_stats(&self.before);

	(void)rc; /* ENOTSUP: then all stays zero, and is not reported */
	if (madvise(&stat_table, sizeof(stat_table), MADV_DONTNEED))
		memset(&stat_table, 0, sizeof(stat_table));
}

/* Out of the program's way, and not handed on to others. -1: there is no room. */
static int second_number(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	return high >= 0 ? high : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The file is opened now, since a program may give up the right to open it, or the directory that it is in. Standard error is kept,
 * since many programs close it as the last thing they do, to see whether all could be written. */
static bool keep_output(void)
{
	int fd = self.file[0] ? open_file() : STDERR_FILENO;

	self.fd = second_number(fd);
	if (self.file[0] && fd >= 0)
		close(fd);
	return self.fd >= 0 && !fstat(self.fd, &self.output);
}

static void begin(void) __attribute__((constructor));

static void begin(void)
{
	const char *file = secure_getenv("NLOCK_STATS");
	size_t n = file ? strnlen(file, sizeof(self.file)) : 0;

	if (!n || n == sizeof(self.file))
		return;
	if (strcmp(file, "-"))
		memcpy(self.file, file, n + 1);
	if (!keep_output() && !self.file[0])
		return;
	self.is_wanted = true;
	pthread_atfork(NULL, NULL, begin_child);
}
