/* gtexport: writes a trace in another tool's format. exporters.c lists the exporters; each is an
 * option. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analyze/cli/page_tables.h"
#include "analyze/flame/stack_flame.h"
#include "formats/base/alloc_failure.h"
#include "formats/base/buf.h"
#include "formats/base/numbers.h"
#include "formats/cmdline/interrupts.h"
#include "formats/cmdline/opt.h"
#include "formats/cmdline/progress_line.h"
#include "formats/text/printable.h"
#include "formats/cmdline/std_fds.h"
#include "formats/export/exporters.h"
#include "formats/export/tables/trace_tables.h"
#include "formats/export/level_of_detail.h"
#include "formats/names/globs.h"
#include "formats/import/importers.h"
#include "formats/trace/meta.h"
#include "formats/io/json_build.h"
#include "formats/names/name_patterns.h"
#include "formats/symbols/trace_symbols.h"

#define TOOL "gtexport"
#define EXPORTERS_MAX 32
#define NOT_GIVEN INT64_MIN
#define SIZE_NOT_GIVEN UINT64_MAX

struct args {
	bool exporter[EXPORTERS_MAX], force, no_progress;
	const char *output;
	int64_t from, to;
	uint64_t pid, tid;
	uint64_t max_size; /* bytes, or SIZE_NOT_GIVEN */
	struct gt_opt_list match, exclude, symbols, tables;
	uint64_t table_bits; /* those of tables; 0: all */
	int cost;            /* index in costs[], or -1 */
	int stacks;          /* index in stacks[], or -1 */
};

static const char *const costs[] = { "time", "count", "bytes", NULL };
/* "calls", then the words of gt_stack_flames */
static const char *const stacks[] = { "calls", "host", "idle", "kernel", "memory", NULL };

#define ADD_ROWS(to, n, rows)                                                                      \
	(memcpy((to) + (n), rows, sizeof(rows)), (n) + sizeof(rows) / sizeof(*(rows)))

static size_t add_output_options(struct args *a, struct gt_opt *o, size_t n)
{
	const struct gt_opt rows[] = {
		{ .name = NULL, .kind = GT_OPT_TEXT, .help = "Output" },
		{ .name = "output",
			.letter = 'o',
			.kind = GT_OPT_STR,
			.to = &a->output,
			.arg = "FILE",
			.help = "write to FILE, compressed if it ends in .gz; - is standard output" },
		{ .name = "force",
			.letter = 'f',
			.kind = GT_OPT_FLAG,
			.to = &a->force,
			.help = "replace FILE if it exists" },
		{ .name = "max-size",
			.kind = GT_OPT_SIZE,
			.to = &a->max_size,
			.arg = "BYTES",
			.help = "write at most BYTES (64M, 1G) before compression: short events that do not fit become slices; default of --html 200M" },
		{ .name = "no-progress",
			.kind = GT_OPT_FLAG,
			.to = &a->no_progress,
			.help = "do not show on a terminal how far reading is, if it takes more than 1 s" },
	};

	return ADD_ROWS(o, n, rows);
}

static size_t add_row_options(struct args *a, struct gt_opt *o, size_t n)
{
	const struct gt_opt rows[] = {
		{ .name = NULL, .kind = GT_OPT_TEXT, .help = "What to export" },
		{ .name = "from",
			.kind = GT_OPT_NS,
			.to = &a->from,
			.arg = "TIME",
			.help = "only events that end after TIME (counted from the start of the trace)" },
		{ .name = "to",
			.kind = GT_OPT_NS,
			.to = &a->to,
			.arg = "TIME",
			.help = "only events that begin before TIME (counted from the start of the trace)" },
		{ .name = "pid",
			.kind = GT_OPT_U64,
			.to = &a->pid,
			.arg = "PID",
			.help = "only this process" },
		{ .name = "tid",
			.kind = GT_OPT_U64,
			.to = &a->tid,
			.arg = "TID",
			.help = "only this thread" },
		{ .name = "match",
			.letter = 'm',
			.kind = GT_OPT_LIST,
			.to = &a->match,
			.arg = "GLOB",
			.help = "only names that match, or @CATEGORY; repeat it to match more" },
		{ .name = "exclude",
			.kind = GT_OPT_LIST,
			.to = &a->exclude,
			.arg = "GLOB",
			.help = "no names that match, or @CATEGORY; repeat it to exclude more" },
		{ .name = "table",
			.kind = GT_OPT_LIST,
			.to = &a->tables,
			.arg = "NAME",
			.help = "only this table of --parquet, --arrow and --sqlite; repeat it for more" },
	};

	return ADD_ROWS(o, n, rows);
}

static size_t add_stack_options(struct args *a, struct gt_opt *o, size_t n)
{
	const struct gt_opt rows[] = {
		{ .name = "symbols",
			.kind = GT_OPT_LIST,
			.to = &a->symbols,
			.arg = "DIR",
			.help = "functions and lines of native code by the ELF and debug files in DIR that have the recorded build ids; repeatable" },
		{ .name = "cost",
			.kind = GT_OPT_WORD,
			.to = &a->cost,
			.arg = "WHAT",
			.help = "value of folded stacks and flame graphs",
			.words = costs },
		{ .name = "stacks",
			.kind = GT_OPT_MAYBE_WORD,
			.to = &a->stacks,
			.arg = "WHAT",
			.help = "folded stacks and flame graphs by call stack: of calls and GPU work, of the host's time, of the idle time of GPUs, of kernel time, or of memory at the peak",
			.words = stacks },
	};

	return ADD_ROWS(o, n, rows);
}

/* One flag per exporter, then the common options. Returns the number of rows. */
static size_t make_options(struct args *a, struct gt_opt *o)
{
	size_t n = 0;

	o[n++] = (struct gt_opt){ .kind = GT_OPT_TEXT, .help = "Formats" };
	for (unsigned i = 0; i < EXPORTERS_MAX && gt_exporters[i]; i++)
		o[n++] = (struct gt_opt){ .name = gt_exporters[i]->name,
			.kind = GT_OPT_FLAG,
			.to = &a->exporter[i],
			.help = gt_exporters[i]->help };
	n = add_output_options(a, o, n);
	n = add_row_options(a, o, n);
	return add_stack_options(a, o, n);
}

static const struct gt_exporter *find_exporter(const struct args *a, struct gt_err *err)
{
	const struct gt_exporter *one = NULL;
	char names[200] = "";

	for (unsigned i = 0; i < EXPORTERS_MAX && gt_exporters[i]; i++) {
		size_t len = strlen(names);

		if (a->exporter[i] && one) {
			gt_err_set(err, -EINVAL, "--%s and --%s: give only one format", one->name,
				gt_exporters[i]->name);
			return NULL;
		}
		if (a->exporter[i])
			one = gt_exporters[i];
		snprintf(names + len, sizeof(names) - len, "%s--%s", i ? ", " : "",
			gt_exporters[i]->name);
	}
	if (!one)
		gt_err_set(err, -EINVAL, "no format given: use one of %s", names);
	return one;
}

/* new: the output file if there is no -o. Standard output, unless that is a terminal or the format
 * is no stream: then the trace's name with the exporter's ending in place of its own. NULL: no
 * memory. */
static char *default_output(const char *trace, const struct gt_exporter *x)
{
	static const char *const known[] = { ".gz", ".zst", ".gt", ".jsonl", ".json", ".pftrace" };
	const char *base = strcmp(trace, "-") ? trace : "trace";
	const char *suffix = x->suffix;
	size_t len = strlen(base), room;
	char *name;

	if (x->export && !isatty(STDOUT_FILENO))
		return strdup("-");
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t n = strlen(known[i]);

		if (len > n && base[len - n - 1] != '/' && !strncmp(base + len - n, known[i], n))
			len -= n;
	}
	room = len + strlen(suffix) + 2;
	name = malloc(room);
	if (name)
		snprintf(name, room, "%.*s.%s", (int)len, base, suffix);
	return name;
}

static int64_t plus(int64_t base, int64_t by)
{
	int64_t sum;

	return __builtin_add_overflow(base, by, &sum) ? (by < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Times on the command line count from the first row of the first segment, as in reports. */
static int set_filter(const struct args *a, struct gt_reader *r, struct gt_filter *f,
	struct gt_name_patterns *m, struct gt_err *err)
{
	int64_t start = gt_reader_segments(r) ? gt_reader_segment(r, 0)->min_start : 0;
	int rc = gt_name_patterns_init(m, &a->match, &a->exclude, r, err);
	const char *unused;
	size_t at = 0;

	f->pid = (int64_t)(a->pid & INT64_MAX);
	f->tid = (int64_t)(a->tid & INT64_MAX);
	f->ranged = a->from != NOT_GIVEN || a->to != NOT_GIVEN;
	f->from = a->from == NOT_GIVEN ? INT64_MIN : plus(start, a->from);
	f->to = a->to == NOT_GIVEN ? INT64_MAX : plus(start, a->to);
	gt_name_patterns_set(m, f);
	gt_progress_line_hide();
	while (!rc && (unused = gt_name_globs_useless(&m->exclude, r, &at)))
		gt_message(stderr, TOOL, "no name matches --exclude %s", unused);
	return rc;
}

static json_t *describe_globs(const struct gt_opt_list *globs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < globs->n; i++)
		json_array_append_new(list, gt_json_text(globs->items[i], strlen(globs->items[i])));
	return list;
}

/* new: the filter as JSON, for the metadata of a copy. NULL: no memory. */
static char *describe_filter(const struct args *a, const struct gt_filter *f)
{
	json_t *o = json_object(), *cut = json_object();

	json_object_set_new(cut, "match", describe_globs(&a->match));
	json_object_set_new(cut, "exclude", describe_globs(&a->exclude));
	if (a->from != NOT_GIVEN)
		json_object_set_new(cut, "from_ns", json_integer(a->from));
	if (a->to != NOT_GIVEN)
		json_object_set_new(cut, "to_ns", json_integer(a->to));
	if (f->pid)
		json_object_set_new(cut, "pid", json_integer(f->pid));
	if (f->tid)
		json_object_set_new(cut, "tid", json_integer(f->tid));
	json_object_set_new(o, "cut", cut);
	return gt_json_finish(o);
}

/* The tables that --table names. 0 or negative. */
static int find_tables(const struct gt_opt_list *names, uint64_t *tables, struct gt_err *err)
{
	for (size_t i = 0; i < names->n; i++) {
		uint32_t t = gt_trace_table_find(names->items[i]);

		if (t == GT_NONE)
			return gt_err_set(err, -EINVAL,
				"--table %.40s: there is no such table (gtexport(1) lists them)",
				names->items[i]);
		*tables |= 1ull << t;
	}
	return 0;
}

/* Prints what the importer could not read. */
static int print_import_losses(void *arg, const char *key, const char *value)
{
	static const struct {
		const char *key, *what;
	} counts[] = {
		{ "events_damaged", "events skipped because they are not JSON" },
		{ "values_no_number", "values omitted because they are not numbers (inf, nan)" },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (!strcmp(key, counts[i].key) && strcmp(value, "0"))
			gt_message(stderr, TOOL, "%s: %s: %s", (const char *)arg, counts[i].what,
				value);
	return 0;
}

/* Prints a line for each part of the trace that is missing or damaged, and so not in the output.
 * Returns the exit status. */
static int print_losses(const char *file, struct gt_reader *r)
{
	size_t n;
	const struct gt_damage *d = gt_reader_damage(r, &n);

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *s = gt_reader_segment(r, i);

		gt_meta_each(s, print_import_losses, (void *)file);
		if (!s->closed)
			gt_message(stderr, TOOL,
				"%s: segment %u was not closed: complete up to %.9f s, %" PRIu64
				" byte%s at its end unread",
				file, i,
				s->complete_to > s->min_start
					? (double)gt_since(s->complete_to, s->min_start) / 1e9
					: 0.0,
				s->unread_bytes, gt_plural(s->unread_bytes, "s"));
	}
	for (size_t i = 0; i < n && i < 10; i++) {
		if (d[i].rows)
			gt_message(stderr, TOOL,
				"%s: damaged at byte %" PRIu64 ": %u row%s missing: %.100s", file,
				d[i].offset, d[i].rows, d[i].rows == 1 ? " is" : "s are",
				d[i].text);
		else
			gt_message(stderr, TOOL, "%s: damaged at byte %" PRIu64 ": %.100s", file,
				d[i].offset, d[i].text);
	}
	if (n > 10)
		gt_message(stderr, TOOL, "%s: and %zu more damaged place%s", file, n - 10,
			n == 11 ? "" : "s");
	return n ? 1 : 0;
}

/* Progress is not shown if the output goes to a terminal or to another program, which may print on
 * the same one. */
static bool is_progress_wanted(const struct args *a, const char *output)
{
	struct stat st;

	return !a->no_progress &&
		(strcmp(output, "-") || (!fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode)));
}

/* Adds the tables of reports for an exporter that writes them. */
static int add_reports(const struct gt_exporter *x, struct gt_reader *r,
	struct gt_export_options *opt, struct gt_out *json, struct gt_err *err)
{
	int rc;

	gt_out_memory(json);
	if (!x->has_reports)
		return 0;
	rc = gt_page_reports(r, &opt->filter, opt->name,
		opt->filter.match ? "--match, --exclude" : NULL, json, err);
	gt_out_add(json, "", 1); /* its end */
	if (!rc && json->failed)
		rc = gt_err_set(err, json->failed, "out of memory");
	opt->reports = rc ? NULL : json->data;
	return rc;
}

/* --max-size: prints the number of merged events on standard error. */
static void export_within(const struct args *a, const struct gt_exporter *x, struct gt_reader *r,
	const struct gt_export_options *opt, struct gt_out *out, struct gt_err *err)
{
	struct gt_detail d;

	if (gt_export_within(x, r, opt, a->max_size, out, &d, err) || !d.merged)
		return;
	gt_progress_line_hide();
	gt_message(stderr, TOOL,
		"%" PRIu64 " events shorter than %.3f us are merged into %" PRIu64
		" slices, to fit into --max-size",
		d.merged, (double)d.shorter_than / 1e3, d.slices);
}

/* --stacks: the tree of an analysis, else what the exporter reads. */
static void export_rows(const struct args *a, const struct gt_exporter *x, struct gt_reader *r,
	struct gt_export_options *opt, struct gt_out *out, struct gt_err *err)
{
	struct gt_stack_tree tree;
	int rc;

	if (a->max_size != SIZE_NOT_GIVEN && !x->limits_size) {
		export_within(a, x, r, opt, out, err);
		return;
	}
	if (a->stacks <= 0) {
		x->export(r, opt, out, err);
		return;
	}
	rc = gt_stack_flame_run(&tree, (enum gt_stack_flame_kind)(a->stacks - 1), r, &opt->filter,
		opt->filter.match ? "--match, --exclude" : NULL, err);
	opt->tree = &tree;
	if (!rc)
		x->export(r, opt, out, err);
	opt->tree = NULL;
	gt_stack_tree_release(&tree);
}

/* Writes a stream. err gets the exporter's error. Returns 1 if the output is incomplete, and has
 * printed why if err says nothing. */
static int write_stream(const struct args *a, const struct gt_exporter *x, struct gt_reader *r,
	struct gt_export_options *opt, const char *output, struct gt_err *err)
{
	struct gt_err out_err = GT_ERR_INIT;
	struct gt_out out, reports;
	int unwritten;

	if (gt_out_open(&out, output, a->force, &out_err)) {
		gt_progress_line_stop();
		gt_err_print(TOOL, NULL, &out_err);
		return 1;
	}
	if (!add_reports(x, r, opt, &reports, err))
		export_rows(a, x, r, opt, &out, err);
	gt_out_close(&reports, &out_err);
	out_err = (struct gt_err)GT_ERR_INIT;
	if (gt_alloc_failed())
		gt_err_set(err, -ENOMEM, GT_ALLOC_FAILURE_TEXT);
	gt_progress_line_stop();
	gt_out_flush(&out);
	unwritten = out.failed;
	if (err->code)
		gt_out_fail(&out, err->code); /* so that the incomplete file gets no name */
	if (gt_out_close(&out, &out_err) && (unwritten || !err->code)) {
		gt_err_print(TOOL, NULL, &out_err);
		return 1;
	}
	return err->code != 0;
}

/* The same where the exporter writes files itself. */
static int write_files(const struct args *a, const struct gt_exporter *x, struct gt_reader *r,
	const struct gt_export_options *opt, const char *output, struct gt_err *err)
{
	x->export_to(r, opt, output, a->force, err);
	if (gt_alloc_failed())
		gt_err_set(err, -ENOMEM, GT_ALLOC_FAILURE_TEXT);
	gt_progress_line_stop();
	return err->code != 0;
}

/* Prints an error that came before the output began. */
static int refuse(struct gt_err *err, const char *trace)
{
	gt_progress_line_stop();
	gt_err_print(TOOL, trace, err);
	return 1;
}

static int run(
	const struct args *a, const struct gt_exporter *x, const char *trace, const char *output)
{
	const char *slash = strrchr(trace, '/');
	struct gt_export_options opt = { .cost = a->cost < 0 ? GT_COST_TIME : (enum gt_cost)a->cost,
		.by_stack = a->stacks >= 0,
		.tables = a->table_bits,
		.name = slash ? slash + 1 : trace,
		.max_size = a->max_size == SIZE_NOT_GIVEN ? 0 : a->max_size };
	struct gt_err err = GT_ERR_INIT;
	struct gt_name_patterns match;
	struct gt_reader *r;
	char *cut = NULL;
	int status = 1;

	gt_progress_line_start(trace, is_progress_wanted(a, output));
	r = gt_open_any(trace, &err);
	if (!r)
		return refuse(&err, trace);
	if (set_filter(a, r, &opt.filter, &match, &err) ||
		gt_out_would_destroy(output, trace, &err)) {
		refuse(&err, NULL);
		goto out;
	}
	if ((opt.filter.ranged || opt.filter.pid || opt.filter.tid || opt.filter.match) &&
		!(opt.cut = cut = describe_filter(a, &opt.filter)))
		gt_err_set(&err, -ENOMEM, "out of memory");
	if (!err.code)
		status = x->export ? write_stream(a, x, r, &opt, output, &err)
				   : write_files(a, x, r, &opt, output, &err);
	if (err.code)
		status = refuse(&err, trace);
	status |= print_losses(trace, r);
	if (!status && gt_alloc_failed()) {
		gt_message(
			stderr, TOOL, "%s: out of memory: messages about it may be missing", trace);
		status = 1;
	}
	if (!status && !a->output && strcmp(output, "-"))
		gt_message(stderr, TOOL, "wrote %s", output);
out:
	gt_name_patterns_release(&match);
	gt_reader_close(r);
	free(cut);
	return status;
}

/* ---- which options go together ---- */

/* Refuses an option that this format does not take, and names those that do. */
static int refuse_option(const char *option, enum gt_export_takes what, const struct gt_exporter *x,
	struct gt_err *err)
{
	struct gt_buf names = { 0 };
	const char *last = NULL;
	int rc;

	for (unsigned i = 0; i < EXPORTERS_MAX && gt_exporters[i]; i++) {
		if (!(gt_exporters[i]->takes & what))
			continue;
		if (last)
			gt_buf_printf(&names, "%s--%s", names.len ? ", " : "", last);
		last = gt_exporters[i]->name;
	}
	gt_buf_byte(&names, 0);
	rc = gt_err_set(err, -EINVAL, "--%s is not for --%s: it is for %s and --%s", option,
		x->name, names.failed ? "other formats" : (const char *)names.data, last);
	gt_buf_release(&names);
	return rc;
}

static int check_max_size(const struct args *a, const struct gt_exporter *x, struct gt_err *err)
{
	bool by_stack = a->stacks >= 0 || a->cost > GT_COST_TIME;

	if (a->max_size == SIZE_NOT_GIVEN)
		return 0;
	if (!a->max_size)
		return gt_err_set(
			err, -EINVAL, "--max-size 0: give at least 1 byte, or leave it out");
	if (x->sums)
		return gt_err_set(err, -EINVAL,
			"--max-size is not for --%s, which writes no events", x->name);
	if (!x->export)
		return gt_err_set(err, -EINVAL,
			"--max-size is not for --%s: use --native --max-size, and export that file",
			x->name);
	if (by_stack && !x->limits_size)
		return gt_err_set(err, -EINVAL,
			"--max-size is not for --%s --%s, which writes no events", x->name,
			a->stacks >= 0 ? "stacks" : "cost");
	return 0;
}

static int check_options(struct args *a, const struct gt_exporter *x, struct gt_err *err)
{
	int rc;

	if (a->stacks >= 0 && !(x->takes & GT_TAKES_STACKS))
		return refuse_option("stacks", GT_TAKES_STACKS, x, err);
	if (a->cost >= 0 && !(x->takes & GT_TAKES_COST))
		return refuse_option("cost", GT_TAKES_COST, x, err);
	if (a->tables.n && !(x->takes & GT_TAKES_TABLES))
		return refuse_option("table", GT_TAKES_TABLES, x, err);
	if (a->stacks > 0 && a->cost >= 0)
		return gt_err_set(err, -EINVAL, "--cost is for flame graphs of calls and GPU work");
	if (a->from != NOT_GIVEN && a->to != NOT_GIVEN && a->from >= a->to)
		return gt_err_set(err, -EINVAL, "--from must come before --to");
	rc = check_max_size(a, x, err);
	rc = rc ? rc : gt_globs_check(&a->match, "--match", err);
	rc = rc ? rc : gt_globs_check(&a->exclude, "--exclude", err);
	return rc ? rc : find_tables(&a->tables, &a->table_bits, err);
}

/* Can this format be written to this output? */
static int check_output(const struct gt_exporter *x, const char *output, struct gt_err *err)
{
	size_t len = strlen(output);
	struct stat st;

	if (x->export && !x->needs_file)
		return 0;
	if (!strcmp(output, "-"))
		return gt_err_set(
			err, -EINVAL, "--%s writes no stream: give a name with -o", x->name);
	if (!x->needs_file)
		return 0;
	if (!stat(output, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return gt_err_set(err, -EINVAL,
			"--%s writes no stream, and %s is a pipe: give another name with -o",
			x->name, output);
	if (len > 3 && !strcmp(output + len - 3, ".gz"))
		return gt_err_set(err, -EINVAL,
			"--%s cannot be compressed: choose a name without .gz", x->name);
	return 0;
}

int main(int argc, char **argv)
{
	struct args a = { .from = NOT_GIVEN,
		.to = NOT_GIVEN,
		.max_size = SIZE_NOT_GIVEN,
		.cost = -1,
		.stacks = -1 };
	struct gt_opt options[EXPORTERS_MAX + 24];
	struct gt_command cmd = {
		.name = TOOL,
		.usage = "--FORMAT [options] TRACE",
		.options = options,
		.about = "Writes a trace in another tool's format.",
		.after =
			"TRACE is a file of gtcollect, or a file of another tool that gt can import; - is standard input.\n"
			"Without -o the output goes to standard output. If that is a terminal, it goes to a file in the\n"
			"trace's folder, with the trace's name and the extension of the format. Exit status: 0, 1 failure\n"
			"or damaged trace, 2 usage.",
	};
	struct gt_err err = GT_ERR_INIT;
	const struct gt_exporter *x = NULL;
	char *name = NULL;
	int operands = 0, rc, status;

	gt_std_fds_occupy();
	gt_interrupts_install();
	cmd.noptions = make_options(&a, options);
	rc = gt_opt_parse(&cmd, argc, argv, &operands, &err);
	if (rc > 0)
		return 0;
	if (!rc && operands != 1)
		rc = gt_err_set(&err, -EINVAL,
			operands ? "give only one trace" : "no trace given (see gtexport --help)");
	if (!rc && !(x = find_exporter(&a, &err)))
		rc = -EINVAL;
	rc = rc ? rc : check_options(&a, x, &err);
	if (!rc && !a.output && !(name = default_output(argv[1], x)))
		rc = gt_err_set(&err, -ENOMEM, "out of memory");
	rc = rc ? rc : check_output(x, a.output ? a.output : name, &err);
	if (!rc && gt_trace_symbols_start(a.symbols.items, a.symbols.n, &err))
		rc = -EINVAL;
	if (rc) {
		gt_err_print(TOOL, NULL, &err);
		status = rc == -EINVAL ? 2 : 1;
	} else {
		status = run(&a, x, argv[1], a.output ? a.output : name);
	}
	gt_trace_symbols_report(TOOL);
	gt_trace_symbols_finish();
	gt_opt_list_release(&a.symbols);
	gt_opt_list_release(&a.match);
	gt_opt_list_release(&a.exclude);
	gt_opt_list_release(&a.tables);
	free(name);
	return status;
}
