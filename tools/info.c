/* SPDX-License-Identifier: MIT
 *
 * info.c - `nlock info': what this machine and its kernel offer
 *
 * Everything is asked, nothing is concluded from a version number. What the kernel's private hash looks like depends on
 * how many threads the process has, so it is asked twice, before and while there is a second one.
 *
 * Each fact goes through put(): a line with a label and a text, or a member of a JSON object.
 */
#define _GNU_SOURCE
#include "measure.h"
#include "tool.h"

#include <errno.h>
#include <nlock.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef HAVE_NUMA
#include <numa.h>
#endif

/* ---------------------------------------------------------------- output */

static struct {
	bool is_json;
	bool has_members;
} out;

static void json_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* `json` is the value as JSON has it; NULL: the text, quoted. */
static void put(const char *label, const char *key, const char *json, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void put(const char *label, const char *key, const char *json, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!out.is_json) {
		printf("%-26s %s\n", label, text);
		return;
	}
	printf("%s\n  \"%s\": ", out.has_members ? "," : "", key);
	out.has_members = true;
	if (json)
		fputs(json, stdout);
	else
		json_string(text);
}

static void put_flag(const char *label, const char *key, bool is_set, const char *yes, const char *no)
{
	put(label, key, is_set ? "true" : "false", "%s", is_set ? yes : no);
}

/* ---------------------------------------------------------------- lists: "0-3,8" */

struct list_text {
	char text[512];
	size_t used;
	int from, to; /* the range that is open; from < 0: none */
};

static void end_range(struct list_text *l)
{
	size_t room = sizeof(l->text) - l->used;
	int n;

	if (l->from < 0)
		return;
	if (l->from == l->to)
		n = snprintf(l->text + l->used, room, "%s%d", l->used ? "," : "", l->from);
	else
		n = snprintf(l->text + l->used, room, "%s%d-%d", l->used ? "," : "", l->from, l->to);
	l->used = (size_t)n < room ? l->used + (size_t)n : sizeof(l->text) - 1;
	l->from = -1;
}

static void add_to_list(struct list_text *l, int i)
{
	if (l->from >= 0 && i == l->to + 1) {
		l->to = i;
		return;
	}
	end_range(l);
	l->from = l->to = i;
}

/* ---------------------------------------------------------------- the library, the kernel */

static void put_version(const char *label, const char *key, uint32_t v)
{
	put(label, key, NULL, "%u.%u.%u", v >> 16, v >> 8 & 0xff, v & 0xff);
}

static void put_kernel(void)
{
	struct utsname u;

	if (uname(&u))
		put("kernel", "kernel", "null", "unknown");
	else
		put("kernel", "kernel", NULL, "%s %s %s", u.sysname, u.release, u.machine);
}

/* As the library does it: a set-uid program does not look. */
static bool is_legacy(void)
{
	const char *mode = secure_getenv("NLOCK_FUTEX");

	return mode && !strcmp(mode, "legacy");
}

/* What the library makes of NLOCK_HANDOFF. */
static void put_bound(void)
{
	uint32_t bound = nlock_bound();
	char json[16];

	snprintf(json, sizeof(json), "%u", bound);
	if (bound == UINT32_MAX)
		put("default bound", "default_bound", "null", "none: barging");
	else
		put("default bound", "default_bound", json, "%u%s", bound, bound ? "" : ": fifo");
}

static void put_calls(void)
{
	uint32_t f = nlock_features();
	const char *backend = f & NLOCK_HAS_WAIT ? "futex2" : "classic futex";

	put_flag("NLOCK_FUTEX=legacy", "legacy", is_legacy(), "in force: no futex2 call is made", "not in force");
	put_bound();
	put("sleeps and wakes by", "backend", NULL, "%s", backend);
	put_flag("futex_wait, futex_wake", "futex_wait", f & NLOCK_HAS_WAIT, "work", "absent");
	put_flag("futex_requeue", "futex_requeue", f & NLOCK_HAS_REQUEUE, "works", "absent");
	put_flag("futex_waitv", "futex_waitv", f & NLOCK_HAS_WAITV, "works", "absent");
	put_flag("FUTEX2_NUMA", "futex2_numa", f & NLOCK_HAS_NUMA, "works", "absent");
	put_flag("FUTEX2_MPOL", "futex2_mpol", f & NLOCK_HAS_MPOL, "works", "absent");
	put_flag("statistics", "statistics", f & NLOCK_HAS_STATS, "counted", "not in this build");
}

static void *slots_of_two(void *slots)
{
	*(int *)slots = nlock_hash_slots();
	return NULL;
}

/* `none` is what 0 means. */
static void put_slots(const char *label, const char *key, int slots, const char *none)
{
	char json[16];

	snprintf(json, sizeof(json), "%d", slots);
	if (slots < 0)
		put(label, key, "null", "none: %s", strerror(-slots));
	else if (slots == 0)
		put(label, key, json, "0: %s", none);
	else
		put(label, key, json, "%d", slots);
}

/* Nothing comes between the start and this but what the environment asked for. */
static void put_asked(int slots, bool is_global)
{
	const char *text = secure_getenv("NLOCK_HASH_SLOTS");

	if (!text)
		put("NLOCK_HASH_SLOTS", "hash_asked", "null", "not set");
	else if (slots < 0)
		put("NLOCK_HASH_SLOTS", "hash_asked", NULL, "'%.40s': there is no private hash here", text);
	else if (slots > 0)
		put("NLOCK_HASH_SLOTS", "hash_asked", NULL, "'%.40s': there are %d", text, slots);
	else if (is_global)
		put("NLOCK_HASH_SLOTS", "hash_asked", NULL, "'%.40s': the global hash, for good", text);
	else
		put("NLOCK_HASH_SLOTS", "hash_asked", NULL, "'%.40s': says nothing, or nothing that can be had", text);
}

static void put_most(void)
{
	int slots, rc = try_slots(UINT32_MAX, &slots);

	if (rc)
		put("private hash, most", "hash_slots_most", "null", "none: %s", strerror(rc));
	else
		put_slots("private hash, most", "hash_slots_most", slots, "");
}

/* With no slots while there are two threads. To ask would change something only where there is nothing to change. */
static bool is_for_good(void)
{
	return nlock_hash_set_slots(2) == EBUSY;
}

static void put_hash(void)
{
	pthread_t second;
	int slots = nlock_hash_slots(), alone = slots;
	bool is_global;

	put_slots("private hash, 1 thread", "hash_slots_1_thread", slots, "the global hash is used");
	if (pthread_create(&second, NULL, slots_of_two, &slots)) {
		put("private hash, 2 threads", "hash_slots_2_threads", "null", "unknown: no second thread");
		put_most();
		put_asked(alone, false);
		return;
	}
	pthread_join(second, NULL);
	is_global = slots == 0 && is_for_good();
	put_slots("private hash, 2 threads", "hash_slots_2_threads", slots,
		  is_global ? "the global hash is used, for good" : "it is switched off in this kernel");
	put_most();
	put_asked(alone, is_global);
}

/* ---------------------------------------------------------------- nodes, CPUs */

#ifdef HAVE_NUMA
static void put_mask(const char *label, const char *key, const struct bitmask *mask)
{
	struct list_text l = { .from = -1 };
	int n = 0;

	for (unsigned int i = 0; mask && i < mask->size; i++) {
		if (!numa_bitmask_isbitset(mask, i))
			continue;
		add_to_list(&l, (int)i);
		n++;
	}
	end_range(&l);
	put(label, key, NULL, "%s", n ? l.text : "none");
}

static void put_nodes(void)
{
	struct bitmask *allowed;

	if (numa_available() < 0) {
		put("node list", "nodes", "null", "unknown: the kernel has no NUMA calls");
		put("node list, allowed", "nodes_allowed", "null", "unknown");
		return;
	}
	put_mask("node list", "nodes", numa_nodes_ptr);
	allowed = numa_get_mems_allowed();
	put_mask("node list, allowed", "nodes_allowed", allowed);
	if (allowed)
		numa_bitmask_free(allowed);
}
#else
static void put_nodes(void)
{
	put("node list", "nodes", "null", "unknown: built without libnuma");
	put("node list, allowed", "nodes_allowed", "null", "unknown: built without libnuma");
}
#endif

static void put_cpus(void)
{
	static struct cpus cpus;
	struct list_text l = { .from = -1 };
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	char json[32];
	double effective;

	snprintf(json, sizeof(json), "%ld", online);
	put("CPUs online", "cpus_online", json, "%ld", online);
	if (!cpus_allowed(&cpus)) {
		put("CPUs allowed", "cpus_allowed", "null", "unknown: %s", strerror(errno));
		put("effective CPUs", "cpus_effective", "null", "unknown");
		return;
	}
	for (unsigned int i = 0; i < cpus.n; i++)
		add_to_list(&l, cpus.id[i]);
	end_range(&l);
	snprintf(json, sizeof(json), "%u", cpus.n);
	put("CPUs allowed", "cpus_allowed", json, "%u", cpus.n);
	put("CPU list", "cpu_list", NULL, "%s", l.text);
	effective = cpus_effective(cpus.n, 200000000);
	snprintf(json, sizeof(json), "%.2f", effective);
	put("effective CPUs", "cpus_effective", json, "%.2f, while %u threads spin for 0.2 s", effective, cpus.n);
}

/* ---------------------------------------------------------------- cgroup CPU quota
 *
 * Every group on the way up may have one; the least counts. Version 2 has it in cpu.max ("max 100000" or
 * "150000 100000"), version 1 in two files, with -1 for none.
 */

static bool read_numbers(const char *dir, const char *file, const char *format, long *a, long *b)
{
	char path[4352];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = b ? fscanf(f, format, a, b) : fscanf(f, format, a);
	fclose(f);
	return n == (b ? 2 : 1);
}

static void lower(double *quota, long share, long period)
{
	double cpus = (double)share / (double)period;

	if (share > 0 && period > 0 && (*quota == 0 || cpus < *quota))
		*quota = cpus;
}

static void look_at_group(const char *dir, double *quota)
{
	long share, period;

	if (read_numbers(dir, "cpu.max", "%ld %ld", &share, &period))
		lower(quota, share, period);
	if (read_numbers(dir, "cpu.cfs_quota_us", "%ld", &share, NULL) &&
	    read_numbers(dir, "cpu.cfs_period_us", "%ld", &period, NULL))
		lower(quota, share, period);
}

/* From `group` up to the root of the hierarchy that is mounted at `mount`. */
static void look_upwards(const char *mount, const char *group, double *quota)
{
	char dir[4224];
	size_t root = strlen(mount);
	char *slash;

	snprintf(dir, sizeof(dir), "%s%s", mount, group);
	for (;;) {
		look_at_group(dir, quota);
		slash = strrchr(dir, '/');
		if (!slash || (size_t)(slash - dir) < root)
			return;
		*slash = '\0';
	}
}

static bool has_controller(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name)) {
		if ((at == list || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	}
	return false;
}

/* 0: none. A line of /proc/self/cgroup is "number:controllers:/group"; version 2 has number 0 and no controllers. */
static double cpu_quota(void)
{
	char line[4096], mount[128];
	double quota = 0;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (!strcmp(controllers, ":"))
			look_upwards("/sys/fs/cgroup", group, &quota);
		if (!has_controller(controllers + 1, "cpu"))
			continue;
		snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", controllers + 1);
		look_upwards(mount, group, &quota);
		look_upwards("/sys/fs/cgroup/cpu", group, &quota);
	}
	if (f)
		fclose(f);
	return quota;
}

static void put_quota(void)
{
	double quota = cpu_quota();
	char json[32];

	snprintf(json, sizeof(json), "%.2f", quota);
	if (quota > 0)
		put("cgroup CPU quota", "cpu_quota", json, "%.2f CPUs", quota);
	else
		put("cgroup CPU quota", "cpu_quota", "null", "none");
}

/* ---------------------------------------------------------------- the command */

static const char help[] = "usage: nlock info [--json]\n"
			   "\n"
			   "Says what this machine and its kernel offer to nlock.\n"
			   "\n"
			   "  --json   as one JSON object\n"
			   "  --help   this text\n";

/* The number of threads matters to the kernel: what starts some comes after what asks with one. */
static void put_all(void)
{
	put_version("nlock", "version", NLOCK_VERSION);
	put_version("library", "library_version", nlock_version());
	put_kernel();
	put_calls();
	put_hash();
	put_nodes();
	put_cpus();
	put_quota();
}

int info_main(int argc, char **argv)
{
	static const struct option_spec specs[] = { { "json", false }, { "help", false }, { NULL, false } };
	struct options o = { .argc = argc, .argv = argv };
	bool is_help = false;
	int option;

	while ((option = options_next(&o, specs)) != OPTIONS_END) {
		if (option == OPTIONS_BAD)
			return EXIT_USAGE;
		out.is_json |= option == 0;
		is_help |= option == 1;
	}
	if (is_help)
		return fputs(help, stdout) < 0;
	if (out.is_json)
		putchar('{');
	put_all();
	if (out.is_json)
		puts("\n}");
	return EXIT_SUCCESS;
}
