#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/run.h"
#include "formats/base/buf.h"
#include "formats/base/opt.h"
#include "formats/base/streams.h"
#include "formats/importers.h"

static struct {
	bool list, force;
	int format;
	const char *from, *to, *output;
	uint64_t pid, tid, top, threads;
	struct gt_opt_list match;
} opt = { .output = "-", .top = 20, .threads = 1 };

static const char *const formats[] = { "text", "csv", "tsv", "json", NULL };	/* as in enum gt_table_format */
static const struct gt_opt options[] = {
	{ 'l', "list",   GT_OPT_FLAG, &opt.list,    NULL,      "list the reports and leave", NULL },
	{ 0,   "format", GT_OPT_WORD, &opt.format,  "FORMAT",  "how to print", formats },
	{ 0,   "top",    GT_OPT_U64,  &opt.top,     "N",       "show at most N rows of a table (20); 0 shows all", NULL },
	{ 'o', "output", GT_OPT_STR,  &opt.output,  "FILE",    "write there instead of to the standard output", NULL },
	{ 'f', "force",  GT_OPT_FLAG, &opt.force,   NULL,      "overwrite FILE if it exists", NULL },
	{ 'j', "threads", GT_OPT_U64, &opt.threads, "N",       "decode on N threads, 1 unless told", NULL },
	{ 0,   NULL,     GT_OPT_TEXT, NULL,         NULL,      "Which rows to look at", NULL },
	{ 0,   "from",   GT_OPT_STR,  &opt.from,    "TIME",    "leave out what ended earlier (1.5s, 250ms after the start)", NULL },
	{ 0,   "to",     GT_OPT_STR,  &opt.to,      "TIME",    "leave out what began at that time or later", NULL },
	{ 0,   "pid",    GT_OPT_U64,  &opt.pid,     "PID",     "this process only", NULL },
	{ 0,   "tid",    GT_OPT_U64,  &opt.tid,     "TID",     "this thread only", NULL },
	{ 'm', "match",  GT_OPT_LIST, &opt.match,   "GLOB",    "only operations whose name matches; may be given several times", NULL },
};
static const struct gt_command command = {
	.name = "gtanalyze",
	.usage = "[options] [REPORT...] FILE...",
	.about = "Answers questions about traces: what was called, how long it took, what was waited for.",
	.options = options,
	.noptions = sizeof(options) / sizeof(*options),
	.after = "Without REPORT the default report is printed; --list says what it consists of.\n"
		 "Words that name a report come before the files; a file of such a name needs a\n"
		 "path (./top). Exit status: 0, 1 when something failed or a file is damaged, 2 for\n"
		 "wrong usage.\n",
};

static int fail(const char *file, const struct gt_err *err, int status)
{
	gt_err_print("gtanalyze", file, err);
	return status;
}

static bool matches(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_opt_list *globs = arg;

	for (size_t i = 0; i < globs->n; i++)
		if (!fnmatch(globs->items[i], gt_str(seg, type->name), 0))
			return true;
	return false;
}

/* ---- choosing ---- */

#define CHOSEN_MAX 32
struct chosen { const struct gt_analysis *list[CHOSEN_MAX]; unsigned n; };

static void choose(struct chosen *c, const struct gt_analysis *a)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->list[i] == a)
			return;
	if (c->n < CHOSEN_MAX)
		c->list[c->n++] = a;
}

/* Reports stand before the files. The header heads everything. Returns the first operand that is a file. */
static int choose_all(struct chosen *c, char **operands, int n)
{
	int first = 0;

	choose(c, gt_analyses[0]);
	while (first < n && gt_analysis_find(operands[first]))
		choose(c, gt_analysis_find(operands[first++]));
	for (unsigned i = 0; !first && gt_analyses[i]; i++)
		if (gt_analyses[i]->in_default)
			choose(c, gt_analyses[i]);
	return first;
}

static int list_reports(struct gt_out *out, struct gt_err *err)
{
	static const struct gt_column columns[] = {
		{ "report", "Report", GT_C_TEXT }, { "default", "Default", GT_C_TEXT }, { "answers", "Answers", GT_C_TEXT },
	};
	struct gt_table *t = gt_table_new("reports", NULL, columns, 3);
	int rc;

	if (!t)
		return gt_err_set(err, -ENOMEM, "no memory for a table");
	for (unsigned i = 0; gt_analyses[i]; i++)
		gt_table_add(t, (struct gt_cell[]){ { .s = gt_analyses[i]->name }, { .s = gt_analyses[i]->in_default ? "yes" : "no" },
						     { .s = gt_analyses[i]->help } });
	rc = gt_tables_print(&t, 1, (enum gt_table_format)opt.format, out, err);
	gt_table_free(t);
	return rc;
}

/* ---- what to look at ---- */

/* --from and --to count from the start of the first recording. */
static void set_range(struct gt_analysis_options *o)
{
	int64_t ns = 0;

	o->filter.from = INT64_MIN;
	o->filter.to = INT64_MAX;
	o->filter.ranged = opt.from || opt.to;
	if (opt.from && !gt_parse_ns(opt.from, &ns) && __builtin_add_overflow(o->origin, ns, &o->filter.from))
		o->filter.from = INT64_MAX;
	if (opt.to && !gt_parse_ns(opt.to, &ns) && __builtin_add_overflow(o->origin, ns, &o->filter.to))
		o->filter.to = INT64_MAX;
}

/* The options above as one line, for the header. */
static void put_restrictions(struct gt_buf *b)
{
	const char *sep = "";

#define PUT(given, ...) do { if (given) { gt_buf_str(b, sep); gt_buf_printf(b, __VA_ARGS__); sep = ", "; } } while (0)
	PUT(opt.from, "--from %s", opt.from);
	PUT(opt.to, "--to %s", opt.to);
	PUT(opt.pid, "--pid %llu", (unsigned long long)opt.pid);
	PUT(opt.tid, "--tid %llu", (unsigned long long)opt.tid);
	for (size_t i = 0; i < opt.match.n; i++)
		PUT(true, "--match %s", opt.match.items[i]);
#undef PUT
	if (b->len)
		gt_buf_byte(b, 0);
}

static int check_options(struct gt_err *err)
{
	const char *const times[] = { opt.from, opt.to };
	int64_t ns[2] = { INT64_MIN, INT64_MAX };

	for (unsigned i = 0; i < 2; i++)
		if (times[i] && gt_parse_ns(times[i], &ns[i]))
			return gt_err_set(err, -EINVAL, "'%s' is no time: 1.5s, 250ms, 10us, 80ns", times[i]);
	if (ns[0] >= ns[1])
		return gt_err_set(err, -EINVAL, "--from must come before --to");
	if (!opt.threads || opt.threads > 1024)
		return gt_err_set(err, -EINVAL, "--threads takes 1 to 1024");
	if (opt.top > UINT_MAX || opt.pid > INT64_MAX || opt.tid > INT64_MAX)
		return gt_err_set(err, -EINVAL, "a number is too large");
	return 0;
}

/* ---- one file ---- */

static int analyze(const char *path, const struct chosen *c, struct gt_out *out, bool *damaged, struct gt_err *err)
{
	struct gt_reader *r = gt_open_any(path, err);
	struct gt_table *tables[GT_RUN_TABLES];
	struct gt_buf restrictions = { 0 };
	struct gt_analysis_options o = { .top = (unsigned)opt.top, .file = path };
	size_t ndamage = 0;
	int n;

	if (!r)
		return -1;
	o.origin = gt_reader_segments(r) ? gt_reader_segment(r, 0)->min_start : 0;
	o.filter.pid = (int64_t)opt.pid;
	o.filter.tid = (int64_t)opt.tid;
	if (opt.match.n) {
		o.filter.match = matches;
		o.filter.match_arg = &opt.match;
	}
	set_range(&o);
	put_restrictions(&restrictions);
	o.restricted = restrictions.len ? (const char *)restrictions.data : NULL;
	n = gt_run(r, c->list, c->n, &o, (unsigned)opt.threads, tables, err);
	if (n >= 0)
		n = gt_tables_print(tables, (unsigned)n, (enum gt_table_format)opt.format, out, err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	gt_reader_damage(r, &ndamage);
	*damaged |= ndamage > 0;
	gt_buf_release(&restrictions);
	gt_reader_close(r);
	return n < 0 ? n : 0;
}

/* Each file in turn; one that cannot be read does not keep the others from being reported. */
static int analyze_all(const struct chosen *c, char **files, int n, struct gt_out *out)
{
	bool damaged = false;
	int status = 0;

	for (int i = 0; i < n; i++) {
		struct gt_err err = GT_ERR_INIT;

		if (i && opt.format != GT_JSON)
			gt_out_str(out, "\n");
		if (analyze(files[i], c, out, &damaged, &err))
			status = fail(files[i], &err, 1);
	}
	return damaged ? 1 : status;
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	struct chosen chosen = { .n = 0 };
	struct gt_out out;
	int n, first, status = 0, rc;

	gt_streams_guard();
	rc = gt_opt_parse(&command, argc, argv, &n, &err);
	if (rc)
		return rc > 0 ? 0 : fail(NULL, &err, rc == -EINVAL ? 2 : 1);
	if (check_options(&err))
		return fail(NULL, &err, 2);
	first = choose_all(&chosen, argv + 1, n);
	if (first == n && !opt.list) {
		gt_err_set(&err, -EINVAL, "no FILE given: gtanalyze [options] [REPORT...] FILE...");
		return fail(NULL, &err, 2);
	}
	for (int i = first; i < n && !opt.list; i++)
		if (gt_out_would_destroy(opt.output, argv[1 + i], &err))
			return fail(NULL, &err, 1);
	if (gt_out_open(&out, opt.output, opt.force, &err))
		return fail(NULL, &err, 1);
	if (opt.list)
		status = list_reports(&out, &err) ? fail(NULL, &err, 1) : 0;
	else
		status = analyze_all(&chosen, argv + 1 + first, n - first, &out);
	err = (struct gt_err)GT_ERR_INIT;
	if (gt_out_close(&out, &err))
		status = fail(NULL, &err, 1);
	gt_opt_list_release(&opt.match);
	return status;
}
