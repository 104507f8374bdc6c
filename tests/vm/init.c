/* SPDX-License-Identifier: MIT
 *
 * init.c - the first process of a machine of vm.sh: runs what /commands says, and switches the machine off
 *
 * A line of /commands is NAME SECONDS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...], words apart by a tab. Each is run in a
 * session of its own. The console gets "@@@ begin NAME", what the program prints, and "@@@ end NAME STATUS", where
 * STATUS is "exit N", "signal N" or "time": it was not done after SECONDS. vm.sh reads these lines. "@@@ done" is the last one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define WORDS_MAX 64

static void mount_on(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL))
		printf("@@@ no %s on %s: %s\n", type, where, strerror(errno));
}

/* The kernel has opened a console only where there was a device file for it. */
static void prepare(void)
{
	mount_on("devtmpfs", "/dev");
	for (int fd = 0; fd <= 2; fd++) {
		int console = open("/dev/console", O_RDWR);

		if (console >= 0 && console != fd) {
			dup2(console, fd);
			close(console);
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	mount_on("proc", "/proc");
	mount_on("sysfs", "/sys");
	mount_on("cgroup2", "/sys/fs/cgroup");
	mount_on("tmpfs", "/dev/shm");
	mount_on("tmpfs", P_tmpdir);
	setenv("PATH", "/bin", 1);
	setenv("HOME", P_tmpdir, 1);
}

static _Noreturn void execute(char **word, unsigned int seconds)
{
	setsid();
	while (*word && strchr(*word, '='))
		putenv(*word++);
	if (!*word || chdir(P_tmpdir))
		_exit(126);
	alarm(seconds); /* an exec keeps it */
	execvp(*word, word);
	printf("%s: %s\n", *word, strerror(errno));
	_exit(127);
}

static const char *status_of(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return "time";
	snprintf(text, size, "%s %d", WIFSIGNALED(status) ? "signal" : "exit",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return text;
}

/* What a program leaves behind is ended with it. Children that nobody waits for are ours. */
static void run(char *line)
{
	char *word[WORDS_MAX + 1] = { NULL }, *rest = line, text[32];
	int n = 0, status = -1;
	pid_t pid, ended;

	while (n < WORDS_MAX && (word[n] = strsep(&rest, "\t")))
		n++;
	if (n < 3)
		return;
	printf("@@@ begin %s\n", word[0]);
	pid = fork();
	if (!pid)
		execute(word + 2, (unsigned int)atoi(word[1]));
	do
		ended = waitpid(-1, &status, 0);
	while (ended > 0 && ended != pid);
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	printf("\n@@@ end %s %s\n", word[0], status_of(status, text, sizeof(text)));
}

int main(void)
{
	char line[1024];
	FILE *commands;

	prepare();
	commands = fopen("/commands", "r");
	while (commands && fgets(line, sizeof(line), commands)) {
		line[strcspn(line, "\n")] = 0;
		run(line);
	}
	printf("@@@ done\n");
	tcdrain(1);
	reboot(RB_POWER_OFF);
	return 1;
}
