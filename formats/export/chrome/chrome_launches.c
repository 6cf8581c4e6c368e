#define _GNU_SOURCE
#include "formats/export/chrome/chrome_launches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/io/sorter.h"
#include "formats/os/file.h"

#define BUFFER 32768u          /* records of the sorter in memory */
#define NUMBERS_MAX (1u << 21) /* an id is below 2^53, so that a double can represent it */

struct record {
	struct gt_chrome_launch launch;
	uint32_t segment;
};

static int no_memory(struct gt_err *err) { return gt_err_set(err, -ENOMEM, "out of memory"); }

static int compare(const struct record *a, const struct record *b)
{
	const struct gt_chrome_launch *x = &a->launch, *y = &b->launch;

	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->name == y->name ? 0 : x->name < y->name ? -1 : 1;
}

/* Of records of one call, those with a correlation come first. */
static bool before(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	int order = compare(x, y);

	return order ? order < 0 : x->launch.correlation > y->launch.correlation;
}

/* ---- the pass over the GPU work ---- */

struct pass {
	const struct gt_export_options *opt;
	struct gt_chrome_launches *l;
	struct gt_sorter sorter;
	struct record last;
	struct gt_err *err;
};

static bool names_launch(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_filter *f = arg;

	return type->layer == GT_LAYER_GPU && gt_type_field(type, GT_R_LAUNCH_JOIN) != GT_NONE &&
		(!f->match || f->match(seg, type, f->match_arg));
}

static int add_record(struct pass *p, const struct record *one)
{
	struct record *to = NULL;

	if (p->sorter.added && !compare(one, &p->last) &&
		(!one->launch.correlation || one->launch.correlation == p->last.launch.correlation))
		to = gt_sorter_find(&p->sorter, p->sorter.added - 1);
	if (to) {
		to->launch.works += one->launch.works;
		return 0;
	}
	p->last = *one;
	to = gt_sorter_add(&p->sorter, p->err);
	if (!to)
		return p->err->code;
	*to = *one;
	return 0;
}

enum { TRACK, START, NAME, JOIN, CORRELATION, ROLES };

/* The calls that the rows with one code of a run name. */
static int add_code(struct pass *p, const struct gt_cols *cols, uint32_t code)
{
	static const uint8_t roles[ROLES] = { GT_R_LAUNCH_TRACK, GT_R_LAUNCH_START,
		GT_R_LAUNCH_NAME, GT_R_LAUNCH_JOIN, GT_R_CORRELATION };
	const struct gt_type *type = &cols->seg->types[cols->types[code]];
	const uint64_t *values[ROLES];
	uint32_t n[ROLES] = { 0 };
	int rc = 0;

	for (unsigned i = 0; i < ROLES; i++)
		values[i] = gt_cols_args(cols, code, gt_type_field(type, roles[i]), &n[i]);
	for (uint32_t i = 0; !rc && values[JOIN] && i < n[JOIN]; i++) {
		struct record one = { .launch.works = cols->kind == GT_GPU,
			.segment = cols->seg->index };

		if (values[JOIN][i] == GT_JOIN_UNKNOWN || i >= n[TRACK] || i >= n[START] ||
			i >= n[NAME] || values[TRACK][i] >= cols->seg->ntracks ||
			values[NAME][i] >= cols->seg->nstrings)
			continue;
		one.launch.track = (uint32_t)values[TRACK][i];
		one.launch.start = (int64_t)values[START][i];
		one.launch.name = (uint32_t)values[NAME][i];
		if (values[CORRELATION] && i < n[CORRELATION])
			one.launch.correlation = (uint32_t)values[CORRELATION][i];
		rc = add_record(p, &one);
	}
	return rc;
}

static int see_run(void *arg, unsigned worker, const struct gt_cols *cols)
{
	struct pass *p = arg;
	int rc = 0;

	for (uint32_t code = 0; !rc && code < cols->ntypes; code++)
		if (cols->types[code] != GT_NONE)
			rc = add_code(p, cols, code);
	return rc;
}

static int read_work(struct pass *p, struct gt_reader *r)
{
	struct gt_filter given = p->opt->filter, f = given;
	uint32_t kinds = GT_BIT(GT_GPU) | GT_BIT(GT_SPAN);

	f.kinds = f.kinds ? f.kinds & kinds : kinds;
	f.args = true;
	f.match = names_launch;
	f.match_arg = &given;
	return f.kinds ? gt_scan(r, &f, GT_ANY_ORDER, 1, see_run, p, p->err) : 0;
}

/* ---- the list ---- */

/* Memory for n calls: anonymous, or a temporary file. posix_fallocate reserves its blocks, so that
 * no later write fails. */
static int map_list(struct gt_chrome_launches *l, size_t n, struct gt_err *err)
{
	bool in_file = n > GT_CHROME_LAUNCHES_IN_MEMORY;
	int fd = in_file ? gt_temporary(err) : -1, rc = 0;

	l->bytes = n * sizeof(*l->list);
	if (in_file && fd < 0)
		return err->code;
	if (in_file)
		rc = posix_fallocate(fd, 0, (off_t)l->bytes);
	if (!rc)
		l->list = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE,
			in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (in_file)
		close(fd);
	if (rc)
		return gt_err_set(
			err, -rc, "cannot write to %s: %s", gt_temporary_folder(), strerror(rc));
	if (l->list != MAP_FAILED)
		return 0;
	l->list = NULL;
	return no_memory(err);
}

static int fill_list(struct pass *p, struct gt_reader *r)
{
	struct gt_chrome_launches *l = p->l;
	struct record one, last = { .segment = GT_NONE };
	uint32_t numbers = 0;
	int more;

	while ((more = gt_sorter_next(&p->sorter, &one, p->err)) > 0) {
		struct gt_chrome_launches_of *s = &l->segs[one.segment];
		uint32_t name = one.launch.name;

		if (!compare(&one, &last)) {
			l->list[l->n - 1].works += one.launch.works;
			continue;
		}
		last = one;
		s->named[name >> 3] |= (uint8_t)(1u << (name & 7));
		s->first[one.launch.track + 1] = l->n + 1;
		one.launch.is_numbered = !one.launch.correlation;
		if (!one.launch.correlation && numbers + 1 < NUMBERS_MAX)
			one.launch.correlation = ++numbers;
		l->list[l->n++] = one.launch;
	}
	for (uint32_t i = 0; i < l->nsegs; i++) {
		size_t *first = l->segs[i].first;

		if (i && first[0] < l->segs[i - 1].first[gt_reader_segment(r, i - 1)->ntracks])
			first[0] = l->segs[i - 1].first[gt_reader_segment(r, i - 1)->ntracks];
		for (uint32_t t = 0; t < gt_reader_segment(r, i)->ntracks; t++) {
			if (first[t + 1] < first[t])
				first[t + 1] = first[t];
			l->segs[i].last[t] = first[t];
		}
	}
	return more;
}

/* Numbers the processes of all segments. */
static int init_segments(struct gt_chrome_launches *l, struct gt_reader *r, struct gt_err *err)
{
	uint32_t processes = 0;

	l->nsegs = gt_reader_segments(r);
	l->segs = calloc(l->nsegs + 1ul, sizeof(*l->segs));
	for (uint32_t i = 0; l->segs && i < l->nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		struct gt_chrome_launches_of *s = &l->segs[i];

		s->first = calloc(seg->ntracks + 2ul, sizeof(*s->first));
		s->last = calloc(seg->ntracks + 2ul, sizeof(*s->last));
		s->process = calloc(seg->ntracks + 1ul, sizeof(*s->process));
		s->named = calloc(seg->nstrings / 8 + 1ul, 1);
		if (!s->first || !s->last || !s->process || !s->named)
			return no_memory(err);
		for (uint32_t t = 0; t < seg->ntracks; t++) {
			uint32_t process = gt_track_process(seg, t);

			s->process[t] = process == t ? processes++
				: process < t        ? s->process[process]
						     : 0;
		}
	}
	return l->segs ? 0 : no_memory(err);
}

int gt_chrome_launches_init(struct gt_chrome_launches *l, const struct gt_export_options *opt,
	struct gt_reader *r, struct gt_err *err)
{
	struct pass p = { .opt = opt, .l = l, .err = err };
	int rc;

	*l = (struct gt_chrome_launches){ .n = 0 };
	rc = init_segments(l, r, err);
	if (!rc)
		rc = gt_sorter_init(&p.sorter, sizeof(struct record), BUFFER, before, err);
	if (!rc)
		rc = read_work(&p, r);
	if (!rc && p.sorter.added)
		rc = map_list(l, p.sorter.added, err);
	if (!rc)
		rc = fill_list(&p, r);
	gt_sorter_release(&p.sorter);
	return rc;
}

void gt_chrome_launches_release(struct gt_chrome_launches *l)
{
	for (uint32_t i = 0; l->segs && i < l->nsegs; i++) {
		free(l->segs[i].first);
		free(l->segs[i].last);
		free(l->segs[i].process);
		free(l->segs[i].named);
	}
	free(l->segs);
	if (l->list)
		munmap(l->list, l->bytes);
	*l = (struct gt_chrome_launches){ .n = 0 };
}

/* ---- lookup ---- */

/* Is it before this start and name? */
static bool is_before(const struct gt_chrome_launch *x, int64_t start, uint32_t name)
{
	return x->start != start ? x->start < start : x->name < name;
}

struct gt_chrome_launch *gt_chrome_launches_find(struct gt_chrome_launches *l,
	const struct gt_segment *seg, uint32_t track, int64_t start, uint32_t name)
{
	struct gt_chrome_launches_of *s = &l->segs[seg->index];
	size_t from, to, at;

	if (!l->n || track >= seg->ntracks)
		return NULL;
	from = s->first[track];
	to = s->first[track + 1];
	/* most often it is the one after that of the last search */
	at = s->last[track];
	if (at < to && is_before(&l->list[at], start, name))
		at++;
	if (at >= to || is_before(&l->list[at], start, name) ||
		(at > from && !is_before(&l->list[at - 1], start, name))) {
		while (from < to) {
			at = from + (to - from) / 2;
			if (is_before(&l->list[at], start, name))
				from = at + 1;
			else
				to = at;
		}
		at = from;
	}
	s->last[track] = at;
	return at < s->first[track + 1] && l->list[at].start == start && l->list[at].name == name
		? &l->list[at]
		: NULL;
}

uint64_t gt_chrome_launches_unique(const struct gt_chrome_launches *l, const struct gt_segment *seg,
	uint32_t track, uint64_t correlation)
{
	uint32_t process = track < seg->ntracks ? l->segs[seg->index].process[track] : 0;

	return correlation && process < NUMBERS_MAX ? correlation | (uint64_t)process << 32
						    : correlation;
}

uint64_t gt_chrome_launches_id(const struct gt_chrome_launches *l, const struct gt_segment *seg,
	const struct gt_chrome_launch *launch)
{
	if (launch->is_numbered)
		return (uint64_t)launch->correlation << 32;
	return gt_chrome_launches_unique(l, seg, launch->track, launch->correlation);
}
