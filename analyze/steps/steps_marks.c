/* Steps that the program marks: consecutive ranges on one thread, whose names are equal or differ
 * by a growing number ("ProfilerStep#12"). Programs mark much else (layers, phases, collectives).
 * Ranges mark steps if they cover most of the time from the first to the last of them, and if the
 * GPU works during them: for half of the time in which it has work, unless the name is a word for
 * steps. Of several such marks the best name wins: PyTorch's own, then a word for steps, then a
 * name with a number, then any name; then the one with the most ranges.
 *
 * One or two ranges mark steps only if they are PyTorch's own, or if the name is that of a numbered
 * step
 * ("step 3", "batch#7") and the GPU works for half of its time during them. PyTorch's profiler also
 * records a range for each operator and each Python function: these mark no steps. */
#define _GNU_SOURCE /* strcasestr */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/stats/name_template.h"
#include "analyze/steps/steps.h"
#include "formats/base/buf.h"

#define TEMPLATES_MAX 4096u
#define LEAST 3u      /* ranges */
#define OF_STEPS 3u   /* rank of a word for steps */
#define OF_PYTORCH 4u /* rank of PyTorch's ProfilerStep */

struct template
{ /* of names, on one thread */
	uint64_t key;
	const struct gt_segment *seg;
	uint32_t track;
	const char *name;    /* of the first */
	uint32_t first_name; /* its string */
	uint64_t n, covered;
	int64_t first, last_end;
	uint64_t number; /* of the last */
	/* all have one name; numbers grow; ranges do not overlap */
	bool same, growing, abs_difference;
};
/* of the next rows */
struct mark_code {
	const uint64_t *categories;
	uint32_t left;
};
struct marks {
	struct gt_steps *s;
	struct template *list;
	size_t n, cap;
	struct gt_map map;
	struct mark_code *codes; /* of a run */
	size_t codes_cap;
	const struct template *chosen[GT_STEPS_LANES]; /* per lane */
};

/* A hash of the name without numbers, and its last number. */
static uint64_t template_of(const char *name, uint64_t *number)
{
	struct gt_string text = { name, (uint32_t)strlen(name) };
	char plain[128];
	unsigned n;

	return gt_hash(
		plain, gt_name_template(text, GT_NUMBERS_ALL, plain, sizeof(plain), number, &n));
}

/* NULL: no memory (err), or (without error) too many. */
static struct template *find_template(struct marks *m, const struct gt_cols *cols, const char *name,
	uint64_t *number, struct gt_err *err)
{
	const struct template new = { .key = gt_hash_u64(template_of(name, number) +
					      gt_time_ordered_track(
						      &m->s->order, cols->seg, cols->track)),
		.seg = cols->seg,
		.track = cols->track,
		.name = name,
		.same = true,
		.growing = true,
		.abs_difference = true,
		.last_end = INT64_MIN };
	uint32_t i = gt_map_find_item(&m->map, m->list, sizeof(new), &new, sizeof(new.key));

	if (i == UINT32_MAX && m->n == TEMPLATES_MAX)
		return NULL;
	if (i == UINT32_MAX)
		i = gt_map_add_item(
			&m->map, &m->list, &m->n, &m->cap, sizeof(new), &new, sizeof(new.key));
	if (i == UINT32_MAX)
		gt_err_set(err, -ENOMEM, "out of memory (marks)");
	return i == UINT32_MAX ? NULL : &m->list[i];
}

/* ---- ranges that cannot mark steps ---- */

static bool is_profiler_step(const char *name) { return !strncmp(name, "ProfilerStep#", 13); }

/* Does PyTorch's profiler record such a range by itself? Before 2022, "Operator" is the category of
 * all ranges. */
static bool is_operator(const char *category, const char *name)
{
	if (!strcmp(category, "Operator"))
		return strstr(name, "::") != NULL;
	return !strcmp(category, "cpu_op") || !strcmp(category, "python_function");
}

/* Finds the category column of each code: importers store it as an argument. */
static int begin_run(struct marks *m, const struct gt_cols *cols, struct gt_err *err)
{
	if (gt_grow(&m->codes, &m->codes_cap, cols->ntypes, sizeof(*m->codes)))
		return gt_err_set(err, -ENOMEM, "out of memory (marks)");
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = &cols->seg->types[cols->types[c]];
		bool has = type->nfields && type->fields[0].kind == GT_F_STR &&
			!strcmp(gt_str(cols->seg, type->fields[0].name), "category");

		m->codes[c] = (struct mark_code){ NULL };
		if (has)
			m->codes[c].categories = gt_cols_args(cols, c, 0, &m->codes[c].left);
		if (!m->codes[c].categories)
			m->codes[c].left = 0;
	}
	return 0;
}

/* May this row mark a step? Call it for each row of a run in order. */
static bool may_mark(struct marks *m, const struct gt_cols *cols, uint32_t i)
{
	uint32_t c = cols->code ? cols->code[i] : 0;
	const char *name = gt_type_name(cols->seg, cols->types[c]), *category = "";
	struct mark_code *code = &m->codes[c];

	if (code->left) {
		code->left--;
		category = gt_str(cols->seg, (uint32_t)*code->categories++);
	}
	if (is_operator(category, name) && !is_profiler_step(name))
		return false;
	return !gt_steps_begins_early(m->s, cols->seg, cols->start[i]);
}

/* ---- templates ---- */

static int count_row(struct marks *m, const struct gt_cols *cols, uint32_t i, struct gt_err *err)
{
	uint32_t type = cols->types[cols->code ? cols->code[i] : 0];
	int64_t start = cols->start[i], end = start + cols->dur[i];
	uint64_t number;
	struct template *t = find_template(m, cols, gt_type_name(cols->seg, type), &number, err);

	if (!t)
		return err->code;
	if (!t->n++) {
		t->first = start;
		t->first_name = cols->seg->types[type].name;
	} else {
		t->same &= cols->seg->types[type].name == t->first_name;
		t->growing &= number > t->number;
		t->abs_difference &= start >= t->last_end;
	}
	t->number = number;
	t->covered = gt_sat_add(t->covered, (uint64_t)cols->dur[i]);
	t->last_end = end > t->last_end ? end : t->last_end;
	return 0;
}

static int count_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct marks *m = arg;
	int rc = begin_run(m, cols, err);

	for (uint32_t i = 0;
		!rc && i < cols->n && cols->seg->tracks[cols->track].kind == GT_TRACK_THREAD; i++)
		if (may_mark(m, cols, i))
			rc = count_row(m, cols, i, err);
	return rc;
}

/* Is the name a word for steps? numbered: followed by the number of a step. */
static bool is_word_for_steps(const char *name, bool numbered)
{
	static const char *const words[] = { "step", "iter", "iteration", "batch", "request" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *at = strcasestr(name, words[i]);

		if (at && !numbered)
			return true;
		if (at && !isalpha((unsigned char)at[strlen(words[i])]) &&
			strpbrk(at, "0123456789"))
			return true;
	}
	return false;
}

/* The rank of its name; 0: it marks no steps. */
static unsigned rank(const struct template *t)
{
	unsigned rank = t->same ? 1 : 2;
	uint64_t span = (uint64_t)t->last_end - (uint64_t)t->first;

	if (is_profiler_step(t->name))
		rank = OF_PYTORCH;
	else if (is_word_for_steps(t->name, false))
		rank = OF_STEPS;
	if (!t->abs_difference || !(t->same || t->growing) ||
		t->covered / (rank > 1 ? 50 : 80) < span / 100)
		return 0;
	if (t->n < LEAST && rank < OF_PYTORCH)
		return is_word_for_steps(t->name, true);
	return rank;
}

/* Does the GPU work during the ranges? */
static bool has_gpu_work(const struct template *t, const struct gt_steps_lane *l, unsigned rank)
{
	int64_t from = t->first > l->first ? t->first : l->first,
		to = t->last_end < l->last ? t->last_end : l->last;

	if (rank == OF_PYTORCH)
		return true;
	return to >= from &&
		(rank >= OF_STEPS ||
			(uint64_t)(to - from) >= ((uint64_t)l->last - (uint64_t)l->first) / 2);
}

static void choose(struct marks *m, uint32_t lane)
{
	const struct gt_steps_lane *l = &m->s->lanes[lane];
	const struct template *best = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct template *t = &m->list[i];
		unsigned r = t->seg == l->seg && gt_track_process(t->seg, t->track) == l->process
			? rank(t)
			: 0;

		if (r && has_gpu_work(t, l, r) && (r > most || (r == most && t->n > best->n))) {
			most = r;
			best = t;
		}
	}
	m->chosen[lane] = best;
}

/* Adds the step of a range; the step before ends at its start. */
static int place_row(
	struct marks *m, struct gt_steps_lane *lane, int64_t start, int64_t end, struct gt_err *err)
{
	struct gt_step *step;

	if (!lane->n && !gt_steps_add(m->s, lane, err))
		return err->code;
	lane->steps[lane->n - 1].at = lane->steps[lane->n - 1].host = start;
	step = gt_steps_add(m->s, lane, err);
	if (step)
		step->at = step->host = end;
	return err->code;
}

static int place_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct marks *m = arg;
	uint64_t number;
	int rc = 0;

	for (uint32_t k = 0; !rc && k < m->s->nlanes; k++) {
		const struct template *t = m->chosen[k];

		if (!t || t->seg != cols->seg || t->track != cols->track)
			continue;
		rc = begin_run(m, cols, err);
		for (uint32_t i = 0; !rc && i < cols->n; i++) {
			const char *name = gt_type_name(
				cols->seg, cols->types[cols->code ? cols->code[i] : 0]);

			if (!may_mark(m, cols, i))
				continue;
			if (find_template(m, cols, name, &number, err) != t)
				continue;
			rc = place_row(m, &m->s->lanes[k], cols->start[i],
				cols->start[i] + cols->dur[i], err);
		}
	}
	return rc;
}

static bool is_mark(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->layer == GT_LAYER_USER;
}

static bool any_marks(struct gt_steps *s)
{
	for (uint32_t i = 0; i < gt_reader_segments(s->report.reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(s->report.reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			if (seg->types[t].layer == GT_LAYER_USER)
				return true;
	}
	return false;
}

int gt_steps_marks(struct gt_steps *s, struct gt_err *err)
{
	struct gt_filter filter = s->report.opt->filter;
	struct marks m = { .s = s };
	bool any = false;
	int rc;

	if (!s->nlanes || !any_marks(s))
		return 0;
	filter.kinds = GT_BIT(GT_SPAN) | GT_BIT(GT_CALL);
	filter.match = is_mark;
	filter.args = true;
	rc = gt_reread_trace(s->report.reader, &filter, GT_BY_TIME, count_run, &m, err);
	for (uint32_t i = 0; !rc && i < s->nlanes; i++) {
		choose(&m, i);
		any |= m.chosen[i] != NULL;
	}
	if (!rc && any)
		rc = gt_reread_trace(s->report.reader, &filter, GT_BY_TIME, place_run, &m, err);
	for (uint32_t i = 0; !rc && i < s->nlanes; i++)
		s->lanes[i].mark = m.chosen[i] ? m.chosen[i]->name : NULL;
	free(m.list);
	free(m.codes);
	gt_map_release(&m.map);
	return rc;
}
