#define _GNU_SOURCE /* pipe2 */
#include "formats/cmdline/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "formats/cmdline/terminal.h"

#define WORDS 32u
#define SHELL_CHARACTERS "|&;<>()$`\\\"'*?[#~=%\t\n"

static pid_t pager; /* 0: none */

/* NULL: none. */
static const char *command(void)
{
	static const char *const variables[] = { "GT_PAGER", "PAGER" };
	const char *c = NULL;

	for (unsigned i = 0; i < 2 && !c; i++)
		c = getenv(variables[i]);
	c = c ? c : "less";
	return *c && strcmp(c, "cat") != 0 ? c : NULL;
}

/* Replaces the child by the pager. Words without characters of the shell are run directly, so that
 * it is known whether the program exists. Returns only if it cannot be run. */
static void run(char *text)
{
	char shell[] = "sh", option[] = "-c", *argv[WORDS + 1] = { shell, option, text };
	unsigned n = 0;

	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	signal(SIGPIPE, SIG_DFL);
	if (!strpbrk(text, SHELL_CHARACTERS)) {
		for (char *w = strtok(text, " "); w && n < WORDS; w = strtok(NULL, " "))
			argv[n++] = w;
		argv[n] = NULL;
	}
	if (argv[0])
		execvp(argv[0], argv);
}

/* The process of the pager, which reads from the pipe; 0: it cannot be started. */
static pid_t start(char *text, const int from[2])
{
	int started[2], code = 0;
	pid_t child;

	if (pipe2(started, O_CLOEXEC))
		return 0;
	fflush(NULL);
	child = fork();
	if (!child) {
		dup2(from[0], STDIN_FILENO);
		run(text);
		code = errno;
		if (write(started[1], &code, sizeof(code)) < 0)
			_exit(126);
		_exit(127);
	}
	close(started[1]);
	/* nothing is written if the pager runs */
	if (child > 0 && read(started[0], &code, sizeof(code)) > 0) {
		waitpid(child, NULL, 0);
		child = 0;
	}
	close(started[0]);
	return child > 0 ? child : 0;
}

void gt_pager_start(void)
{
	static bool tried;
	const char *wanted = command(), *term = getenv("TERM");
	char *text;
	int to[2];

	if (tried || !wanted || !isatty(STDOUT_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return;
	tried = true;
	text = strdup(wanted);
	if (!text || pipe2(to, O_CLOEXEC)) {
		free(text);
		return;
	}
	pager = start(text, to);
	if (pager) {
		signal(SIGPIPE, SIG_IGN);
		gt_terminal_set_paged(gt_terminal_width(STDOUT_FILENO));
		dup2(to[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(to[1], STDERR_FILENO);
	}
	close(to[0]);
	close(to[1]);
	free(text);
}

bool gt_pager_is_used(void) { return pager; }

void gt_pager_finish(void)
{
	if (!pager)
		return;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
