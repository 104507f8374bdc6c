/* SPDX-License-Identifier: MIT
 *
 * lesson.h - `nlock report': the experiments about lock hand-off, what was published about them, and this machine
 *
 * Two steps, which meet in files. The first runs programs of examples/handoff, and leaves their tables in a directory
 * (lesson_run.c). The second reads the directory and writes one page (lesson_page.c): so a page can be made again, from an old
 * run or from another machine's.
 *	lesson_profile.c    which programs are run, and for how long
 *	lesson_data.c       what they wrote, by experiment, lock and column
 *	lesson_claims.c     what is claimed about it, and whether it holds here
 *	lesson_figures.c    pictures of it; lesson_svg.c draws them
 *	lesson_tables.c     the published numbers beside this machine's
 *
 * The pictures are drawn here and not by gnuplot: each must have a title and a text that says the same in words, take its colours
 * from the page, so that it is right on dark paper, be legible on a phone, and come out alike on a machine that has nothing but
 * nlock. That is a few functions, and gnuplot's output would have to be edited for all of it.
 */
#ifndef LESSON_H
#define LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---------------------------------------------------------------- what is run */

enum profile { PROFILE_QUICK, PROFILE_FULL, PROFILES };

struct experiment {
	const char *id;      /* also the names of its files */
	const char *program; /* of examples/handoff */
	/* Separated by blanks. %T: seconds of a run, %P: the CPUs, %Q: one more, %H: the file for histories. */
	const char *arguments;
	double run[PROFILES];   /* %T; 0: this profile does without */
	double takes[PROFILES]; /* about so many seconds in all */
	const char *says;       /* what it is */
};

extern const struct experiment experiments[];
extern const size_t experiment_count;

/* ---------------------------------------------------------------- what came out */

/* A row of a table: what the program printed, cut into fields. */
struct row {
	const char *table; /* the first field */
	char **names, **values;
	size_t fields;
};

/* The owners of a lock in the order in which they had it. */
struct history {
	char lock;
	unsigned tasks;
	uint16_t *owners;
	size_t count;
};

struct outcome {
	bool has_run;
	int code;                     /* what the program returned; 77: something is missing here */
	double took, cpus;            /* seconds; effective CPUs, the least of before and after */
	char command[256], said[256]; /* `said`: the first line on standard error */
	char *text;                   /* rows point into it */
	struct row *rows;
	size_t row_count;
	struct history *histories;
	size_t history_count;
};

struct machine {
	char date[32], kernel[128], version[32], profile[16];
	unsigned cpus, nodes;
};

struct lab {
	const char *dir;
	struct machine machine;
	struct outcome *outcomes; /* one for each of experiments[] */
};

/* Reads what is in `dir` and belongs to outcomes with has_run. 0 or an errno value. */
int lab_read(struct lab *lab, const char *dir);
void lab_free(struct lab *lab);

/* What is known about how the experiments went, without what they printed; and the opposite of it. 0 or an errno value. */
int lab_read_index(struct lab *lab, const char *dir);
int lab_write_index(const struct lab *lab);

/* NULL if there is no such experiment, or it has not run. */
const struct outcome *lab_find(const struct lab *lab, const char *id);

/* The row of `table` that has `lock` in the column "lock", or the first one if lock is 0. NULL: none. */
const struct row *outcome_row(const struct outcome *o, const char *table, char lock);

/* NAN for what is not known. */
double row_number(const struct row *row, const char *column);
const char *row_text(const struct row *row, const char *column); /* "-" for what is not known */

/* A column of ulockflex's row for this lock; NAN if it was not measured. */
double lab_value(const struct lab *lab, const char *id, char lock, const char *column);

/* Throughput of one lock over that of another, in the same experiment. */
double lab_ratio(const struct lab *lab, const char *id, char above, char below);

const struct history *outcome_history(const struct outcome *o, char lock);

/* Below four fifths of its CPUs nothing is concluded. */
bool is_busy(double effective, unsigned cpus);

/* ---------------------------------------------------------------- what is claimed */

enum verdict { REPRODUCED, NOT_REPRODUCED, BUSY, LARGER, NOT_MEASURED, SHOWN, VERDICTS };
extern const char *const verdict_names[VERDICTS];

struct condition {
	char what[80];
	double value, least, most; /* both infinite: a note, which decides nothing */
	const char *then;          /* what was published; "" for nothing */
};

#define CONDITIONS_MAX 12

struct finding {
	const char *id, *claim;
	enum verdict verdict;
	char why[200]; /* it is not reproduced, or not judged */
	struct condition conditions[CONDITIONS_MAX];
	size_t count;
	/* while it is being looked into */
	double cpus, switches;
	bool holds, lacks, is_shown, wants_more, needs_quiet;
};

/* One for each claim, in order. The number of them is claims_count. */
extern const size_t claims_count;
void claims_judge(const struct lab *lab, struct finding *findings);

/* ---------------------------------------------------------------- the page */

/* Text with what HTML would misunderstand replaced. */
void html_text(FILE *out, const char *text);

/* A number with so many digits that count, or a dash for what is not known. */
void html_number(FILE *out, double v);

void page_write(FILE *out, const struct lab *lab, const struct finding *findings);
void figures_write(FILE *out, const struct lab *lab);
void tables_write(FILE *out, const struct lab *lab);

/* ---------------------------------------------------------------- running */

struct schedule {
	enum profile profile;
	const char *only; /* identities, separated by commas; NULL: all */
	double seconds;   /* of each run; 0: as the table says */
};

bool schedule_has(const struct schedule *s, const struct experiment *e);

/* Runs what is scheduled and leaves the results in lab->dir. Returns 0, 1 if a program failed, or 128 and the number of the signal
 * that ended it early. */
int schedule_run(const struct schedule *s, struct lab *lab);

#endif
