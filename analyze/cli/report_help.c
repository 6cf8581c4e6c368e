#define _GNU_SOURCE /* memfd_create */
#include "analyze/cli/report_help.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "analyze/cli/explain.h"
#include "analyze/core/exit_status.h"
#include "formats/cuda/gpu_rows.h"

#define SHOWN_COLUMNS 3

/* ---- tables ---- */

static const char *const values[] = {
	[GT_C_TEXT] = "text",
	[GT_C_WHOLE] = "text",
	[GT_C_DATA] = "true, false, a list, ...; in json only",
	[GT_C_COUNT] = "number",
	[GT_C_NS] = "ns; in text with a unit",
	[GT_C_TIME] = "ns since the start; in text s",
	[GT_C_BYTES] = "bytes; in text with a unit",
	[GT_C_PERCENT] = "percent",
	[GT_C_REAL] = "number",
	[GT_C_FIGURE] = "number",
};

static struct gt_table *describe(const struct gt_table *of)
{
	static const struct gt_column columns[SHOWN_COLUMNS] = {
		{ "key", "Key", GT_C_WHOLE },
		{ "column", "Column in text", GT_C_WHOLE },
		{ "values", "Values", GT_C_TEXT },
	};
	unsigned n;
	const struct gt_column *list = gt_table_columns(of, &n);
	struct gt_table *t =
		gt_table_new(gt_table_name(of), gt_table_title(of), columns, SHOWN_COLUMNS);

	for (unsigned i = 0; t && i < n; i++)
		gt_table_add(t,
			(struct gt_cell[SHOWN_COLUMNS]){ { .s = list[i].key },
				{ .s = list[i].title, .absent = !list[i].title },
				{ .s = values[list[i].kind] } });
	if (t) {
		gt_table_set_hideable(t, "column");
		gt_table_note(t, "in csv and json: %s", gt_table_name(of));
	}
	return t;
}

/* ---- traces to try the report on ---- */

static uint32_t add_track(struct gt_writer *w, uint32_t parent, unsigned kind, int64_t id)
{
	return gt_writer_track(w,
		&(struct gt_track){ .parent = parent,
			.name = GT_NONE,
			.source = gt_writer_string(w, "cupti"),
			.kind = (uint8_t)kind,
			.id = id,
			.ns_id = id });
}

static void add_launch(struct gt_writer *w, uint32_t type, uint32_t thread, uint32_t stream,
	struct gt_gpu_types *types, int64_t at, struct gt_err *err)
{
	struct gt_gpu_work work = { .track = stream,
		.start = at + 20,
		.end = at + 30,
		.cause = { .join = GT_JOIN_CORRELATION,
			.track = thread,
			.name = gt_writer_string(w, "cuLaunchKernel"),
			.start = at,
			.ns = 10 } };
	struct gt_gpu_kernel kernel = {
		.name = gt_writer_string(w, "kernel"), .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }
	};

	gt_writer_row(w, GT_CALL, thread,
		&(struct gt_row){ .start = at, .end = at + 10, .type = type }, NULL, err);
	gt_gpu_put_kernel(types, &work, &kernel, err);
}

/* Two launches of a kernel, with a gap between them: reports leave tables out if a GPU did nothing.
 */
static void add_example(struct gt_writer *w, struct gt_err *err)
{
	struct gt_gpu_types types = { .w = w };
	uint32_t process = add_track(w, GT_NONE, GT_TRACK_PROCESS, 1),
		 thread = add_track(w, process, GT_TRACK_THREAD, 1),
		 device = add_track(w, process, GT_TRACK_DEVICE, 0),
		 stream = add_track(w, device, GT_TRACK_STREAM, 7);
	struct gt_type launch = { .name = gt_writer_string(w, "cuLaunchKernel"),
		.category = GT_CAT_LAUNCH,
		.op = GT_OP_LAUNCH };
	uint32_t type = gt_writer_type(w, &launch);

	add_launch(w, type, thread, stream, &types, 100, err);
	add_launch(w, type, thread, stream, &types, 200, err);
	gt_gpu_types_release(&types);
}

static struct gt_reader *make_trace(bool example, struct gt_err *err)
{
	struct gt_writer_options o = { .host = "", .boot_id = "" };
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct gt_writer *w = fd < 0 ? NULL : gt_writer_open(dup(fd), &o, err);

	if (fd < 0)
		gt_err_set(err, -errno, "cannot make a file in memory: %s", strerror(errno));
	if (w && example)
		add_example(w, err);
	if (w && !gt_writer_close(w, err))
		return gt_reader_open_fd(fd, err);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* ---- what the report makes of them ---- */

/* The reason of the first table, or "". */
static void put_reason(const struct gt_table *t, char *to, size_t size)
{
	static const char head[] = "cannot answer: ";

	*to = 0;
	for (size_t i = 0; gt_table_answer(t) == GT_UNANSWERED && gt_table_get_note(t, i); i++)
		if (!strncmp(gt_table_get_note(t, i), head, sizeof(head) - 1))
			snprintf(to, size, "%s", gt_table_get_note(t, i) + sizeof(head) - 1);
}

/* Runs the report over such a trace. Returns the number of its tables, or negative. */
static int try_report(const struct gt_analysis *report, const struct gt_report_options *options,
	bool example, struct gt_table *described[GT_RUN_TABLES], char *why, size_t size,
	struct gt_err *err)
{
	struct gt_analysis_options opt = {
		.file = "FILE", .top = 1, .report_options = options->given
	};
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_reader *r = make_trace(example, err);
	int n = r ? gt_run(r, &report, 1, &opt, 1, tables, err) : err->code;

	for (int i = 0; example && i < n; i++)
		described[i] = describe(tables[i]);
	if (!example && n > 0)
		put_reason(tables[0], why, size);
	for (int i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	gt_reader_close(r);
	return n;
}

/* ---- the rest ---- */

static void put_options(const struct gt_analysis *report, const struct gt_report_options *options)
{
	struct gt_opt rows[GT_REPORT_OPTIONS_MOST];
	struct gt_command own = { .options = rows };

	for (unsigned i = 0; i < options->n; i++)
		if (gt_report_takes(report, options->values[i].row))
			rows[own.noptions++] = options->values[i].row->opt;
	if (own.noptions)
		printf("\nOptions of this report:\n");
	gt_opt_help_rows(&own, stdout);
	printf("\n");
}

static void put_answers(const struct gt_analysis *report, const char *why, struct gt_out *out)
{
	size_t width = gt_explain_width(out);
	char text[400];

	gt_out_printf(out, "\nAnswer and exit status:\n  answered       %d\n", GT_EXIT_CLEAN);
	if (report->finds)
		gt_out_printf(out, "  found          %d\n", GT_EXIT_FOUND);
	snprintf(text, sizeof(text), "%d: %s%s%s", GT_EXIT_UNKNOWN,
		report->needs_unfiltered
			? "data is missing, or --match or --exclude leave out operations"
			: "data is missing, or the options leave it out",
		*why ? "; for example: " : "", why);
	gt_explain_put_words(out, width, "  cannot answer  ", text);
}

static void put_examples(const struct gt_analysis *report, struct gt_out *out)
{
	gt_out_printf(out, "\nExamples:\n  gtanalyze %s trace.zst\n", report->name);
	for (unsigned i = 0; report->options && report->options[i]; i++) {
		const struct gt_opt *o = &report->options[i]->opt;

		if (o->kind != GT_OPT_TEXT)
			gt_out_printf(out, "  gtanalyze %s --%s%s%s trace.zst\n", report->name,
				o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		break;
	}
	gt_out_printf(out, "  gtanalyze %s --format json trace.zst\n\n", report->name);
	gt_explain_put_words(out, gt_explain_width(out), "",
		"All reports take the options that gtanalyze --help lists. Terms: gtanalyze --explain. More: gtanalyze(1).");
}

int gt_report_help(const struct gt_analysis *report, const struct gt_report_options *options,
	bool colours, struct gt_err *err)
{
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_out out;
	char why[300] = "", usage[80];
	int n = try_report(report, options, true, tables, why, sizeof(why), err), rc = n;

	if (rc >= 0)
		rc = try_report(report, options, false, tables, why, sizeof(why), err);
	if (rc >= 0) {
		snprintf(usage, sizeof(usage), "[options] %s FILE...", report->name);
		gt_opt_help_usage(
			&(struct gt_command){
				.name = "gtanalyze", .usage = usage, .about = report->help },
			stdout);
		put_options(report, options);
		rc = fflush(stdout)
			? gt_err_set(err, -errno, "standard output: %s", strerror(errno))
			: gt_out_open(&out, "-", false, err);
	}
	if (rc >= 0) {
		out.colours = colours;
		rc = gt_tables_print(tables, (unsigned)n, GT_TEXT, NULL, &out, err);
		put_answers(report, why, &out);
		put_examples(report, &out);
		if (gt_out_close(&out, err))
			rc = err->code;
	}
	for (int i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	return rc < 0 ? rc : 0;
}
