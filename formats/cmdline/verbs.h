/* Verbs: a first word that selects the program to run, as in `gtrace report`. */
#ifndef GT_VERBS_H
#define GT_VERBS_H
#include <stdio.h>
#include "formats/cmdline/opt.h"

struct gt_verb {
	const char *name; /* NULL: the end of the table */
	const char *help;
	const char *program; /* the sibling program that runs the verb; NULL: none */
	const char *option;  /* its first argument; NULL: none */
};

/* Completion scripts for the verbs. After a verb, they complete as the verb's program does: they
 * evaluate the script that `COMMAND VERB --completion SHELL` prints. */
void gt_verbs_put_bash(const struct gt_command *cmd, FILE *to, bool zsh);
void gt_verbs_put_fish(const struct gt_command *cmd, FILE *to);
#endif
