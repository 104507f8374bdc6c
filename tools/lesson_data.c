/* SPDX-License-Identifier: MIT
 *
 * lesson_data.c - what the experiments wrote: the tables and histories of each, and the index of the directory
 *
 * The tables are those of `-f tsv': a line whose first field is "exp" names the columns of the lines that follow; lines with "#" are
 * for people. Columns are found by name, so that a program may add some. What cannot be read is as if it had not been measured.
 */
#include "lesson.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

#define COLUMNS_MAX 128
#define TASKS_MAX   65535u

/* ---------------------------------------------------------------- files */

static bool is_path(char path[PATH_MAX], const char *dir, const char *name, const char *suffix)
{
	int n = snprintf(path, PATH_MAX, "%s/%s%s", dir, name, suffix);

	return n > 0 && n < PATH_MAX;
}

/* The whole of a file, with a zero behind it. NULL if it is not there, or too large for the memory. */
static char *read_all(const char *dir, const char *name, const char *suffix)
{
	char path[PATH_MAX], *text = NULL;
	long size;
	FILE *f = is_path(path, dir, name, suffix) ? fopen(path, "re") : NULL;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET))
		text = calloc(1, (size_t)size + 1);
	if (text && fread(text, 1, (size_t)size, f) != (size_t)size) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

/* Cuts the next line off *text. NULL at the end. */
static char *next_line(char **text)
{
	char *line = *text, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	*text = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

/* ---------------------------------------------------------------- tables */

/* Fields of a line, cut apart; an array that ends with NULL. NULL: no memory. */
static char **cut(char *line, size_t *count)
{
	char **fields = calloc(COLUMNS_MAX + 1, sizeof *fields), *tab;

	for (*count = 0; fields && line && *count < COLUMNS_MAX; line = tab ? tab + 1 : NULL) {
		tab = strchr(line, '\t');
		if (tab)
			*tab = '\0';
		fields[(*count)++] = line;
	}
	return fields;
}

static bool add_row(struct outcome *o, char **names, size_t named, char **values, size_t count)
{
	struct row *rows = realloc(o->rows, (o->row_count + 1) * sizeof *rows);

	if (!rows)
		return false;
	o->rows = rows;
	o->rows[o->row_count++] = (struct row){
		.table = values[0],
		.names = names,
		.values = values,
		.fields = named < count ? named : count,
	};
	return true;
}

/* A head is a row, too, of the table "exp": it has the names of the columns, which the rows that follow share. */
static int read_rows(struct outcome *o)
{
	char *rest = o->text, *line, **names = NULL;
	size_t named = 0, count;

	while ((line = next_line(&rest))) {
		char **fields;

		if (*line == '#' || !*line)
			continue;
		fields = cut(line, &count);
		if (!fields)
			return ENOMEM;
		if (!strcmp(fields[0], "exp")) {
			names = fields;
			named = count;
		}
		if (!names || !add_row(o, names, named, fields, count))
			free(fields);
	}
	return 0;
}

/* ---------------------------------------------------------------- histories */

/* "12 [ 34 ]: 5" or "12 : 5": 34 times, or once, task 5. */
static bool parse_turn(const char *line, unsigned long *times, unsigned long *owner)
{
	unsigned long at;

	*times = 1;
	return sscanf(line, "%lu [ %lu ]: %lu", &at, times, owner) == 3 || sscanf(line, "%lu : %lu", &at, owner) == 2;
}

static bool grow(struct history *h, size_t *room, size_t more)
{
	uint16_t *owners;

	if (h->count + more <= *room)
		return true;
	*room = 2 * (h->count + more);
	owners = realloc(h->owners, *room * sizeof *owners);
	if (owners)
		h->owners = owners;
	return owners;
}

static struct history *begin_history(struct outcome *o, const char *line)
{
	struct history *all, *h;
	unsigned tasks;
	char lock;

	if (sscanf(line, "# lock %c, tasks %u", &lock, &tasks) != 2)
		return NULL;
	all = realloc(o->histories, (o->history_count + 1) * sizeof *all);
	if (!all)
		return NULL;
	o->histories = all;
	h = &all[o->history_count++];
	*h = (struct history){ .lock = lock, .tasks = tasks };
	return h;
}

static void read_histories(struct outcome *o, char *text)
{
	struct history *h = NULL;
	char *rest = text, *line;
	size_t room = 0;

	while ((line = next_line(&rest))) {
		unsigned long times, owner;

		if (!strncmp(line, "# lock ", 7)) {
			h = begin_history(o, line);
			room = 0;
		}
		if (*line == '#' || !h || !parse_turn(line, &times, &owner) || owner > TASKS_MAX ||
		    !grow(h, &room, times))
			continue;
		while (times--)
			h->owners[h->count++] = (uint16_t)owner;
	}
}

/* ---------------------------------------------------------------- the index */

static struct outcome *named(const struct lab *lab, const char *id)
{
	for (size_t i = 0; i < experiment_count; i++) {
		if (!strcmp(experiments[i].id, id))
			return &lab->outcomes[i];
	}
	return NULL;
}

static void read_machine(struct machine *m, char *text)
{
	char *rest = text, *line;

	while ((line = next_line(&rest))) {
		char *value = strchr(line, '\t');

		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(line, "date"))
			snprintf(m->date, sizeof m->date, "%s", value);
		else if (!strcmp(line, "kernel"))
			snprintf(m->kernel, sizeof m->kernel, "%s", value);
		else if (!strcmp(line, "nlock"))
			snprintf(m->version, sizeof m->version, "%s", value);
		else if (!strcmp(line, "profile"))
			snprintf(m->profile, sizeof m->profile, "%s", value);
		else if (!strcmp(line, "cpus"))
			m->cpus = (unsigned)strtoul(value, NULL, 10);
		else if (!strcmp(line, "nodes"))
			m->nodes = (unsigned)strtoul(value, NULL, 10);
	}
}

/* id, exit code, effective CPUs, seconds, command, what it said. */
static void read_index_line(const struct lab *lab, char *line)
{
	size_t count;
	char **f = cut(line, &count);
	struct outcome *o = f && count == 6 ? named(lab, f[0]) : NULL;

	if (o) {
		o->has_run = true;
		o->code = (int)strtol(f[1], NULL, 10);
		o->cpus = strtod(f[2], NULL);
		o->took = strtod(f[3], NULL);
		snprintf(o->command, sizeof o->command, "%s", f[4]);
		snprintf(o->said, sizeof o->said, "%s", f[5]);
	}
	free(f);
}

int lab_read_index(struct lab *lab, const char *dir)
{
	char *machine = read_all(dir, "machine", ".tsv"), *index = read_all(dir, "experiments", ".tsv");
	char *rest = index, *line;

	lab->dir = dir;
	lab->outcomes = calloc(experiment_count, sizeof *lab->outcomes);
	if (machine)
		read_machine(&lab->machine, machine);
	while (lab->outcomes && (line = next_line(&rest)))
		read_index_line(lab, line);
	free(machine);
	free(index);
	return lab->outcomes ? machine && index ? 0 : ENOENT : ENOMEM;
}

static int close_whole(FILE *f)
{
	bool failed = ferror(f);

	return fclose(f) || failed ? EIO : 0;
}

static int write_machine(const struct lab *lab)
{
	const struct machine *m = &lab->machine;
	char path[PATH_MAX];
	FILE *f = is_path(path, lab->dir, "machine", ".tsv") ? fopen(path, "we") : NULL;

	if (!f)
		return errno;
	fprintf(f, "date\t%s\nkernel\t%s\nnlock\t%s\nprofile\t%s\n", m->date, m->kernel, m->version, m->profile);
	fprintf(f, "cpus\t%u\nnodes\t%u\n", m->cpus, m->nodes);
	return close_whole(f);
}

int lab_write_index(const struct lab *lab)
{
	char path[PATH_MAX];
	int err = write_machine(lab);
	FILE *f = !err && is_path(path, lab->dir, "experiments", ".tsv") ? fopen(path, "we") : NULL;

	if (!f)
		return err ? err : errno;
	for (size_t i = 0; i < experiment_count; i++) {
		const struct outcome *o = &lab->outcomes[i];

		if (o->has_run)
			fprintf(f, "%s\t%d\t%.2f\t%.1f\t%s\t%s\n", experiments[i].id, o->code, o->cpus, o->took,
				o->command, o->said);
	}
	return close_whole(f);
}

/* ---------------------------------------------------------------- all of it */

int lab_read(struct lab *lab, const char *dir)
{
	int err = lab_read_index(lab, dir);

	for (size_t i = 0; !err && i < experiment_count; i++) {
		struct outcome *o = &lab->outcomes[i];
		char *text;

		if (!o->has_run)
			continue;
		o->text = read_all(dir, experiments[i].id, ".tsv");
		if (o->text)
			err = read_rows(o);
		text = read_all(dir, experiments[i].id, ".history");
		if (text)
			read_histories(o, text);
		free(text);
	}
	return err;
}

/* The names are the values of a head. */
static void free_rows(struct outcome *o)
{
	for (size_t i = 0; i < o->row_count; i++)
		free(o->rows[i].values);
	free(o->rows);
	free(o->text);
}

void lab_free(struct lab *lab)
{
	for (size_t i = 0; lab->outcomes && i < experiment_count; i++) {
		struct outcome *o = &lab->outcomes[i];

		free_rows(o);
		for (size_t k = 0; k < o->history_count; k++)
			free(o->histories[k].owners);
		free(o->histories);
	}
	free(lab->outcomes);
	lab->outcomes = NULL;
}

const struct outcome *lab_find(const struct lab *lab, const char *id)
{
	const struct outcome *o = named(lab, id);

	return o && o->has_run ? o : NULL;
}

const char *row_text(const struct row *row, const char *column)
{
	for (size_t i = 0; row && i < row->fields; i++) {
		if (!strcmp(row->names[i], column))
			return row->values[i];
	}
	return "-";
}

double row_number(const struct row *row, const char *column)
{
	const char *text = row_text(row, column);
	char *end;
	double v = strtod(text, &end);

	return end != text && !*end ? v : NAN;
}

const struct row *outcome_row(const struct outcome *o, const char *table, char lock)
{
	for (size_t i = 0; o && i < o->row_count; i++) {
		const char *is = row_text(&o->rows[i], "lock");

		if (!strcmp(o->rows[i].table, table) && (!lock || (is[0] == lock && !is[1])))
			return &o->rows[i];
	}
	return NULL;
}

double lab_value(const struct lab *lab, const char *id, char lock, const char *column)
{
	return row_number(outcome_row(lab_find(lab, id), "ulockflex", lock), column);
}

double lab_ratio(const struct lab *lab, const char *id, char above, char below)
{
	return ratio(lab_value(lab, id, above, "thput"), lab_value(lab, id, below, "thput"));
}

const struct history *outcome_history(const struct outcome *o, char lock)
{
	for (size_t i = 0; o && i < o->history_count; i++) {
		if (o->histories[i].lock == lock && o->histories[i].count)
			return &o->histories[i];
	}
	return NULL;
}

bool is_busy(double effective, unsigned cpus)
{
	return !(effective >= 0.8 * cpus);
}
