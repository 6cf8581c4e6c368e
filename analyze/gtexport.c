/* gtexport: writes a trace in another tool's format. exporters.c lists the exporters; each is an
 * option. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analyze/export/export_trace.h"
#include "analyze/ranks/trace_folders.h"
#include "formats/base/buf.h"
#include "formats/cmdline/interrupts.h"
#include "formats/cmdline/opt.h"
#include "formats/cmdline/std_fds.h"
#include "formats/export/tables/trace_tables.h"
#include "formats/names/globs.h"
#include "formats/symbols/trace_symbols.h"
#include "formats/text/printable.h"

static const char *const costs[] = { "time", "count", "bytes", NULL };
/* "calls", then the words of gt_stack_flames */
static const char *const stacks[] = { "calls", "host", "idle", "kernel", "memory", NULL };

#define ADD_ROWS(to, n, rows)                                                                      \
	(memcpy((to) + (n), rows, sizeof(rows)), (n) + sizeof(rows) / sizeof(*(rows)))

static size_t add_output_options(struct gt_export_args *a, struct gt_opt *o, size_t n)
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

static size_t add_row_options(struct gt_export_args *a, struct gt_opt *o, size_t n)
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

static size_t add_stack_options(struct gt_export_args *a, struct gt_opt *o, size_t n)
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
		{ .name = "baseline",
			.kind = GT_OPT_STR,
			.to = &a->baseline,
			.arg = "TRACE",
			.help = "compare the stacks with those of this earlier trace: two values in each folded line, or a flame graph that is red where time grew and blue where it shrank" },
	};

	return ADD_ROWS(o, n, rows);
}

/* One flag per exporter, then the common options. Returns the number of rows. */
static size_t make_options(struct gt_export_args *a, struct gt_opt *o)
{
	size_t n = 0;

	o[n++] = (struct gt_opt){ .kind = GT_OPT_TEXT, .help = "Formats" };
	for (unsigned i = 0; i < GT_EXPORTERS_MAX && gt_exporters[i]; i++)
		o[n++] = (struct gt_opt){ .name = gt_exporters[i]->name,
			.kind = GT_OPT_FLAG,
			.to = &a->exporter[i],
			.help = gt_exporters[i]->help };
	n = add_output_options(a, o, n);
	n = add_row_options(a, o, n);
	return add_stack_options(a, o, n);
}

static const struct gt_exporter *find_exporter(const struct gt_export_args *a, struct gt_err *err)
{
	const struct gt_exporter *one = NULL;
	char names[200] = "";

	for (unsigned i = 0; i < GT_EXPORTERS_MAX && gt_exporters[i]; i++) {
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
 * is no stream: then the trace's or folder's name with this ending in place of its own. NULL: no
 * memory. */
static char *default_output(const char *trace, const struct gt_exporter *x, const char *suffix)
{
	const char *base = strcmp(trace, "-") ? trace : "trace";
	size_t len = strlen(base), room;
	char *name;

	while (len > 1 && base[len - 1] == '/')
		len--;

	if (x->export && !isatty(STDOUT_FILENO))
		return strdup("-");
	len = gt_export_stem(base, len);
	room = len + strlen(suffix) + 2;
	name = malloc(room);
	if (name)
		snprintf(name, room, "%.*s.%s", (int)len, base, suffix);
	return name;
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

/* ---- which options go together ---- */

/* Refuses an option that this format does not take, and names those that do. */
static int refuse_option(const char *option, enum gt_export_takes what, const struct gt_exporter *x,
	struct gt_err *err)
{
	struct gt_buf names = { 0 };
	const char *last = NULL;
	int rc;

	for (unsigned i = 0; i < GT_EXPORTERS_MAX && gt_exporters[i]; i++) {
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

static int check_max_size(
	const struct gt_export_args *a, const struct gt_exporter *x, struct gt_err *err)
{
	bool by_stack = a->stacks >= 0 || a->cost > GT_COST_TIME;

	if (a->max_size == GT_EXPORT_NO_SIZE)
		return 0;
	if (!a->max_size)
		return gt_err_set(
			err, -EINVAL, "--max-size 0: give at least 1 byte, or leave it out");
	if (x->sums)
		return gt_err_set(err, -EINVAL,
			"--max-size is not for --%s, which writes no events", x->name);
	if (by_stack && !x->limits_size)
		return gt_err_set(err, -EINVAL,
			"--max-size is not for --%s --%s, which writes no events", x->name,
			a->stacks >= 0 ? "stacks" : "cost");
	return 0;
}

static int check_baseline(
	const struct gt_export_args *a, const struct gt_exporter *x, struct gt_err *err)
{
	if (!a->baseline)
		return 0;
	if (!(x->takes & GT_TAKES_BASELINE))
		return refuse_option("baseline", GT_TAKES_BASELINE, x, err);
	if (a->pid || a->tid)
		return gt_err_set(err, -EINVAL,
			"--%s is not for --baseline: another run has other ids; use --match",
			a->pid ? "pid" : "tid");
	return 0;
}

static int check_options(struct gt_export_args *a, const struct gt_exporter *x, struct gt_err *err)
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
	if (a->from != GT_EXPORT_NO_TIME && a->to != GT_EXPORT_NO_TIME && a->from >= a->to)
		return gt_err_set(err, -EINVAL, "--from must come before --to");
	rc = check_baseline(a, x, err);
	rc = rc ? rc : check_max_size(a, x, err);
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

/* The traces that the operands name: one, or for formats that take ranks any number, also as a
 * folder. Returns 0, -EINVAL for wrong usage, or another error; *about is then the folder, or NULL.
 */
static int find_traces(struct gt_files *files, const struct gt_exporter *x, const char *baseline,
	char **operands, int n, const char **about, struct gt_err *err)
{
	int rc;

	*about = NULL;
	if (!n)
		return gt_err_set(err, -EINVAL, "no trace given (see gtexport --help)");
	if (n > 1 && !x->archive)
		return gt_err_set(err, -EINVAL, "give only one trace: --%s writes one", x->name);
	if (baseline && !strcmp(baseline, "-") && !strcmp(operands[0], "-"))
		return gt_err_set(
			err, -EINVAL, "- cannot be both the trace and that of --baseline");
	for (int i = 0; n > 1 && i < n; i++)
		if (!strcmp(operands[i], "-"))
			return gt_err_set(err, -EINVAL, "- cannot be one of several traces");
	if (!x->archive) {
		files->list = calloc(1, sizeof(*files->list));
		files->n = files->list && (files->list[0] = strdup(operands[0])) ? 1 : 0;
		return files->n ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
	}
	rc = gt_files_expand(files, operands, n, about, err);
	if (!rc && files->left_out)
		gt_message(stderr, GT_EXPORT_TOOL,
			"files in the folder that are not traces, and are skipped: %zu",
			files->left_out);
	return rc;
}

/* Exports the traces; the exit status. */
static int run(struct gt_export_args *a, const struct gt_exporter *x, char **operands, int n)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_files files = { 0 };
	const char *about = NULL, *output = a->output;
	char *name = NULL;
	int rc = find_traces(&files, x, a->baseline, operands, n, &about, &err), status;

	if (!rc && !output)
		output = name =
			default_output(operands[0], x, files.n > 1 ? x->archive : x->suffix);
	if (!rc && !output)
		rc = gt_err_set(&err, -ENOMEM, "out of memory");
	rc = rc ? rc : check_output(x, output, &err);
	if (!rc && gt_trace_symbols_start(a->symbols.items, a->symbols.n, &err))
		rc = -EINVAL;
	if (rc) {
		gt_err_print(GT_EXPORT_TOOL, about, &err);
		status = rc == -EINVAL ? 2 : 1;
	} else {
		status = files.n > 1 ? gt_export_ranks(a, x, files.list, files.n, output)
				     : gt_export_trace(a, x, files.list[0], output);
	}
	gt_trace_symbols_report(GT_EXPORT_TOOL);
	gt_trace_symbols_finish();
	gt_files_release(&files);
	free(name);
	return status;
}

int main(int argc, char **argv)
{
	struct gt_export_args a = { .from = GT_EXPORT_NO_TIME,
		.to = GT_EXPORT_NO_TIME,
		.max_size = GT_EXPORT_NO_SIZE,
		.cost = -1,
		.stacks = -1 };
	struct gt_opt options[GT_EXPORTERS_MAX + 24];
	struct gt_command cmd = {
		.name = GT_EXPORT_TOOL,
		.usage = "--FORMAT [options] TRACE...",
		.options = options,
		.about = "Writes a trace in another tool's format.",
		.after =
			"TRACE is a file of gtcollect, or a file of another tool that gt can import; - is standard input.\n"
			"--perfetto takes several traces, or a folder of them, as the ranks of one run, and writes a\n"
			"tar archive. Without -o the output goes to standard output. If that is a terminal, it goes to a\n"
			"file in the trace's folder, with the trace's name and the extension of the format. Exit status:\n"
			"0, 1 failure or damaged trace, 2 usage.",
	};
	struct gt_err err = GT_ERR_INIT;
	const struct gt_exporter *x = NULL;
	int operands = 0, rc, status;

	gt_std_fds_occupy();
	gt_interrupts_install();
	cmd.noptions = make_options(&a, options);
	rc = gt_opt_parse(&cmd, argc, argv, &operands, &err);
	if (rc > 0)
		return 0;
	if (!rc && !(x = find_exporter(&a, &err)))
		rc = -EINVAL;
	rc = rc ? rc : check_options(&a, x, &err);
	if (rc) {
		gt_err_print(GT_EXPORT_TOOL, NULL, &err);
		status = rc == -EINVAL ? 2 : 1;
	} else {
		status = run(&a, x, argv + 1, operands);
	}
	gt_opt_list_release(&a.symbols);
	gt_opt_list_release(&a.match);
	gt_opt_list_release(&a.exclude);
	gt_opt_list_release(&a.tables);
	return status;
}
