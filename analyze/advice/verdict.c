#include "analyze/advice/verdict.h"

#include <stdio.h>
#include <string.h>
#include "analyze/steps/steady.h"
#include "formats/base/buf.h"

static const struct gt_column columns[] = {
	{ "text", "Verdict", GT_C_WHOLE }, { "busy_percent", NULL, GT_C_PERCENT },
	{ "least_busy_percent", NULL, GT_C_PERCENT }, /* of the least busy GPU */
	{ "most_busy_percent", NULL, GT_C_PERCENT }, { "steady_steps", NULL, GT_C_COUNT },
	{ "step_p50_ns", NULL, GT_C_NS }, { "rule", NULL, GT_C_WHOLE },
	{ "gain_percent", NULL, GT_C_PERCENT }, { "gain_per_step_ns", NULL, GT_C_NS },
	{ "remedy", NULL, GT_C_TEXT }, { "slow_steps", NULL, GT_C_COUNT },
	{ "slow_line", NULL, GT_C_TEXT },
	{ "slow_line_ns", NULL, GT_C_NS }, /* a slow step, more than a usual one */
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

struct busy {
	double all, least, most; /* percent of the windows; of one GPU */
	uint64_t ns;
};

static struct busy busy_of(const struct gt_idle *s, uint64_t window)
{
	struct busy b = { 0, 100, 0, 0 };

	for (size_t i = 0; i < s->ndevices; i++) {
		const struct gt_idle_device *d = &s->devices[i];
		double one = gt_advice_percent(d->window - d->idle, d->window);

		b.ns = gt_sat_add(b.ns, d->window - d->idle);
		b.least = one < b.least ? one : b.least;
		b.most = one > b.most ? one : b.most;
	}
	b.all = gt_advice_percent(b.ns, window);
	return b;
}

static void put_busy(
	struct gt_buf *to, const struct gt_idle *s, const struct busy *b, uint64_t window)
{
	const struct gt_steady *steady = s->report.opt->steady;
	bool steps = s->report.opt->only_steady;

	if (s->ndevices == 1)
		gt_buf_printf(to, "The GPU is busy %.0f %%", b->all);
	else if (b->most - b->least < 1)
		gt_buf_printf(to, "The %zu GPUs are busy %.0f %%", s->ndevices, b->all);
	else
		gt_buf_printf(to, "The %zu GPUs are busy %.0f %% to %.0f %%", s->ndevices, b->least,
			b->most);
	if (steps)
		gt_buf_printf(to, " of the %zu steady steps (median %s).", steady->steps,
			gt_scaled(GT_C_NS, gt_clamp(steady->main->median)).text);
	else
		gt_buf_printf(to, " of the %s %s.",
			gt_scaled(GT_C_NS, gt_clamp(window / s->ndevices)).text,
			s->report.opt->filter.ranged ? "selected"
						     : "from the first to the last GPU operation");
}

/* ", but copies and sets that nothing overlaps take 7 %; the largest operation is 'gemm' (66 %)":
 * that with the most time in which no other ran. */
static void put_largest(struct gt_buf *to, const struct gt_idle *s, uint64_t window)
{
	struct gt_kernel_names *names = gt_kernel_names_of(s->report.reader, GT_NAME_SHORT);
	const struct gt_idle_name *most = s->names;
	uint64_t exposed = 0;

	for (size_t i = 0; i < s->ndevices; i++)
		exposed = gt_sat_add(exposed, s->devices[i].kind[GT_WORK_COPY]);
	for (size_t i = 1; i < s->nnames; i++)
		most = s->names[i].exposed > most->exposed ? &s->names[i] : most;
	if (exposed * 20 >= window)
		gt_buf_printf(to, ", but copies and sets that nothing overlaps take %.0f %%",
			gt_advice_percent(exposed, window));
	if (names && s->nnames && most->exposed)
		gt_buf_printf(to, "; the largest operation is '%.80s' (%.0f %%)",
			gt_kernel_names_shown(names, most->text),
			gt_advice_percent(most->exposed, window));
	gt_kernel_names_free(names);
}

static void put_loss(
	struct gt_buf *to, const struct gt_idle *s, const struct gt_verdict *v, uint64_t per_step)
{
	const struct gt_rule *rule = v->rule;
	const struct gt_finding *f = v->finding;
	uint64_t longest = rule ? (uint64_t)(f->at.to - f->at.from) : 0;

	if (!rule) {
		gt_buf_printf(to,
			v->unanswered ? " No rule finds a loss, but %u cannot answer"
				      : " No rule finds a loss",
			v->unanswered);
		put_largest(to, s, v->window);
		gt_buf_printf(to, ".");
		return;
	}
	if (f->bytes) {
		gt_buf_printf(to, " Memory leaks: %s are never freed: %s.",
			gt_scaled(GT_C_BYTES, gt_clamp(f->bytes)).text, gt_remedy(rule, f));
		return;
	}
	gt_buf_printf(to, " The largest loss is %s: up to %.0f %%", rule->loss,
		gt_advice_percent(f->gain, v->window));
	if (per_step)
		gt_buf_printf(to, ", %s a step", gt_scaled(GT_C_NS, gt_clamp(per_step)).text);
	if (*f->detail)
		gt_buf_printf(to, " (%s)", f->detail);
	if (f->at.seg && !(rule->flags & GT_SAME_TIME) && longest >= f->cost / 3 &&
		longest < f->cost)
		gt_buf_printf(to, ", %.0f %% of it at once", gt_advice_percent(longest, f->cost));
	gt_buf_printf(to, ": %s.", gt_remedy(rule, f));
}

/* " The time per operation is 13.4 us in steps 1 to 503, 3.0 us in steps 504 to 999." */
static void put_change(struct gt_buf *to, const struct gt_loop *l)
{
	for (unsigned i = 0; i < l->parts.n; i++) {
		const struct gt_loop_part *p = &l->parts.list[i];
		int64_t ns = l->at[p->first + p->steps] - l->at[p->first];

		gt_buf_printf(to, "%s%s in steps %zu to %zu",
			i ? ", " : " The time per operation is ",
			gt_scaled(GT_C_NS, p->ops ? ns / (int64_t)p->ops : ns).text, p->first + 1,
			p->first + p->steps);
	}
	gt_buf_printf(to, ".");
}

/* The line for which slow steps take longer; NULL: there is no single one, or the time that all
 * slow steps take longer is less than 1 % of the steps' time. */
static const struct gt_slow_line *slow_line(const struct gt_slow_lines *l)
{
	double extra = (l->slow - l->usual) * (double)l->nslow,
	       all = l->slow * (double)l->nslow + l->usual * (double)l->nusual;

	return l->nslow && l->nusual && extra * 100 >= all ? gt_slow_lines_main(l) : NULL;
}

/* " 6 of 66 steps are slow, with 12.3 ms more in load_batch (data.py:41)." */
static void put_slow_line(
	struct gt_buf *to, const struct gt_slow_lines *l, const struct gt_slow_line *line)
{
	gt_buf_printf(to, " %zu of %zu steps %s slow, with %s more in %s.", l->nslow,
		l->nslow + l->nusual, l->nslow == 1 ? "is" : "are",
		gt_scaled(GT_C_NS, (int64_t)(line->slow - line->usual)).text, line->name);
}

struct gt_table *gt_verdict_table(
	const struct gt_advice_facts *f, const struct gt_verdict *v, struct gt_err *err)
{
	const struct gt_idle *s = f->idle;
	const struct gt_steady *steady = s->report.opt->steady;
	bool steps = s->report.opt->only_steady;
	struct busy b = busy_of(s, v->window);
	uint64_t per_step = v->rule && steps ? gt_advice_per_step(s, v->finding->gain) : 0;
	const struct gt_slow_line *slow = slow_line(&f->slow);
	struct gt_table *t =
		gt_report_table(&s->report, "verdict", NULL, columns, NCOLUMNS, NULL, err);
	struct gt_buf text = { 0 };

	if (!t)
		return NULL;
	if (v->cannot || !v->window) {
		gt_table_set_unanswered(
			t, "%s", v->cannot ? v->cannot : "the selected time range is empty");
		return t;
	}
	put_busy(&text, s, &b, v->window);
	put_loss(&text, s, v, per_step);
	if (v->leak && v->leak != v->finding)
		gt_buf_printf(&text, " %s of memory are never freed.",
			gt_scaled(GT_C_BYTES, gt_clamp(v->leak->bytes)).text);
	if (steps && steady->main->parts.n > 1)
		put_change(&text, steady->main);
	if (slow)
		put_slow_line(&text, &f->slow, slow);
	gt_buf_byte(&text, 0);
	if (text.failed) {
		gt_buf_release(&text);
		gt_table_free(t);
		gt_err_set(err, -ENOMEM, "out of memory (verdict)");
		return NULL;
	}
	gt_table_add(t,
		(struct gt_cell[NCOLUMNS]){ gt_cell_text((char *)text.data),
			gt_cell_share(b.ns, v->window), gt_cell_i((int64_t)(b.least * 100 + 0.5)),
			gt_cell_i((int64_t)(b.most * 100 + 0.5)),
			gt_cell_known(steps, steps ? steady->steps : 0),
			gt_cell_known(steps, steps ? steady->main->median : 0),
			v->rule ? gt_cell_text(v->rule->name) : gt_cell_none(),
			v->rule && !v->finding->bytes ? gt_cell_share(v->finding->gain, v->window)
						      : gt_cell_none(),
			gt_cell_known(per_step, per_step),
			v->rule ? gt_cell_text(gt_remedy(v->rule, v->finding)) : gt_cell_none(),
			gt_cell_known(f->slow.nslow + f->slow.nusual, f->slow.nslow),
			slow ? gt_cell_text(slow->name) : gt_cell_none(),
			slow ? gt_cell_i((int64_t)(slow->slow - slow->usual)) : gt_cell_none() });
	gt_table_set_tone(t, GT_TONE_HEADING);
	gt_table_add_paragraph(t, 0, "%s", (char *)text.data);
	gt_buf_release(&text);
	return t;
}
