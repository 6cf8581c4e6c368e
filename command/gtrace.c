/* gtrace: one command for the four programs. A verb selects the program, which replaces gtrace and
 * gets all other arguments. The programs are in the folder of gtrace's own file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/err.h"
#include "formats/cmdline/did_you_mean.h"
#include "formats/cmdline/std_fds.h"
#include "formats/cmdline/verbs.h"
#include "formats/os/program_folder.h"

#define TOOL "gtrace"
#define NOT_RUN 125 /* as gtcollect: its own failure */

static const struct gt_verb verbs[] = {
	{ "run", "run a program, record it, and print the report", "gtcollect", "--report" },
	{ "report", "print reports about a trace", "gtanalyze", NULL },
	{ "view", "show a trace's timeline in the terminal", "gtview", NULL },
	{ "export", "write a trace in another tool's format", "gtexport", NULL },
	{ "help", "print this, or the help of a verb: gtrace help run", NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};
static const struct gt_command command = {
	.name = TOOL,
	.usage = "VERB [ARGS]",
	.about = "Records what a CUDA program does, and shows it.",
	.stop_at_first = true,
	.verbs = verbs,
	.after =
		"gtrace run train.py          records into gt-train.py-DATE-TIME-PID.zst, then\n"
		"                             prints where the GPUs' time went\n"
		"gtrace report FILE           prints that report again\n"
		"gtrace view FILE             shows the timeline\n"
		"gtrace export --chrome FILE  writes a timeline for ui.perfetto.dev\n"
		"Each verb runs one of the programs gtcollect, gtanalyze, gtview and gtexport, whose\n"
		"options it takes. Exit status: that of the program; 2 usage; 125 it cannot be run.",
};

/* Words of other tools, and the verbs that do the same here. */
static const char *const foreign[][2] = {
	{ "record", "run" },
	{ "profile", "run" },
	{ "collect", "run" },
	{ "launch", "run" },
	{ "stats", "report" },
	{ "analyze", "report" },
	{ "show", "view" },
	{ "convert", "export" },
};

static const struct gt_verb *find_verb(const char *word)
{
	for (const struct gt_verb *v = verbs; v->name; v++)
		if (!strcmp(v->name, word))
			return v;
	return NULL;
}

static int refuse_verb(const char *word, struct gt_err *err)
{
	struct gt_nearest near = GT_NEAREST(word);
	const char *meant = NULL;

	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		if (!strcmp(word, foreign[i][0]))
			meant = foreign[i][1];
	for (const struct gt_verb *v = verbs; !meant && v->name; v++)
		gt_nearest_try(&near, v->name);
	meant = meant ? meant : near.best;
	if (meant)
		return gt_err_set(
			err, -EINVAL, "there is no verb '%.60s'; did you mean '%s'?", word, meant);
	if (!access(word, F_OK))
		return gt_err_set(err, -EINVAL,
			"'%.60s' is a file, not a verb: gtrace run records a program, gtrace "
			"report reads a trace",
			word);
	return gt_err_set(err, -EINVAL,
		"there is no verb '%.60s'; there are run, report, view, export and help", word);
}

/* Returns only if it fails. */
static int exec_program(const struct gt_verb *v, char **args, struct gt_err *err)
{
	char folder[PATH_MAX], path[PATH_MAX + 16];

	gt_program_folder(folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/%s", folder, v->program);
	args[0] = path;
	execv(path, args);
	return gt_err_set(err, -errno, "%.120s: %s%s", path, strerror(errno),
		errno == ENOENT && !strcmp(v->program, "gtview") ? " (gt was built without it)"
								 : "");
}

/* argv[1] is the verb, with argv[0] before and one unused element behind the end. */
static int run_verb(const struct gt_verb *v, char **argv, struct gt_err *err)
{
	if (!v->option)
		return exec_program(v, argv + 1, err);
	argv[1] = (char *)v->option;
	return exec_program(v, argv, err);
}

static int help(const char *word, struct gt_err *err)
{
	const struct gt_verb *v = word ? find_verb(word) : NULL;
	char option[] = "--help", *argv[] = { NULL, option, NULL };

	if (word && !v)
		return refuse_verb(word, err);
	if (v && v->program) {
		printf("gtrace %s is %s%s%s:\n\n", v->name, v->program, v->option ? " " : "",
			v->option ? v->option : "");
		if (fflush(stdout))
			return gt_err_set(
				err, -EIO, "cannot write standard output: %s", strerror(errno));
		return exec_program(v, argv, err);
	}
	gt_opt_help(&command, stdout);
	return fflush(stdout)
		? gt_err_set(err, -EIO, "cannot write standard output: %s", strerror(errno))
		: 0;
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	const struct gt_verb *v;
	int operands, code;

	gt_std_fds_occupy();
	code = gt_opt_parse(&command, argc, argv, &operands, &err);
	if (code > 0)
		return 0;
	if (!code && !operands) {
		gt_opt_help(&command, stderr);
		return 2;
	}
	if (!code) {
		v = find_verb(argv[1]);
		code = !v            ? refuse_verb(argv[1], &err)
			: v->program ? run_verb(v, argv, &err)
				     : help(argv[2], &err);
	}
	if (!code)
		return 0;
	gt_err_print(TOOL, NULL, &err);
	return code == -EINVAL ? 2 : code == -EIO ? 1 : NOT_RUN;
}
