#include "analyze/steps/slow_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"

#define LITTLE 20 /* smallest part of the difference of the durations that is listed */
#define LINES 20u

enum { SLOW, USUAL };

static const enum gt_step_class classes[2] = { GT_STEP_SLOW, GT_STEP_USUAL };

/* ---- steps ---- */

static void find_steps(struct gt_slow_lines *l, const struct gt_step_shares *s)
{
	size_t n[GT_STEP_CLASSES] = { 0 };
	double ns[GT_STEP_CLASSES] = { 0 };

	for (size_t i = 0; i < l->loop->steps; i++) {
		enum gt_step_class class = gt_step_class(l->loop, i);

		if (!gt_step_is_selected(s, l->loop, i))
			continue;
		n[class]++;
		ns[class] += (double)(l->loop->at[i + 1] - l->loop->at[i]);
	}
	l->nslow = n[GT_STEP_SLOW];
	l->nusual = n[GT_STEP_USUAL];
	l->slow = l->nslow ? ns[GT_STEP_SLOW] / (double)l->nslow : 0;
	l->usual = l->nusual ? ns[GT_STEP_USUAL] / (double)l->nusual : 0;
}

static size_t steps_of(const struct gt_slow_lines *l, unsigned k)
{
	return k == SLOW ? l->nslow : l->nusual;
}

/* ---- lines ---- */

static int compare_names(const void *pa, const void *pb)
{
	const struct gt_slow_line *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

/* Half the 95 % interval of the time per step of a class that has `samples` of the line. */
static double error_of(
	const struct gt_slow_lines *l, const struct gt_outside *o, unsigned k, uint64_t samples)
{
	double ns = o->samples ? (double)gt_outside_error(o, samples) : (double)o->outside;

	return ns / (double)steps_of(l, k);
}

/* Lines in the order of their names; one that both classes have is one. */
static void join_lines(struct gt_slow_lines *l)
{
	size_t n = 0;

	GT_SORT(l->list, l->n, compare_names);
	for (size_t i = 0; i < l->n; i++) {
		struct gt_slow_line *to = n ? &l->list[n - 1] : NULL;

		if (!to || strcmp(to->name, l->list[i].name) != 0) {
			l->list[n++] = l->list[i];
			continue;
		}
		to->slow += l->list[i].slow;
		to->usual += l->list[i].usual;
		for (unsigned k = 0; k < 2; k++)
			to->samples[k] += l->list[i].samples[k];
	}
	l->n = n;
}

static int collect_lines(
	struct gt_slow_lines *l, const struct gt_step_shares *s, size_t loop, struct gt_err *err)
{
	for (unsigned k = 0; k < 2; k++) {
		const struct gt_host_selection of = { .shares = &s->shares,
			.group = gt_step_group(s, loop, classes[k]) };

		if (gt_host_lines_collect(&l->sums[k], s->idle, GT_STACK_LINE, &of, err))
			return err->code;
	}
	l->list = calloc(l->sums[0].n + l->sums[1].n + 1, sizeof(*l->list));
	if (!l->list)
		return gt_err_set(err, -ENOMEM, "out of memory (slow steps)");
	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; i < l->sums[k].n; i++) {
			const struct gt_caller_sum *one = &l->sums[k].list[i];
			const struct gt_stack_figures *f = &one->self[GT_HOST_IDLE];
			double ns = (double)f->total / (double)steps_of(l, k);
			struct gt_slow_line *to = &l->list[l->n++];

			to->name = gt_caller_name(&l->sums[k], one);
			*(k == SLOW ? &to->slow : &to->usual) = ns;
			to->samples[k] = f->count;
			l->busy[k] -= ns;
		}
	join_lines(l);
	return 0;
}

static void find_errors(struct gt_slow_lines *l, const struct gt_step_shares *s, size_t loop)
{
	struct gt_outside o[2];

	for (unsigned k = 0; k < 2; k++)
		o[k] = gt_host_shares_outside(&s->shares, gt_step_group(s, loop, classes[k]));
	for (size_t i = 0; i < l->n; i++) {
		struct gt_slow_line *one = &l->list[i];

		one->error = -1;
		if (one->samples[SLOW] || one->samples[USUAL])
			one->error = hypot(error_of(l, &o[SLOW], SLOW, one->samples[SLOW]),
				error_of(l, &o[USUAL], USUAL, one->samples[USUAL]));
	}
}

/* ---- which are listed ---- */

static double difference(const struct gt_slow_line *l) { return l->slow - l->usual; }

static int by_difference(const void *pa, const void *pb)
{
	const struct gt_slow_line *a = pa, *b = pb;
	double x = fabs(difference(a)), y = fabs(difference(b));

	return GT_COMPARE(y, x) ?: strcmp(a->name, b->name);
}

static bool is_listed(const struct gt_slow_lines *l, const struct gt_slow_line *one)
{
	return fabs(difference(one)) > one->error &&
		fabs(difference(one)) * LITTLE >= l->slow - l->usual;
}

static void move_others(struct gt_slow_lines *l)
{
	size_t n = 0;

	GT_SORT(l->list, l->n, by_difference);
	l->others = (struct gt_slow_line){ .error = -1 };
	for (size_t i = 0; i < l->n; i++) {
		if (n < LINES && is_listed(l, &l->list[i])) {
			l->list[n++] = l->list[i];
			continue;
		}
		l->others.slow += l->list[i].slow;
		l->others.usual += l->list[i].usual;
		for (unsigned k = 0; k < 2; k++)
			l->others.samples[k] += l->list[i].samples[k];
	}
	l->n = n;
}

/* What the threads did most in each listed line of slow steps. */
static int find_doings(
	struct gt_slow_lines *l, const struct gt_step_shares *s, size_t loop, struct gt_err *err)
{
	uint64_t *most = calloc(l->n + 1, sizeof(*most));
	int rc = most ? 0 : gt_err_set(err, -ENOMEM, "out of memory (slow steps)");

	for (unsigned d = 0; !rc && d < GT_HOST_DOING_COUNT; d++) {
		const struct gt_host_selection of = { .shares = &s->shares,
			.group = gt_step_group(s, loop, GT_STEP_SLOW),
			.doings = GT_BIT(d) };
		struct gt_caller_sums sums = { .list = NULL };

		rc = gt_host_lines_collect(&sums, s->idle, GT_STACK_LINE, &of, err);
		for (size_t i = 0; !rc && i < sums.n; i++)
			for (size_t k = 0; k < l->n; k++) {
				uint64_t ns = sums.list[i].self[GT_HOST_IDLE].total;

				if (ns <= most[k] ||
					strcmp(gt_caller_name(&sums, &sums.list[i]),
						l->list[k].name) != 0)
					continue;
				most[k] = ns;
				l->list[k].doing = d;
			}
		gt_caller_sums_release(&sums);
	}
	free(most);
	return rc;
}

int gt_slow_lines_find(
	struct gt_slow_lines *l, const struct gt_step_shares *s, size_t loop, struct gt_err *err)
{
	int rc;

	*l = (struct gt_slow_lines){ .loop = &s->loops->list[loop] };
	find_steps(l, s);
	if (!l->nslow || !l->nusual)
		return 0;
	l->busy[SLOW] = l->slow;
	l->busy[USUAL] = l->usual;
	rc = collect_lines(l, s, loop, err);
	if (rc)
		return rc;
	find_errors(l, s, loop);
	move_others(l);
	return find_doings(l, s, loop, err);
}

void gt_slow_lines_release(struct gt_slow_lines *l)
{
	free(l->list);
	for (unsigned k = 0; k < 2; k++)
		gt_caller_sums_release(&l->sums[k]);
	*l = (struct gt_slow_lines){ .loop = NULL };
}

const struct gt_slow_line *gt_slow_lines_main(const struct gt_slow_lines *l)
{
	const struct gt_slow_line *most = l->n ? &l->list[0] : NULL;

	return most && *most->name != '(' && difference(most) * 2 > l->slow - l->usual ? most
										       : NULL;
}
