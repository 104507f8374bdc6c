/* SPDX-License-Identifier: MIT
 *
 * run.c - `nlock run': a program that uses pthreads, with nlock under it
 *
 * It checks the options, puts them into the environment, puts the module in front of LD_PRELOAD, and becomes the
 * program. So the program's exit status, signals and standard files are its own, and so is the number of the process.
 *
 * Nothing is accepted and then ignored: a value that the module would not take is refused here, since the module must not
 * complain in the middle of somebody else's program; and a program that the dynamic linker will not interpose upon is
 * run, but with a line that says so.
 */
#define _GNU_SOURCE
#include "tool.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <nlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* As env(1) and nohup(1) have them. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND  127

#define MODULE       "libnlock-preload.so"
#define MODULE_STATS "libnlock-preload-stats.so"

struct request {
	const char *preload; /* NULL: to be found */
	bool counts;
	char module[PATH_MAX];
};

static int failure(const char *what, const char *why)
{
	fprintf(stderr, "nlock: %s: %s\n", what, why);
	return EXIT_FAILURE;
}

/* Out of memory, which nobody will see. */
static bool put_in_environment(const char *name, const char *value)
{
	if (!setenv(name, value, 1))
		return true;
	failure(name, strerror(errno));
	return false;
}

/* ---------------------------------------------------------------- files, as the dynamic linker sees them */

struct image {
	const unsigned char *bytes;
	size_t size;
	struct stat st;
};

static bool open_image(const char *path, struct image *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* it may be a pipe that nobody writes to */
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &file->st) && S_ISREG(file->st.st_mode) && file->st.st_size > 0)
		bytes = mmap(NULL, (size_t)file->st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	file->bytes = bytes;
	file->size = (size_t)file->st.st_size;
	return bytes != MAP_FAILED;
}

static void close_image(struct image *file)
{
	munmap((void *)(uintptr_t)file->bytes, file->size);
}

static bool is_elf(const struct image *file)
{
	return file->size >= sizeof(Elf32_Ehdr) && !memcmp(file->bytes, ELFMAG, SELFMAG);
}

/* Of the kind that this command is. Class, byte order and machine stand at the same place in both classes. */
static bool is_of_our_kind(const struct image *file)
{
	static struct image self;
	const Elf32_Ehdr *theirs = (const void *)file->bytes, *ours;

	if (!self.bytes && !open_image("/proc/self/exe", &self))
		return true;
	ours = (const void *)self.bytes;
	return theirs->e_ident[EI_CLASS] == ours->e_ident[EI_CLASS] &&
	       theirs->e_ident[EI_DATA] == ours->e_ident[EI_DATA] && theirs->e_machine == ours->e_machine;
}

/* A program header of an ELF file of this kind: its type, or PT_NULL beyond the last. */
static uint32_t segment_type(const struct image *file, size_t i)
{
	const Elf64_Ehdr *h64 = (const void *)file->bytes;
	const Elf32_Ehdr *h32 = (const void *)file->bytes;
	bool is_64 = h32->e_ident[EI_CLASS] == ELFCLASS64;
	size_t from, n = is_64 ? h64->e_phnum : h32->e_phnum;
	uint32_t type;

	if (i >= n || (is_64 && file->size < sizeof(*h64)))
		return PT_NULL;
	from = is_64 ? (size_t)h64->e_phoff + i * sizeof(Elf64_Phdr) : h32->e_phoff + i * sizeof(Elf32_Phdr);
	if (from > file->size - sizeof(type))
		return PT_NULL;
	memcpy(&type, file->bytes + from, sizeof(type));
	return type;
}

static bool is_static(const struct image *file)
{
	uint32_t type;

	for (size_t i = 0; (type = segment_type(file, i)) != PT_NULL; i++) {
		if (type == PT_INTERP)
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- the module */

/* What ld.so takes for the end of a name, or for a word of its own. */
static const char *find_separator(const char *path)
{
	return strpbrk(path, " :$\t\n");
}

/* Says what is wrong with the module at `path`. NULL: nothing. */
static const char *fault_of_module(const char *path, bool counts)
{
	const char *fault = NULL;
	struct image file;

	if (find_separator(path))
		return "ld.so cannot preload a file whose path has a blank, a colon or a dollar sign in it";
	errno = 0;
	if (!open_image(path, &file))
		return errno ? strerror(errno) : "not a shared library";
	if (!is_elf(&file) || ((const Elf32_Ehdr *)(const void *)file.bytes)->e_type != ET_DYN)
		fault = "not a shared library";
	else if (!is_of_our_kind(&file))
		fault = "made for another kind of machine";
	else if (!memmem(file.bytes, file.size, "NLOCK_RWLOCK", strlen("NLOCK_RWLOCK")))
		fault = "not a module of nlock";
	else if (counts && !memmem(file.bytes, file.size, "NLOCK_STATS", strlen("NLOCK_STATS")))
		fault = "this module does not count: --stats needs " MODULE_STATS;
	close_image(&file);
	return fault;
}

static bool find_module(struct request *r)
{
	static const char *const in_tree[] = { ".libs", "preload/.libs", NULL };

	return find_own_file(r->module, r->counts ? MODULE_STATS : MODULE, in_tree, PKGLIBDIR);
}

/* The whole path, since the program may go elsewhere before it starts others. */
static int choose_module(struct request *r)
{
	const char *name = r->counts ? MODULE_STATS : MODULE, *fault;

	if (!r->preload && !find_module(r)) {
		fprintf(stderr, "nlock: %s is neither beside this command nor in %s; --preload FILE says where it is\n",
			name, PKGLIBDIR);
		return EXIT_FAILURE;
	}
	if (r->preload && !realpath(r->preload, r->module))
		return usage_error("--preload: %s: %s", r->preload, strerror(errno));
	fault = fault_of_module(r->module, r->counts);
	if (!fault)
		return EXIT_SUCCESS;
	if (r->preload)
		return usage_error("--preload: %s: %s", r->module, fault);
	return failure(r->module, fault);
}

static bool is_module_name(const char *path, size_t n)
{
	const char *slash = memrchr(path, '/', n);
	size_t from = slash ? (size_t)(slash - path) + 1 : 0;

	return (n - from == strlen(MODULE) && !memcmp(path + from, MODULE, n - from)) ||
	       (n - from == strlen(MODULE_STATS) && !memcmp(path + from, MODULE_STATS, n - from));
}

/* In front of what is there. A module of an outer `nlock run' goes: of two, the second would wait behind the first. */
static bool set_ld_preload(const char *module)
{
	const char *old = getenv("LD_PRELOAD");
	size_t n, room = strlen(module) + (old ? strlen(old) : 0) + 2;
	char *list = malloc(room);
	bool is_set;

	if (!list)
		return failure("LD_PRELOAD", strerror(errno)), false;
	strcpy(list, module);
	for (; old && *old; old += n) {
		old += strspn(old, " :");
		n = strcspn(old, " :");
		if (n && !is_module_name(old, n))
			strncat(strcat(list, ":"), old, n);
	}
	is_set = put_in_environment("LD_PRELOAD", list);
	free(list);
	return is_set;
}

/* ---------------------------------------------------------------- the program */

/* As execvp looks for it. False if it is not there; then execvp will say so. */
static bool find_program(char out[PATH_MAX], const char *name)
{
	const char *path = getenv("PATH");
	size_t n;

	if (strchr(name, '/'))
		return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
	for (path = path ? path : "/bin:/usr/bin"; *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (snprintf(out, PATH_MAX, "%.*s%s%s", (int)n, path, n ? "/" : "", name) < PATH_MAX &&
		    !access(out, X_OK))
			return true;
	}
	return false;
}

/* Will the kernel start it with AT_SECURE? Then ld.so does not look at LD_PRELOAD. */
static bool gains_rights(const char *path, const struct stat *st)
{
	mode_t set_gid = S_ISGID | S_IXGRP;

	if ((st->st_mode & S_ISUID) && st->st_uid != getuid())
		return true;
	if ((st->st_mode & set_gid) == set_gid && st->st_gid != getgid())
		return true;
	return getuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

/* The interpreter of a script, which is the program that runs. */
static bool interpreter_of(const struct image *file, char out[PATH_MAX])
{
	const char *text = (const char *)file->bytes;
	size_t n = 0, from = 2;

	if (file->size < 3 || text[0] != '#' || text[1] != '!')
		return false;
	while (from < file->size && (text[from] == ' ' || text[from] == '\t'))
		from++;
	while (from + n < file->size && n < PATH_MAX - 1 && !strchr(" \t\n", text[from + n]))
		n++;
	memcpy(out, text + from, n);
	out[n] = '\0';
	return n > 0;
}

/* Why will ld.so not preload anything into it? NULL: it will, or it cannot be known. */
static const char *obstacle_in(char path[PATH_MAX])
{
	const char *obstacle = NULL;
	struct image file;

	for (int depth = 0; depth < 5 && open_image(path, &file); depth++) {
		bool is_script = interpreter_of(&file, path);

		if (is_elf(&file) && gains_rights(path, &file.st))
			obstacle = "it runs with more rights than its caller, so the dynamic linker preloads nothing";
		else if (is_elf(&file) && !is_of_our_kind(&file))
			obstacle = "it is made for another kind of machine than this command and its module";
		else if (is_elf(&file) && is_static(&file))
			obstacle = "it is linked statically";
		close_image(&file);
		if (!is_script)
			break;
	}
	return obstacle;
}

static int become(char **argv)
{
	char path[PATH_MAX];
	const char *obstacle = find_program(path, argv[0]) ? obstacle_in(path) : NULL;
	int err;

	if (obstacle)
		fprintf(stderr, "nlock: %s: nlock will not be under this program: %s\n", argv[0], obstacle);
	execvp(argv[0], argv);
	err = errno;
	failure(argv[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* ---------------------------------------------------------------- options: each says what it puts into the environment */

static bool has_policy(const char *value)
{
	long limit;

	if (!strcmp(value, "fifo") || !strcmp(value, "barging") || !strcmp(value, "bounded"))
		return true;
	return !strncmp(value, "bounded=", 8) && parse_number(value + 8, 0, 65535, &limit);
}

static int set_policy(const char *value)
{
	if (!has_policy(value))
		return usage_error("--policy: '%s' is not fifo, barging, bounded, or bounded=K with K from 0 to 65535",
				   value);
	return put_in_environment("NLOCK_HANDOFF", value) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int set_rwlock(const char *value)
{
	if (strcmp(value, "readers") && strcmp(value, "writers") && strcmp(value, "phase-fair"))
		return usage_error("--rwlock: '%s' is not readers, writers or phase-fair", value);
	return put_in_environment("NLOCK_RWLOCK", value) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A child of fork begins with no hash, as a program that is executed does. */
int try_slots(uint32_t n, int *slots)
{
	int *answer = mmap(NULL, 2 * sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), rc;
	pid_t child;

	if (answer == MAP_FAILED)
		return errno;
	answer[0] = ECHILD;
	fflush(stdout); /* a sanitizer writes out what the child has of it */
	child = fork();
	if (!child) {
		answer[0] = n ? nlock_hash_set_slots(n) : nlock_hash_use_global();
		answer[1] = nlock_hash_slots();
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	rc = child > 0 ? answer[0] : EAGAIN;
	*slots = answer[1];
	munmap(answer, 2 * sizeof(*answer));
	return rc;
}

/* Tried before the program asks for the same. */
static int set_slots(const char *value)
{
	long n = 0;
	int rc, got;

	if (strcmp(value, "global") && !parse_number(value, 1, 1L << 30, &n))
		return usage_error("--hash-slots: '%s' is neither a number of slots nor global", value);
	rc = try_slots((uint32_t)n, &got);
	if (rc)
		return usage_error("--hash-slots: %s",
				   rc == ENOTSUP ? "no private hash can be had here" : strerror(rc));
	if (got != n)
		return usage_error("--hash-slots: with %ld there would be %d; say so", n, got);
	return put_in_environment("NLOCK_HASH_SLOTS", value) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Each process of the program appends its report. The whole path, since it may have gone elsewhere by then. A pipe would be at its
 * end, for its reader, before the first report came. */
static int set_stats(const char *file)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!file)
		return put_in_environment("NLOCK_STATS", "-") ? EXIT_SUCCESS : EXIT_FAILURE;
	if (!*file)
		return usage_error("--stats: which file?");
	if (!stat(file, &st) && S_ISFIFO(st.st_mode))
		return usage_error("--stats: %s: a pipe is no file that processes can append to", file);
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0 || !realpath(file, path))
		return usage_error("--stats: %s: %s", file, strerror(errno));
	close(fd);
	return put_in_environment("NLOCK_STATS", path) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const char help[] =
	"usage: nlock run [OPTION]... [--] CMD [ARG]...\n"
	"\n"
	"Runs CMD with nlock in place of the locks of the C library.\n"
	"\n"
	"  --policy P       hand-off of all its locks: fifo, barging, bounded or bounded=K, K from 0 to 65535\n"
	"  --rwlock P       preference of its read-write locks of the default kind: readers, writers or phase-fair\n"
	"  --hash-slots N   slots of the process's private futex hash: a power of two, or global for none\n"
	"  --shared         locks shared between processes, too; all of these must be run so\n"
	"  --legacy         use the classic futex call only\n"
	"  --stats[=FILE]   say at exit what was locked, waited for and contended; on standard error, or in FILE\n"
	"  --preload FILE   the module, if it is not the one that was installed with this command\n"
	"  --help           this text\n";

enum { POLICY, RWLOCK, HASH_SLOTS, SHARED, LEGACY, STATS, PRELOAD, HELP };

static const struct option_spec specs[] = {
	[POLICY] = { "policy", true },   [RWLOCK] = { "rwlock", true },  [HASH_SLOTS] = { "hash-slots", true },
	[SHARED] = { "shared", false },  [LEGACY] = { "legacy", false }, [STATS] = { "stats", OPTION_MAY },
	[PRELOAD] = { "preload", true }, [HELP] = { "help", false },     { NULL, false }
};

/* The last of each option. NULL or false: not given. `file` may be NULL under --stats. */
struct given {
	const char *value[HELP + 1];
	bool is[HELP + 1];
};

/* An argument that is no option begins the command. */
static bool read_options(struct options *o, struct given *g)
{
	while (o->at < o->argc && o->argv[o->at][0] == '-') {
		int option;

		if (!strcmp(o->argv[o->at], "--")) {
			o->at++;
			return true;
		}
		option = options_next(o, specs);
		if (option < 0)
			return false;
		g->is[option] = true;
		g->value[option] = o->value;
	}
	return true;
}

/* All options before any file is touched, --stats last. */
static int apply(const struct given *g, struct request *r)
{
	int rc = EXIT_SUCCESS;

	if (g->is[POLICY])
		rc = set_policy(g->value[POLICY]);
	if (!rc && g->is[RWLOCK])
		rc = set_rwlock(g->value[RWLOCK]);
	if (!rc && g->is[HASH_SLOTS])
		rc = set_slots(g->value[HASH_SLOTS]);
	if (!rc && g->is[SHARED])
		rc = !put_in_environment("NLOCK_PRELOAD_SHARED", "1");
	if (!rc && g->is[LEGACY])
		rc = !put_in_environment("NLOCK_FUTEX", "legacy");
	r->preload = g->value[PRELOAD];
	r->counts = g->is[STATS];
	if (!rc)
		rc = choose_module(r);
	if (!rc && g->is[STATS])
		rc = set_stats(g->value[STATS]);
	return rc;
}

int run_main(int argc, char **argv)
{
	static struct request r;
	struct options o = { .argc = argc, .argv = argv };
	struct given g = { .is = { false } };
	int rc;

	if (!read_options(&o, &g))
		return EXIT_USAGE;
	if (g.is[HELP])
		return fputs(help, stdout) < 0;
	if (o.at >= o.argc)
		return usage_error("which program? `nlock run --help' says more");
	rc = apply(&g, &r);
	if (!rc)
		rc = !set_ld_preload(r.module);
	return rc ? rc : become(argv + o.at);
}
