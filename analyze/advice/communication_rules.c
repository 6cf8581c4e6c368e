/* Rules about GPUs that wait for one another, and streams that wait for others. */
#include "analyze/advice/rules_internal.h"

#include <stdio.h>
#include <string.h>

/* A time span of a GPU as evidence. */
static struct gt_evidence on_gpu(const struct gt_idle_device *d, struct gt_idle_time t)
{
	return (struct gt_evidence){ t.to > t.from ? d->seg : NULL, t.from, t.to, GT_NONE, GT_NONE,
		d->number };
}

void gt_rule_exposed_communication(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	struct gt_evidence longest = { .seg = NULL };
	uint64_t ns = 0;

	for (size_t i = 0; i < f->idle->ndevices; i++) {
		struct gt_evidence one =
			on_gpu(&f->idle->devices[i], f->idle->devices[i].longest_exposed);

		ns = gt_sat_add(ns, f->idle->devices[i].kind[GT_WORK_COMMUNICATION]);
		if (one.seg)
			gt_evidence_keep_longest(&longest, &one);
	}
	if (!gt_is_significant(ns, window, FIND_MOST))
		return;
	gt_set_found(to, ns, ns, &longest);
	SET_TEXT(to, "GPUs communicate for %s while nothing computes", ns_text(ns));
}

/* The work of a GPU without communication. A GPU with less of it waits for the others in
 * communication, and so is as busy as they are. */
static uint64_t own_work(const struct gt_idle_device *d)
{
	return gt_sat_add(d->kind[GT_WORK_COMPUTE], d->kind[GT_WORK_COPY]);
}

/* Where a GPU waits for GPUs with more work: in communication, or idle. */
static struct gt_evidence where_it_waits(const struct gt_idle_device *d)
{
	return on_gpu(
		d, d->longest_exposed.to > d->longest_exposed.from ? d->longest_exposed : d->gap);
}

/* Adds that one GPU works longer than another one. */
static void unbalanced_work(const struct gt_advice_facts *f, struct gt_finding *to)
{
	const struct gt_idle_device *all = f->idle->devices, *most = all, *least = all;
	struct gt_evidence at;
	uint64_t span = 0, more;

	for (size_t i = 0; i < f->idle->ndevices; i++) {
		most = own_work(&all[i]) > own_work(most) ? &all[i] : most;
		least = own_work(&all[i]) < own_work(least) ? &all[i] : least;
		span = all[i].window > span ? all[i].window : span;
	}
	more = f->idle->ndevices ? own_work(most) - own_work(least) : 0;
	if (f->idle->ndevices < 2 || !gt_is_significant(more, span, 1000))
		return;
	at = where_it_waits(least);
	if (to->state != GT_FOUND)
		gt_set_found(to, more, more, &at);
	snprintf(to->text + strlen(to->text), sizeof(to->text) - strlen(to->text),
		"%s%s works for %s (without communication) and %s for %s", *to->text ? "; " : "",
		gt_gpu_label_of(&f->idle->report, most->seg, most->track).text,
		ns_text(own_work(most)),
		gt_gpu_label_of(&f->idle->report, least->seg, least->track).text,
		ns_text(own_work(least)));
}

/* The exposed communication of all GPUs but this one (NULL: of all): waits that compute hides cost
 * nothing. */
static uint64_t exposed_elsewhere(const struct gt_idle *s, const struct gt_collective_gpu *gpu)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->ndevices; i++)
		if (!gpu || s->devices[i].seg != gpu->seg || s->devices[i].track != gpu->track)
			ns = gt_sat_add(ns, s->devices[i].kind[GT_WORK_COMMUNICATION]);
	return ns;
}

/* One GPU arrives late at collectives, for whatever reason: the others wait there. */
static void one_is_late(const struct gt_advice_facts *f, const struct gt_collective_gpu *late,
	uint64_t window, struct gt_finding *to)
{
	uint64_t exposed = exposed_elsewhere(f->idle, late);

	gt_set_found(to, late->f.caused, late->f.caused < exposed ? late->f.caused : exposed,
		&late->f.longest_caused);
	SET_TEXT(to,
		"%s arrives last at %llu of %llu collectives, %s after the first on average: the others wait %s for it",
		gt_gpu_label_of(&f->idle->report, late->seg, late->track).text,
		(unsigned long long)late->f.last, (unsigned long long)late->f.matched,
		ns_text(late->f.late / late->f.last), ns_text(late->f.caused));
	snprintf(to->detail, sizeof(to->detail), "%.60s is late",
		gt_gpu_label_of(&f->idle->report, late->seg, late->track).text);
}

/* GPUs arrive late by turns: for none of them the others wait more than half of the time. */
static void some_are_late(const struct gt_advice_facts *f, const struct gt_collective_gpu *most,
	uint64_t wait, uint64_t window, struct gt_finding *to)
{
	uint64_t exposed = exposed_elsewhere(f->idle, NULL);

	gt_set_found(to, wait, wait < exposed ? wait : exposed, &most->f.longest_caused);
	SET_TEXT(to,
		"GPUs arrive at %llu collectives at different times: they wait %s (%.1f %%) in communication for the last one, by turns (most for %s: %s)",
		(unsigned long long)f->collectives.matched, ns_text(wait), percent(wait, window),
		gt_gpu_label_of(&f->idle->report, most->seg, most->track).text,
		ns_text(most->f.caused));
}

static void late_gpus(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_collective_gpu *late = gt_collectives_latest(&f->collectives);
	uint64_t wait = 0;

	for (size_t i = 0; i < f->collectives.ngpus; i++)
		wait = gt_sat_add(wait, f->collectives.gpus[i].f.wait);
	if (late && late->f.caused >= wait - wait / 2 &&
		gt_is_significant(late->f.caused, window, FIND))
		one_is_late(f, late, window, to);
	else if (late && gt_is_significant(wait, window, FIND))
		some_are_late(f, late, wait, window, to);
}

void gt_rule_unbalanced(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_gpus(f, window, to);
	unbalanced_work(f, to);
}

void gt_rule_waits_elsewhere(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_WAITING];

	if (!gt_is_significant(c->ns, window, FIND))
		return;
	gt_set_found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to,
		"a GPU is idle for %s (%.1f %%) because its stream waits for an event of another stream",
		ns_text(c->ns), percent(c->ns, window));
}
