/* Exports one trace: the filter of the command line, the exporter, messages about missing parts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analyze/cli/page_tables.h"
#include "analyze/export/export_internal.h"
#include "analyze/flame/stack_flame.h"
#include "formats/base/alloc_failure.h"
#include "formats/base/numbers.h"
#include "formats/cmdline/progress_line.h"
#include "formats/export/level_of_detail.h"
#include "formats/import/importers.h"
#include "formats/io/json_build.h"
#include "formats/names/globs.h"
#include "formats/text/printable.h"
#include "formats/trace/meta.h"

int64_t gt_export_time(int64_t base, int64_t by)
{
	int64_t sum;

	return __builtin_add_overflow(base, by, &sum) ? (by < 0 ? INT64_MIN : INT64_MAX) : sum;
}

size_t gt_export_stem(const char *path, size_t len)
{
	static const char *const endings[] = { ".gz", ".zst", ".gt", ".jsonl", ".json",
		".pftrace" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && path[len - n - 1] != '/' && !strncmp(path + len - n, endings[i], n))
			len -= n;
	}
	return len;
}

static void print_useless(const char *trace, const char *option, const struct gt_name_globs *globs,
	struct gt_reader *r)
{
	const char *unused;
	size_t at = 0;

	while ((unused = gt_name_globs_useless(globs, r, &at)))
		gt_message(stderr, GT_EXPORT_TOOL, "%s: no name matches --%s %s", trace, option,
			unused);
}

/* Times on the command line count from the first row of the first segment, as in reports. */
static int set_filter(const struct gt_export_args *a, const char *trace, struct gt_reader *r,
	struct gt_filter *f, struct gt_name_patterns *m, struct gt_err *err)
{
	int64_t start = gt_reader_segments(r) ? gt_reader_segment(r, 0)->min_start : 0;
	int rc = gt_name_patterns_init(m, &a->match, &a->exclude, r, err);

	f->pid = (int64_t)(a->pid & INT64_MAX);
	f->tid = (int64_t)(a->tid & INT64_MAX);
	f->ranged = a->from != GT_EXPORT_NO_TIME || a->to != GT_EXPORT_NO_TIME;
	f->from = a->from == GT_EXPORT_NO_TIME ? INT64_MIN : gt_export_time(start, a->from);
	f->to = a->to == GT_EXPORT_NO_TIME ? INT64_MAX : gt_export_time(start, a->to);
	gt_name_patterns_set(m, f);
	gt_progress_line_hide();
	if (!rc) {
		print_useless(trace, "match", &m->match, r);
		print_useless(trace, "exclude", &m->exclude, r);
	}
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
static char *describe_filter(const struct gt_export_args *a, const struct gt_filter *f)
{
	json_t *o = json_object(), *cut = json_object();

	json_object_set_new(cut, "match", describe_globs(&a->match));
	json_object_set_new(cut, "exclude", describe_globs(&a->exclude));
	if (a->from != GT_EXPORT_NO_TIME)
		json_object_set_new(cut, "from_ns", json_integer(a->from));
	if (a->to != GT_EXPORT_NO_TIME)
		json_object_set_new(cut, "to_ns", json_integer(a->to));
	if (f->pid)
		json_object_set_new(cut, "pid", json_integer(f->pid));
	if (f->tid)
		json_object_set_new(cut, "tid", json_integer(f->tid));
	json_object_set_new(o, "cut", cut);
	return gt_json_finish(o);
}

/* Prints what the importer could not read. */
static int print_import_losses(void *arg, const char *key, const char *value)
{
	static const struct {
		const char *key, *what;
	} counts[] = {
		{ "events_damaged", "events skipped because they are not JSON" },
		{ "events_without_time", "events skipped because they have no valid time" },
		{ "events_not_understood", "events skipped because their form is unknown" },
		{ "events_of_other_phases",
			"events skipped because of their kind (samples, objects, arrows other than launches)" },
		{ "tables_not_read", "tables of the database that are not read" },
		{ "lines_not_understood", "lines skipped because their form is unknown" },
		{ "values_no_number", "values omitted because they are not numbers (inf, nan)" },
	};

	if (!strcmp(key, "truncated") && !strcmp(value, "true"))
		gt_message(stderr, GT_EXPORT_TOOL, "%s: truncated: its end is missing",
			(const char *)arg);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (!strcmp(key, counts[i].key) && *value && strcmp(value, "0"))
			gt_message(stderr, GT_EXPORT_TOOL, "%s: %s: %s", (const char *)arg,
				counts[i].what, value);
	return 0;
}

/* Prints a line for each part of the trace that is missing or damaged, and so not in the output.
 * Returns the exit status. */
int gt_export_print_losses(const char *file, struct gt_reader *r)
{
	size_t n;
	const struct gt_damage *d = gt_reader_damage(r, &n);

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *s = gt_reader_segment(r, i);

		gt_meta_each(s, print_import_losses, (void *)file);
		if (!s->closed)
			gt_message(stderr, GT_EXPORT_TOOL,
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
			gt_message(stderr, GT_EXPORT_TOOL,
				"%s: damaged at byte %" PRIu64 ": %u row%s missing: %.100s", file,
				d[i].offset, d[i].rows, d[i].rows == 1 ? " is" : "s are",
				d[i].text);
		else
			gt_message(stderr, GT_EXPORT_TOOL,
				"%s: damaged at byte %" PRIu64 ": %.100s", file, d[i].offset,
				d[i].text);
	}
	if (n > 10)
		gt_message(stderr, GT_EXPORT_TOOL, "%s: and %zu more damaged place%s", file, n - 10,
			n == 11 ? "" : "s");
	return n ? 1 : 0;
}

/* Progress is not shown if the output goes to a terminal or to another program, which may print on
 * the same one. */
bool gt_export_shows_progress(const struct gt_export_args *a, const char *output)
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
static void print_merged(const struct gt_exported *e, const struct gt_detail *d)
{
	if (!d->merged)
		return;
	gt_progress_line_hide();
	gt_message(stderr, GT_EXPORT_TOOL,
		"%s%s%" PRIu64 " events shorter than %.3f us are merged into %" PRIu64
		" slices, to fit into --max-size",
		e->opt.file_number ? e->trace : "", e->opt.file_number ? ": " : "", d->merged,
		(double)d->shorter_than / 1e3, d->slices);
}

static void export_within(const struct gt_export_args *a, const struct gt_exporter *x,
	const struct gt_exported *e, struct gt_out *out, struct gt_err *err)
{
	struct gt_detail d;

	if (!gt_export_within(x, e->reader, &e->opt, a->max_size, out, &d, err))
		print_merged(e, &d);
}

int gt_export_tree(const struct gt_export_args *a, struct gt_exported *e,
	struct gt_stack_tree *tree, struct gt_err *err)
{
	if (a->stacks <= 0)
		return gt_stack_tree_build(tree, e->reader, &e->opt, err);
	return gt_stack_flame_run(tree, (enum gt_stack_flame_kind)(a->stacks - 1), e->reader,
		&e->opt.filter, e->opt.filter.match ? "--match, --exclude" : NULL, err);
}

void gt_export_run(
	const struct gt_exporter *x, struct gt_exported *e, struct gt_out *out, struct gt_err *err)
{
	int rc = x->export(e->reader, &e->opt, out, err);

	if (rc && !err->code && !out->failed) /* gt_out_close() reports an output that failed */
		gt_err_set(err, rc, "cannot be exported: %s", strerror(rc < 0 ? -rc : EIO));
}

static void export_tree(const struct gt_export_args *a, const struct gt_exporter *x,
	struct gt_exported *e, struct gt_out *out, struct gt_err *err)
{
	struct gt_stack_tree tree;
	int rc = gt_export_tree(a, e, &tree, err);

	e->opt.tree = &tree;
	if (!rc)
		gt_export_run(x, e, out, err);
	e->opt.tree = NULL;
	gt_stack_tree_release(&tree);
}

void gt_export_stream(const struct gt_export_args *a, const struct gt_exporter *x,
	struct gt_exported *e, struct gt_out *out, struct gt_err *err)
{
	if (a->baseline)
		gt_export_compared(a, x, e, out, err);
	else if (a->max_size != GT_EXPORT_NO_SIZE && !x->limits_size)
		export_within(a, x, e, out, err);
	else if (a->stacks > 0)
		export_tree(a, x, e, out, err);
	else
		gt_export_run(x, e, out, err);
}

int gt_export_close(struct gt_out *out, struct gt_err *err)
{
	struct gt_err out_err = GT_ERR_INIT;
	int unwritten;

	if (gt_alloc_failed())
		gt_err_set(err, -ENOMEM, GT_ALLOC_FAILURE_TEXT);
	gt_progress_line_stop();
	gt_out_flush(out);
	unwritten = out->failed;
	if (err->code)
		gt_out_fail(out, err->code); /* so that the incomplete file gets no name */
	if (gt_out_close(out, &out_err) && (unwritten || !err->code)) {
		gt_err_print(GT_EXPORT_TOOL, NULL, &out_err);
		return 1;
	}
	return err->code != 0;
}

/* Writes a stream. err gets the exporter's error. Returns 1 if the output is incomplete, and has
 * printed why if err says nothing. */
static int write_stream(const struct gt_export_args *a, const struct gt_exporter *x,
	struct gt_exported *e, const char *output, struct gt_err *err)
{
	struct gt_err out_err = GT_ERR_INIT;
	struct gt_out out, reports;

	if (gt_out_open(&out, output, a->force, &out_err)) {
		gt_progress_line_stop();
		gt_err_print(GT_EXPORT_TOOL, NULL, &out_err);
		return 1;
	}
	if (!add_reports(x, e->reader, &e->opt, &reports, err))
		gt_export_stream(a, x, e, &out, err);
	gt_out_close(&reports, NULL);
	return gt_export_close(&out, err);
}

/* The same where the exporter writes files itself. */
static int write_files(const struct gt_export_args *a, const struct gt_exporter *x,
	const struct gt_exported *e, const char *output, struct gt_err *err)
{
	struct gt_detail d = { 0 };

	if (a->max_size == GT_EXPORT_NO_SIZE)
		x->export_to(e->reader, &e->opt, output, a->force, err);
	else if (!gt_export_files_within(x, e->reader, &e->opt, output, a->force, &d, err))
		print_merged(e, &d);
	if (gt_alloc_failed())
		gt_err_set(err, -ENOMEM, GT_ALLOC_FAILURE_TEXT);
	gt_progress_line_stop();
	return err->code != 0;
}

/* Prints an error that came before the output began. */
int gt_export_refuse(struct gt_err *err, const char *trace)
{
	gt_progress_line_stop();
	gt_err_print(GT_EXPORT_TOOL, trace, err);
	return 1;
}

int gt_exported_init(struct gt_exported *e, const struct gt_export_args *a, const char *trace,
	struct gt_reader *reader, struct gt_err *err)
{
	const char *slash = strrchr(trace, '/');
	struct gt_filter *f = &e->opt.filter;

	*e = (struct gt_exported){ .trace = trace,
		.reader = reader,
		.opt = { .cost = a->cost < 0 ? GT_COST_TIME : (enum gt_cost)a->cost,
			.by_stack = a->stacks >= 0,
			.tables = a->table_bits,
			.name = slash ? slash + 1 : trace,
			.max_size = a->max_size == GT_EXPORT_NO_SIZE ? 0 : a->max_size } };
	if (set_filter(a, trace, reader, f, &e->patterns, err))
		return err->code;
	if ((f->ranged || f->pid || f->tid || f->match) &&
		!(e->opt.cut = e->cut = describe_filter(a, f)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	return 0;
}

void gt_exported_release(struct gt_exported *e)
{
	gt_name_patterns_release(&e->patterns);
	free(e->cut);
}

int gt_export_trace(const struct gt_export_args *a, const struct gt_exporter *x, const char *trace,
	const char *output)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_exported e;
	struct gt_reader *r;
	int status = 1;

	gt_progress_line_start(trace, gt_export_shows_progress(a, output));
	r = gt_open_any(trace, &err);
	if (!r)
		return gt_export_refuse(&err, trace);
	if (gt_exported_init(&e, a, trace, r, &err) || gt_out_would_destroy(output, trace, &err) ||
		(a->baseline && gt_out_would_destroy(output, a->baseline, &err))) {
		gt_export_refuse(&err, NULL);
		goto out;
	}
	status = x->export ? write_stream(a, x, &e, output, &err)
			   : write_files(a, x, &e, output, &err);
	if (err.code)
		status = gt_export_refuse(&err, trace);
	status |= gt_export_print_losses(trace, r);
	if (!status && gt_alloc_failed()) {
		gt_message(stderr, GT_EXPORT_TOOL,
			"%s: out of memory: messages about it may be missing", trace);
		status = 1;
	}
	if (!status && !a->output && strcmp(output, "-"))
		gt_message(stderr, GT_EXPORT_TOOL, "wrote %s", output);
out:
	gt_exported_release(&e);
	gt_reader_close(r);
	return status;
}
