/* Command lines from tables. One row gives parsing, --help, shell completion, and the block in the
 * manual page (a test compares them). */
#ifndef GT_OPT_H
#define GT_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "formats/base/err.h"

enum gt_opt_kind {
	GT_OPT_FLAG,       /* bool *: set to true */
	GT_OPT_COUNT,      /* int *: how often it is given (-v -v) */
	GT_OPT_STR,        /* const char **: borrowed from argv */
	GT_OPT_LIST,       /* struct gt_opt_list *: may be given several times */
	GT_OPT_U64,        /* uint64_t * */
	GT_OPT_SIZE,       /* uint64_t *: 4096, 64K, 64M, 2G (powers of 1024) */
	GT_OPT_NS,         /* int64_t *: 1.5s, 250ms, 10us, 80ns; a bare number is seconds */
	GT_OPT_WORD,       /* int *: index of the argument in words[] (NULL-terminated) */
	GT_OPT_MAYBE_WORD, /* likewise as --NAME=WORD; --NAME alone is the first word */
	GT_OPT_TEXT,       /* no option: a heading in --help */
};
struct gt_opt_list {
	const char **items;
	size_t n, cap;
};
struct gt_opt {
	char letter;      /* 0: none */
	const char *name; /* without the dashes; NULL: letter only */
	enum gt_opt_kind kind;
	void *to;
	const char *arg;          /* metavariable in --help, "FILE" */
	const char *help;         /* one sentence, no full stop */
	const char *const *words; /* GT_OPT_WORD, GT_OPT_MAYBE_WORD */
};
struct gt_verb; /* verbs.h */
struct gt_command {
	const char *name;  /* "gtanalyze" */
	const char *usage; /* "[options] [REPORT...] FILE..." */
	const char *about; /* a line or two under the usage */
	const struct gt_opt *options;
	size_t noptions;
	bool stop_at_first;          /* options end at the first operand (gtcollect) */
	const char *after;           /* printed after the options; NULL: nothing */
	const struct gt_verb *verbs; /* the first operand is one of these; NULL: no verbs */
	bool *help; /* NULL, or set by --help, which then prints nothing: the caller prints */
};
#define GT_VERSION "0.1.0"
/* Parses argv[1..]. Returns 0: operands have been moved to argv[1..*operands]. 1: --help, --version
 * or
 * --completion was printed, and the caller exits with 0. -EINVAL: wrong usage; the caller prints
 * err and exits with 2. -EIO (--help could not be printed) or another error: the caller exits
 * with 1. Accepts --NAME=VALUE, --NAME VALUE, -lVALUE, -l VALUE, bundled flags and "--", but no
 * unique prefixes. Each program has --help, --version and --completion SHELL. */
int gt_opt_parse(
	const struct gt_command *cmd, int argc, char **argv, int *operands, struct gt_err *err);
void gt_opt_help(const struct gt_command *cmd, FILE *to);
/* Parts of it: the usage with the lines under it; the rows of the options. */
void gt_opt_help_usage(const struct gt_command *cmd, FILE *to);
void gt_opt_help_rows(const struct gt_command *cmd, FILE *to);
void gt_opt_list_release(struct gt_opt_list *list);
/* Parse values of GT_OPT_SIZE and GT_OPT_NS. 0 or -EINVAL. */
int gt_parse_size(const char *s, uint64_t *bytes);
int gt_parse_ns(const char *s, int64_t *ns);
#endif
