#include "analyze/cli/trace_options.h"

#include <string.h>
#include "formats/cmdline/progress_line.h"
#include "formats/text/printable.h"

/* Writes the options that leave rows out as one line, for the header. */
static void put_restrictions(struct gt_buf *b, const struct gt_program_options *o)
{
	const char *sep = "";

#define PUT(given, ...)                                                                            \
	do {                                                                                       \
		if (given) {                                                                       \
			gt_buf_str(b, sep);                                                        \
			gt_buf_printf(b, __VA_ARGS__);                                             \
			sep = ", ";                                                                \
		}                                                                                  \
	} while (0)
	PUT(o->steady, "--steady");
	PUT(o->from, "--from %s", o->from);
	PUT(o->to, "--to %s", o->to);
	PUT(o->pid, "--pid %llu", (unsigned long long)o->pid);
	PUT(o->tid, "--tid %llu", (unsigned long long)o->tid);
	for (size_t i = 0; i < o->match.n; i++)
		PUT(true, "--match %s", o->match.items[i]);
	for (size_t i = 0; i < o->exclude.n; i++)
		PUT(true, "--exclude %s", o->exclude.items[i]);
#undef PUT
	if (b->len)
		gt_buf_byte(b, 0);
}

static int set_name_patterns(struct gt_trace_options *t, const struct gt_program_options *o,
	struct gt_reader *r, struct gt_err *err)
{
	const char *unused;
	size_t at = 0;

	if (gt_name_patterns_init(&t->match, &o->match, &o->exclude, r, err))
		return err->code;
	gt_name_patterns_set(&t->match, &t->analysis.filter);
	t->analysis.match_options = !o->exclude.n ? GT_BY_MATCH
		: o->match.n                      ? GT_BY_BOTH
						  : GT_BY_EXCLUDE;
	while ((unused = gt_name_globs_useless(&t->match.exclude, r, &at))) {
		gt_progress_line_hide();
		gt_message(stderr, "gtanalyze", "%s: no name matches --exclude %s",
			t->analysis.file, unused);
	}
	return 0;
}

static bool needs_steady(
	const struct gt_program_options *o, const struct gt_reader *r, bool by_default)
{
	bool wanted = by_default && !o->whole_run && !o->whole && !o->from && !o->to;

	return o->steady || (wanted && gt_default_use_of(r) == GT_DEFAULT_GPU);
}

/* Narrows the options to the steady steps, if the trace has some. */
static int narrow_to_steady(struct gt_trace_options *t, const struct gt_program_options *given,
	struct gt_reader *r, struct gt_err *err)
{
	struct gt_analysis_options *o = &t->analysis;

	if (gt_steady_find(&t->steady, r, o, err))
		return err->code;
	if (!t->steady.ranges && given->steady)
		return gt_err_set(err, -ENOMSG, "there are no steady steps: %s", t->steady.why);
	o->steady = &t->steady;
	if (!t->steady.ranges)
		return 0;
	o->only_steady = true;
	o->whole_run = o->filter;
	o->filter.ranged = true;
	o->filter.from = t->steady.ranges[0].from;
	o->filter.to = t->steady.ranges[0].to;
	o->filter.ranges = gt_reader_segments(r) > 1 ? t->steady.ranges : NULL;
	return 0;
}

int gt_trace_options_set(struct gt_trace_options *t, const struct gt_program_options *o,
	struct gt_reader *r, const char *file, const int64_t *origins, bool steady_by_default,
	struct gt_err *err)
{
	struct gt_analysis_options *analysis = &t->analysis;
	int rc;

	*t = (struct gt_trace_options){ .analysis = { .file = file,
						.top = gt_program_options_top(o),
						.whole = o->whole,
						.names = (enum gt_name_form)o->names,
						.report_options = o->reports.given } };
	analysis->filter.pid = (int64_t)o->pid;
	analysis->filter.tid = (int64_t)o->tid;
	rc = set_name_patterns(t, o, r, err);
	if (rc)
		return rc;
	put_restrictions(&t->restrictions, o);
	analysis->restrictions = t->restrictions.len ? (const char *)t->restrictions.data : NULL;
	rc = gt_time_ranges_set(&t->range, analysis, r, o->from, o->to, origins, err);
	return rc || !needs_steady(o, r, steady_by_default) ? rc : narrow_to_steady(t, o, r, err);
}

void gt_trace_options_release(struct gt_trace_options *t)
{
	gt_buf_release(&t->restrictions);
	gt_name_patterns_release(&t->match);
	gt_time_ranges_release(&t->range);
	gt_steady_release(&t->steady);
}
