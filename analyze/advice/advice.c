/* Report "advice": the answers of the rules (advice_rules.c), findings first, the largest potential
 * speedup first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/advice/verdict.h"
#include "analyze/ranks/ranks.h"
#include "analyze/steps/steady.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define SEE "     see: "
#define LABEL 10u /* columns of a label such as SEE */
#define LINE 100u /* columns, if they are not known */

#define ns_text(ns) gt_scaled(GT_C_NS, gt_clamp(ns)).text

/* ---- the table ---- */

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT }, /* of the example */
	{ "rule", "Rule", GT_C_WHOLE },
	{ "state", "Answer", GT_C_WHOLE },
	{ "cost_ns", "Costs", GT_C_NS },
	{ "gain_ns", "Up to", GT_C_NS },
	{ "gain_percent", "%", GT_C_PERCENT },
	{ "at_ns", "See", GT_C_TIME },
	{ "duration_ns", "for", GT_C_NS },
	{ "pid", "PID", GT_C_COUNT },
	{ "device", "Device", GT_C_COUNT },
	{ "tid", "TID", GT_C_COUNT },
	{ "evidence", "Why", GT_C_TEXT },
	{ "remedy", NULL, GT_C_TEXT },
	{ "bytes", NULL, GT_C_BYTES },
	{ "gain_per_step_ns", NULL, GT_C_NS },
	{ "step", NULL, GT_C_COUNT },
	{ "detail", NULL, GT_C_TEXT },
	{ "command", NULL, GT_C_TEXT },
};
#define NCOLUMNS 18
#define PAGE_FINDINGS 3u /* findings on a page */

struct answer {
	const struct gt_rule *rule;
	struct gt_finding f;
};

/* Findings of time come first, then those of memory, then those that count time a second time. */
static unsigned group(const struct answer *a)
{
	return a->rule->flags & GT_SAME_TIME ? 2 : a->f.bytes ? 1 : 0;
}

static int by_gain(const void *pa, const void *pb)
{
	static const int order[] = { [GT_FOUND] = 0, [GT_UNANSWERED] = 1, [GT_ANSWERED] = 2 };
	const struct answer *a = pa, *b = pb;

	if (a->f.state != b->f.state)
		return order[a->f.state] - order[b->f.state];
	if (a->f.state == GT_FOUND && group(a) != group(b))
		return (int)group(a) - (int)group(b);
	if (a->f.gain != b->f.gain)
		return a->f.gain < b->f.gain ? 1 : -1;
	return (a->rule > b->rule) - (a->rule < b->rule);
}

static const char *const states[] = { "clean", "found", "cannot answer" };

/* Where an example is: tracks of its segment, or GT_NONE. */
struct location {
	uint32_t process, device, thread;
};

static struct location location(const struct gt_idle *s, const struct gt_evidence *e)
{
	uint32_t first = s->order.tracks[e->seg->index],
		 device = e->device == GT_NONE ? GT_NONE : e->device - first,
		 thread = e->thread == GT_NONE ? GT_NONE : e->thread - first;

	/* a row of a file of another tool may be on the track of a device */
	if (thread != GT_NONE && gt_track_device(e->seg, thread) != GT_NONE) {
		device = thread;
		thread = GT_NONE;
	}
	return (struct location){ .device = gt_track_device(e->seg, device),
		.thread = thread,
		.process = gt_track_process(e->seg, thread != GT_NONE ? thread : device) };
}

static struct gt_cell id_of(const struct gt_evidence *e, uint32_t track)
{
	return track == GT_NONE ? gt_cell_none() : gt_cell_i(e->seg->tracks[track].id);
}

/* The number of the step that the example is in; 0: none, or no steady steps. */
static size_t step_of(const struct gt_idle *s, const struct gt_evidence *e)
{
	const struct gt_steady *steady = s->report.opt->steady;
	struct location w = location(s, e);
	const struct gt_loop *l = NULL;

	if (s->report.opt->only_steady && w.device != GT_NONE)
		l = gt_steady_loop(steady, e->seg, w.device);
	else if (s->report.opt->only_steady)
		l = gt_loop_of_process(&steady->loops, e->seg, w.process);
	return l ? gt_loop_step_at(l, e->from) : 0;
}

/* The time of the example as gtview shows it: ranks are opened one by one, and each counts from its
 * own start. */
static int64_t time_in_file(const struct gt_idle *s, const struct gt_evidence *e)
{
	const struct gt_rank_name *ranks = s->report.opt->ranks;
	struct gt_reader *r = s->report.reader;
	int64_t origin = e->seg->min_start;

	if (!ranks)
		return gt_time_since_origin(&s->report, e->seg, e->from);
	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		if (ranks[i].file == ranks[e->seg->index].file && gt_same_clock(seg, e->seg) &&
			seg->min_start < origin)
			origin = seg->min_start;
	}
	return gt_subtract_origin(e->from, origin);
}

/* Writes a file name as a word of a shell. */
static void put_shell_word(struct gt_buf *b, const char *file)
{
	bool plain = *file && *file != '-' && !file[strcspn(file, " \t\n'\"\\$`&;()<>|*?[]#~!{}")];

	if (plain) {
		gt_buf_str(b, file);
		return;
	}
	gt_buf_str(b, *file == '-' ? "'./" : "'");
	for (; *file; file++)
		if (*file == '\'')
			gt_buf_str(b, "'\\''");
		else
			gt_buf_byte(b, (uint8_t)*file);
	gt_buf_byte(b, '\'');
}

/* new: the command that shows the example: "gtview --at 6.563680s+89us train.zst". The caller frees
 * it. NULL: no memory. */
static char *command_of(const struct gt_idle *s, const struct gt_evidence *e)
{
	const struct gt_analysis_options *opt = s->report.opt;
	const char *file = opt->ranks ? opt->ranks[e->seg->index].file : opt->file;
	int64_t at = time_in_file(s, e);
	uint64_t ns = (uint64_t)(e->to - e->from);
	bool fine = ns < 10000;
	struct gt_buf b = { 0 };

	gt_buf_printf(&b, "gtview --at %lld.%0*llds+%llu%s ", (long long)(at / 1000000000),
		fine ? 9 : 6, (long long)(at % 1000000000) / (fine ? 1 : 1000),
		(unsigned long long)(fine ? ns : (ns + 999) / 1000), fine ? "ns" : "us");
	put_shell_word(&b, file ? file : "FILE");
	gt_buf_byte(&b, 0);
	if (!b.failed)
		return (char *)b.data;
	gt_buf_release(&b);
	return NULL;
}

static void add_answer(const struct gt_advice_facts *f, struct gt_table *t, const struct answer *a,
	uint64_t window)
{
	const struct gt_idle *s = f->idle;
	const struct gt_evidence *e = &a->f.at;
	bool found = a->f.state == GT_FOUND, place = found && e->seg, time = found && !a->f.bytes;
	struct location w = place ? location(s, e) : (struct location){ GT_NONE, GT_NONE, GT_NONE };
	uint64_t per_step = time ? gt_advice_per_step(s, a->f.gain) : 0;
	size_t step = place ? step_of(s, e) : 0;
	char *command = place ? command_of(s, e) : NULL;

	gt_table_add(t,
		(struct gt_cell[NCOLUMNS]){ place ? gt_cell_u(e->seg->index) : gt_cell_none(),
			gt_cell_text(a->rule->name), gt_cell_text(states[a->f.state]),
			gt_cell_known(time, a->f.cost), gt_cell_known(time, a->f.gain),
			time ? gt_cell_share(a->f.gain, window) : gt_cell_none(),
			place ? gt_cell_time(&s->report, e->seg, e->from) : gt_cell_none(),
			place ? gt_cell_i(e->to - e->from) : gt_cell_none(), id_of(e, w.process),
			id_of(e, w.device), id_of(e, w.thread), gt_cell_text(a->f.text),
			gt_cell_text(gt_remedy(a->rule, &a->f)),
			gt_cell_known(a->f.bytes, a->f.bytes), gt_cell_known(per_step, per_step),
			gt_cell_known(step, step), gt_cell_text(a->f.detail),
			command ? gt_cell_text(command) : gt_cell_none() });
	free(command);
}

/* ---- text ---- */

/* ", GPU 0 of process 617, thread 618": a part only if there are several. */
static void put_location(
	const struct gt_idle *s, const struct gt_evidence *e, char *to, size_t size)
{
	struct location w = location(s, e);
	const struct gt_track *tracks = e->seg->tracks;
	unsigned processes = 0, devices = 0;

	for (uint32_t t = 0; t < e->seg->ntracks; t++)
		processes += tracks[t].kind == GT_TRACK_PROCESS;
	for (size_t i = 0; i < s->ndevices; i++)
		devices += s->devices[i].seg == e->seg;
	*to = 0;
	if (w.device != GT_NONE && devices > 1)
		snprintf(to, size, ", GPU %lld", (long long)tracks[w.device].id);
	if (w.process != GT_NONE && processes > 1)
		snprintf(to + strlen(to), size - strlen(to), "%s process %lld", *to ? " of" : ",",
			(long long)tracks[w.process].id);
	if (w.thread != GT_NONE)
		snprintf(to + strlen(to), size - strlen(to), ", thread %lld",
			(long long)tracks[w.thread].id);
}

/* "code outside CUDA (host-bound): up to 51.23 %, 1.447 ms a step". counted: by a finding above. */
static void put_gain(const struct gt_idle *s, const struct answer *a, uint64_t window, bool counted,
	char *to, size_t size)
{
	uint64_t per_step = gt_advice_per_step(s, a->f.gain);
	size_t n = (size_t)snprintf(to, size, "%s (%s): ", a->rule->loss, a->rule->name);

	if (a->f.bytes)
		snprintf(to + n, size - n, "%s", gt_scaled(GT_C_BYTES, gt_clamp(a->f.bytes)).text);
	else
		snprintf(to + n, size - n, "up to %.2f %%, %s%s%s",
			gt_advice_percent(a->f.gain, window),
			ns_text(per_step ? per_step : a->f.gain), per_step ? " a step" : "",
			counted ? "; counted above, too" : "");
}

/* "step 53, thread 515, 98 % of it": where the longest example is. cost: of all. */
static void put_place(
	const struct gt_idle *s, const struct gt_evidence *e, uint64_t cost, char *to, size_t size)
{
	size_t step = step_of(s, e), n;
	uint64_t ns = (uint64_t)(e->to - e->from);

	snprintf(to, size, "%s", gt_recording_prefix(&s->report, e->seg).text);
	if (step)
		snprintf(to + strlen(to), size - strlen(to), ", step %zu", step);
	put_location(s, e, to + strlen(to), size - strlen(to));
	if (ns >= cost / 10 && ns < cost)
		snprintf(to + strlen(to), size - strlen(to), ", %.0f %% of it",
			gt_advice_percent(ns, cost));
	n = strspn(to, ", ");
	memmove(to, to + n, strlen(to + n) + 1);
}

/* The command is on one line, to be copied. The place follows it if both fit into the line. */
static void print_example(
	const struct gt_idle *s, struct gt_table *t, const struct gt_evidence *e, uint64_t cost)
{
	size_t width = s->report.opt->width ? s->report.opt->width : LINE;
	char *command = command_of(s, e), place[300];

	put_place(s, e, cost, place, sizeof(place));
	if (!command || !*place)
		gt_table_add_line(t, SEE "%s", command ? command : "?");
	else if (strlen(SEE "  ()") + strlen(command) + strlen(place) <= width)
		gt_table_add_line(t, SEE "%s  (%s)", command, place);
	else {
		gt_table_add_line(t, SEE "%s", command);
		gt_table_add_paragraph(t, LABEL, "          (%s)", place);
	}
	free(command);
}

static void print_finding(const struct gt_advice_facts *f, struct gt_table *t,
	const struct answer *a, unsigned nth, uint64_t window)
{
	const struct gt_idle *s = f->idle;
	char text[400];

	gt_table_set_tone(t, nth == 1 ? GT_TONE_BAD : GT_TONE_DOUBT);
	put_gain(s, a, window, nth > 1 && a->rule->flags & GT_SAME_TIME, text, sizeof(text));
	gt_table_add_paragraph(t, 5, " %2u. %s", nth, text);
	gt_table_set_tone(t, GT_TONE_NONE);
	gt_table_add_paragraph(t, 5, "     %s", a->f.text);
	gt_table_add_paragraph(t, LABEL, "     do:  %s", gt_remedy(a->rule, &a->f));
	if (a->f.at.seg)
		print_example(s, t, &a->f.at, a->f.cost);
}

/* Prints the names of all rules with the answer and reason of answers[first]. */
static void print_same_answer(struct gt_table *t, const struct answer *answers, unsigned first)
{
	const char *why = answers[first].f.text, *sep = "";
	const char *state = states[answers[first].f.state];
	char text[800] = "";

	for (unsigned i = first; i < GT_RULES; i++)
		if (answers[i].f.state == answers[first].f.state &&
			!strcmp(answers[i].f.text, why)) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", sep,
				answers[i].rule->name);
			sep = ", ";
		}
	if (*why)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %s", why);
	gt_table_set_tone(t, answers[first].f.state == GT_ANSWERED ? GT_TONE_GOOD : GT_TONE_NOTE);
	gt_table_add_paragraph(t, (unsigned)strlen(state) + 4, "  %s: %s", state, text);
	gt_table_set_tone(t, GT_TONE_NONE);
}

static bool is_printed(const struct answer *answers, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (answers[k].f.state == answers[i].f.state &&
			!strcmp(answers[k].f.text, answers[i].f.text))
			return true;
	return false;
}

/* Findings that a page shows: those that count the time of others only if there are no others. */
static unsigned page_findings(const struct answer *answers, unsigned n)
{
	unsigned shown = 0;

	while (shown < n && shown < PAGE_FINDINGS &&
		(!shown || !(answers[shown].rule->flags & GT_SAME_TIME)))
		shown++;
	return shown;
}

/* On a page, other rules are counted in one line; the report advice says the rest. */
static void print_rest_short(
	struct gt_table *t, const struct answer *answers, unsigned findings, unsigned shown)
{
	enum gt_answer before = GT_ANSWERED;
	unsigned clean = 0;
	char text[800];
	size_t n;

	for (unsigned i = 0; i < GT_RULES; i++)
		clean += answers[i].f.state == GT_ANSWERED;
	n = (size_t)snprintf(text, sizeof(text), "%u of %u rules clean", clean, GT_RULES);
	for (unsigned i = shown; i < GT_RULES; i++) {
		const struct gt_finding *f = &answers[i].f;

		if (f->state == GT_FOUND || (f->state == GT_UNANSWERED && !f->not_requested))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				f->state == before     ? ", "
					: i < findings ? "; also found: "
						       : "; cannot answer: ",
				answers[i].rule->name);
		else
			continue;
		before = f->state;
	}
	for (unsigned i = shown, more = 0; i < GT_RULES; i++)
		if (answers[i].f.state == GT_UNANSWERED && answers[i].f.not_requested)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				more++ ? ", " : "; unchecked: ", answers[i].rule->name);
	gt_table_set_tone(t, GT_TONE_NOTE);
	gt_table_add_paragraph(t, 2, "  %s", text);
	gt_table_set_tone(t, GT_TONE_NONE);
}

static void print_answers(const struct gt_advice_facts *f, struct gt_table *t,
	const struct answer *answers, uint64_t window)
{
	unsigned n = 0, shown, i;

	while (n < GT_RULES && answers[n].f.state == GT_FOUND)
		n++;
	shown = f->idle->report.opt->one_page ? page_findings(answers, n) : n;
	for (i = 0; i < shown; i++)
		print_finding(f, t, &answers[i], i + 1, window);
	if (f->idle->report.opt->one_page)
		print_rest_short(t, answers, n, shown);
	else
		for (i = n; i < GT_RULES; i++)
			if (!is_printed(answers, i))
				print_same_answer(t, answers, i);
}

/* Orders the answers, and makes the table of all rules. */
static struct gt_table *answers_table(const struct gt_advice_facts *f, struct answer *answers,
	const char *cannot, uint64_t window, struct gt_err *err)
{
	bool page = f->idle->report.opt->one_page;
	struct gt_table *t = gt_report_table(&f->idle->report, "advice",
		page ? "Potential speedups (upper bounds: other bottlenecks may then dominate)"
		     : "Potential speedups",
		columns, NCOLUMNS,
		"recording device tid pid cost_ns evidence duration_ns gain_percent at_ns gain_ns",
		err);
	unsigned n = 0, unanswered = 0;

	for (size_t i = 0; t && i < GT_RULES; i++) {
		answers[i].rule = &gt_advice_rules[i];
		gt_advice_apply(f, answers[i].rule, window, cannot, &answers[i].f);
		n += answers[i].f.state == GT_FOUND;
		unanswered += answers[i].f.state == GT_UNANSWERED && !answers[i].f.not_requested;
	}
	if (!t)
		return NULL;
	GT_SORT(answers, GT_RULES, by_gain);
	for (size_t i = 0; i < GT_RULES; i++)
		add_answer(f, t, &answers[i], window);
	print_answers(f, t, answers, window);
	if (n)
		gt_table_set_found(t);
	else if (cannot)
		gt_table_set_unanswered(t, "%s", cannot);
	else if (unanswered)
		gt_table_set_unanswered(t, "nothing was found, but %u of %u rules cannot answer",
			unanswered, GT_RULES);
	if (page)
		return t;
	gt_table_note(t, "%u of %u rules found something; shares are of %s of GPU time", n,
		GT_RULES, ns_text(window));
	gt_table_note(
		t, "potential speedups are upper bounds: other bottlenecks may then dominate");
	return t;
}

static int advice_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_advice_facts *f = state;
	int rc = gt_advice_facts_finish(f, err);
	const char *cannot = gt_idle_why_unanswered(f->idle);
	struct answer answers[GT_RULES];
	uint64_t window = 0;
	struct gt_verdict v = { .cannot = cannot };

	for (size_t i = 0; i < f->idle->ndevices; i++)
		window = gt_sat_add(window, f->idle->devices[i].window);
	if (rc)
		return rc;
	tables[1] = answers_table(f, answers, cannot, window, err);
	if (!tables[1])
		return err->code;
	v.window = window;
	v.finding = &answers[0].f;
	v.rule = answers[0].f.state == GT_FOUND ? answers[0].rule : NULL;
	for (unsigned i = 0; i < GT_RULES; i++)
		v.unanswered += answers[i].f.state == GT_UNANSWERED && !answers[i].f.not_requested;
	for (unsigned i = 0; i < GT_RULES && !v.leak; i++)
		if (answers[i].f.state == GT_FOUND && answers[i].f.bytes)
			v.leak = &answers[i].f;
	tables[0] = gt_verdict_table(f, &v, err);
	return tables[0] ? 2 : err->code;
}

static int advice_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	gt_advice_facts_init(state, opt);
	return 0;
}

static void advice_release(void *state) { gt_advice_facts_release(state); }

static const struct gt_option_row gap_option = {
	.opt = { .name = "gap",
		.kind = GT_OPT_NS,
		.arg = "TIME",
		.help = "advice reports each GPU gap longer than TIME (default 500ms)" },
	.heading = GT_HEADING_ROWS,
};

const struct gt_analysis gt_advice_report = {
	.name = "advice",
	.finds = true,
	.help = "causes of lost GPU time, with remedies and their potential speedup",
	.wants = GT_IDLE_WANTS,
	.engine = &gt_idle_engine,
	.order = GT_BY_TIME,
	.in_default = GT_DEFAULT_GPU,
	.first_table_before = "budget", /* the verdict */
	.options = (const struct gt_option_row *const[]){ &gap_option, NULL },
	.state_size = sizeof(struct gt_advice_facts),
	.init = advice_init,
	.finish = advice_finish,
	.release = advice_release,
};
