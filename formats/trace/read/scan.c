/* The columns path: block after block, run after run, straight from the unpacked arrays. Rows are
 * copied only if a filter removes some of a block's rows.
 *
 * Without order, worker threads share only the number of the next block. With order, a consumer
 * gets the blocks one after the other: workers unpack blocks ahead into a ring of a few slots, and
 * any free worker passes the next block to a consumer that is ready. A worker prefers the consumers
 * that it served before, whose data are in its processor's cache, and unpacks the next block if no
 * consumer is ready. Only one consumer reads a block at a time, because reading arguments changes
 * the block's state.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/read/block_plan.h"

/* ---- one block ---- */

struct gt_block_args { /* the current run, for gt_cols_args */
	struct scanner *s;
	const struct gt_run *run;
	const uint8_t *keep; /* one byte per row of the run: selected; NULL: all are */
};

struct scanner {
	struct gt_reader *reader;
	const struct gt_compiled_filter *filters; /* by segment */
	struct gt_loader loader;
	struct gt_unpacked u;
	const struct gt_segment *seg;
	const struct gt_seg *from; /* of the current block */
	struct gt_wire_entry entry;
	struct values { /* by code */
		/* of its arguments in unpacked, one field after the other */
		size_t at;
		uint32_t first; /* index of its first field in columns */
		bool found;
		/* rows in the runs before this one; in this one, if `counted` is set */
		uint32_t seen, here;
	} * values;
	size_t values_cap;
	/* by field: offset of its packed column, see gt_block_columns; UNPACKED: it is in
	 * unpacked */
	uint32_t *columns;
	size_t columns_cap;
	/* for all arguments of a block: so memory is bounded, whatever codes a block uses */
	uint64_t *unpacked;
	size_t args_cap;
	/* the values of selected rows, at the same offsets: a later request moves no earlier result
	 */
	uint64_t *picked;
	size_t picked_cap;
	struct gt_buf cut; /* the selected rows */
	struct gt_block_args args;
	bool counted;
	unsigned nlookups; /* calls of gt_cols_rows for this run */
	/* rows of this run by code, after more than FEW_CODES calls: see gt_cols_rows */
	uint32_t *rows, *rows_from;
	size_t rows_cap, rows_from_cap;
};
#define UNPACKED UINT32_MAX
#define FEW_CODES 8

/* A report reads few fields, so each is unpacked on demand. All fields of a code are
 * checked before the first one is unpacked. */
static const uint64_t *unpack_field(struct scanner *s, uint32_t code, uint32_t field)
{
	struct gt_err why = GT_ERR_INIT;
	struct values *v = &s->values[code];
	uint32_t n = s->u.per_code[code], *column = s->columns + v->first;
	uint64_t *to = s->unpacked + v->at + (size_t)field * n;

	if (!v->found && gt_block_columns(&s->u, s->seg, code, column)) {
		gt_err_set(&why, -EBADMSG, "the arguments of a block are damaged");
		gt_note_damage(s->reader, s->from, &s->entry, &why);
		return NULL;
	}
	v->found = true;
	if (column[field] != UNPACKED)
		gt_get_values(
			&(struct gt_span){ s->u.args.at + column[field], s->u.args.end }, to, n);
	column[field] = UNPACKED;
	return to;
}

/* Counts the rows of each code in the run. */
static void count_here(struct scanner *s, const struct gt_run *run)
{
	for (uint32_t i = run->first; !s->counted && i < run->first + run->n; i++)
		s->values[s->u.code ? s->u.code[i] : 0].here++;
	s->counted = true;
}

const uint64_t *gt_cols_args(const struct gt_cols *cols, uint32_t code, uint32_t field, uint32_t *n)
{
	const struct gt_block_args *a = cols->args_;
	struct scanner *s = a->s;
	const struct gt_unpacked *u = &s->u;
	const uint64_t *from;
	uint64_t *to;
	uint32_t row = 0, kept = 0;

	*n = 0;
	if (!u->counted || code >= u->ntypes || field >= gt_block_fields(u, s->seg, code) ||
		!u->per_code[code] || !(from = unpack_field(s, code, field)))
		return NULL;
	if (u->nruns == 1 && !a->keep)
		return *n = u->per_code[code], from;
	count_here(s, a->run);
	if (!a->keep)
		return *n = s->values[code].here, from + s->values[code].seen;
	if (gt_grow(&s->picked, &s->picked_cap, s->args_cap, sizeof(*s->picked)))
		return NULL;
	to = s->picked + (from - s->unpacked);
	from += s->values[code].seen;
	for (uint32_t i = 0; i < a->run->n; i++)
		if ((u->code ? u->code[a->run->first + i] : 0) == code) {
			if (a->keep[i])
				to[kept++] = from[row];
			row++;
		}
	return *n = kept, to;
}

/* Sorts the rows of a run by their codes. */
static int sort_rows(struct scanner *s, const struct gt_cols *cols)
{
	uint32_t *from, *rows;

	if (gt_grow(&s->rows, &s->rows_cap, cols->n, sizeof(*s->rows)) ||
		gt_grow(&s->rows_from, &s->rows_from_cap, cols->ntypes + 2ul,
			sizeof(*s->rows_from)))
		return -ENOMEM;
	from = s->rows_from, rows = s->rows;
	memset(from, 0, (cols->ntypes + 2ul) * sizeof(*from));
	for (uint32_t i = 0; i < cols->n; i++)
		from[cols->code[i] + 2]++;
	for (uint32_t c = 2; c < cols->ntypes + 2; c++)
		from[c] += from[c - 1];
	for (uint32_t i = 0; i < cols->n; i++)
		/* in the end, from[c] is the index of the first row of code c */
		rows[from[cols->code[i] + 1]++] = i;
	return 0;
}

const uint32_t *gt_cols_rows(const struct gt_cols *cols, uint32_t code, uint32_t *n)
{
	struct scanner *s = cols->args_->s;

	if (!cols->code || ++s->nlookups <= FEW_CODES)
		return NULL;
	if (s->nlookups == FEW_CODES + 1 && sort_rows(s, cols)) {
		s->nlookups = 0;
		return NULL;
	}
	*n = s->rows_from[code + 1] - s->rows_from[code];
	return s->rows + s->rows_from[code];
}

/* Finds the run's rows with a return code, as indices in the run. */
static void cut_rets(struct scanner *s, const struct gt_run *run, struct gt_cols *c, uint32_t *rows)
{
	const struct gt_unpacked *u = &s->u;
	uint32_t i = 0, n = 0;

	if (u->nruns == 1) {
		c->ret_row = u->ret_row;
		c->ret = u->ret;
		c->nret = u->nret;
		return;
	}
	while (i < u->nret && u->ret_row[i] < run->first)
		i++;
	c->ret = u->ret + i;
	c->ret_row = rows;
	for (; i < u->nret && u->ret_row[i] < run->first + run->n; i++)
		rows[n++] = u->ret_row[i] - run->first;
	c->nret = n;
}

/* Copies the rows that the filter selects. Returns their number. */
static uint32_t cut_rows(struct scanner *s, const struct gt_compiled_filter *w,
	const struct gt_run *run, struct gt_cols *c, uint8_t *space)
{
	uint32_t n = run->n, kept = 0, r = 0, nret = 0;
	int64_t *start = (int64_t *)(void *)space, *dur = start + n;
	uint32_t *ret_row = (uint32_t *)(void *)(dur + n);
	int32_t *ret = (int32_t *)(void *)(ret_row + n);
	uint16_t *code = (uint16_t *)(void *)(ret + n);
	uint8_t *depth = (uint8_t *)(void *)(code + n), *keep = depth + n;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t k = c->code ? c->code[i] : 0;

		while (r < c->nret && c->ret_row[r] < i)
			r++;
		keep[i] = gt_filter_matches_row(
			w, c->track, c->types[k], c->start[i], c->start[i] + c->dur[i]);
		if (!keep[i])
			continue;
		if (r < c->nret && c->ret_row[r] == i) {
			ret_row[nret] = kept;
			ret[nret++] = c->ret[r];
		}
		start[kept] = c->start[i];
		dur[kept] = c->dur[i];
		code[kept] = k;
		depth[kept++] = c->depth ? c->depth[i] : 0;
	}
	c->start = start;
	c->dur = dur;
	c->code = c->code ? code : NULL;
	c->depth = c->depth ? depth : NULL;
	c->ret_row = ret_row;
	c->ret = ret;
	c->nret = nret;
	s->args.keep = keep;
	return c->n = kept;
}

/* Adds the run's rows to `seen`. */
static void count_seen(struct scanner *s, const struct gt_run *run)
{
	count_here(s, run);
	for (uint32_t i = run->first; i < run->first + run->n; i++) {
		struct values *v = &s->values[s->u.code ? s->u.code[i] : 0];

		v->seen += v->here;
		v->here = 0;
	}
}

/* Does the filter ask for arguments, and are there any? */
static bool needs_args(const struct scanner *s)
{
	bool any = false;

	for (uint32_t c = 0; c < s->u.ntypes; c++)
		any |= gt_block_fields(&s->u, s->seg, c);
	return any && s->filters[s->seg->index].filter->args;
}

static int prepare_block(struct scanner *s)
{
	const struct gt_unpacked *u = &s->u;
	size_t total = 0, columns = 0;

	if (needs_args(s))
		gt_block_count(&s->u);
	if (gt_grow(&s->values, &s->values_cap, u->ntypes, sizeof(*s->values)))
		return -ENOMEM;
	for (uint32_t c = 0; c < u->ntypes; c++) {
		unsigned fields = u->counted && u->per_code[c] ? gt_block_fields(u, s->seg, c) : 0;

		s->values[c] = (struct values){ .at = total, .first = (uint32_t)columns };
		total += (size_t)fields * u->per_code[c];
		columns += fields;
	}
	if (gt_grow(&s->unpacked, &s->args_cap, total + 1, sizeof(*s->unpacked)) ||
		gt_grow(&s->columns, &s->columns_cap, columns + 1, sizeof(*s->columns)))
		return -ENOMEM;
	gt_buf_clear(&s->cut);
	return gt_buf_reserve(&s->cut, (size_t)u->nrows * 32 + 64) ? 0 : -ENOMEM;
}

/* Does the current block have a type that the filter selects? */
static bool has_types(const struct scanner *s, const struct gt_compiled_filter *w)
{
	for (uint32_t c = 0; c < s->u.ntypes; c++)
		if (s->u.types[c] == GT_NONE || w->types[s->u.types[c]])
			return true;
	return false;
}

/* Passes the runs of the current block to fn. It may be called more than once. */
static int scan_runs(struct scanner *s, unsigned worker, gt_scan_fn *fn, void *arg)
{
	const struct gt_unpacked *u = &s->u;
	const struct gt_seg *seg = s->from;
	const struct gt_wire_entry *e = &s->entry;
	const struct gt_compiled_filter *w = &s->filters[seg->pub.index];
	bool cut = w->types ||
		(w->filter->ranged &&
			(e->head.min_start < w->range.from || e->head.max_end >= w->range.to));
	int code = 0;

	if (w->types && !has_types(s, w))
		return 0;
	for (uint32_t c = 0; u->nruns > 1 && c < u->ntypes; c++)
		s->values[c].seen = s->values[c].here = 0;
	for (uint32_t i = 0; !code && i < u->nruns; i++) {
		const struct gt_run *run = &u->runs[i];
		struct gt_cols c = { .seg = &seg->pub,
			.kind = u->kind,
			.track = run->track,
			.n = run->n,
			.start = u->start + run->first,
			.dur = u->dur + run->first,
			.code = u->code ? u->code + run->first : NULL,
			.types = u->types,
			.ntypes = u->ntypes,
			.depth = u->depth ? u->depth + run->first : NULL,
			.block = seg->at + e->at,
			.epoch = e->head.epoch,
			.last_of_block = i + 1 == u->nruns,
			.floor = e->head.min_start,
			.args_ = &s->args };

		s->args = (struct gt_block_args){ s, run, NULL };
		s->counted = false;
		s->nlookups = 0;
		if (gt_filter_matches_track(w, run->track)) {
			cut_rets(s, run, &c,
				(uint32_t *)(void *)(s->cut.data + (size_t)u->nrows * 28));
			if (!(cut || gt_filter_hides(w, run->track)) ||
				cut_rows(s, w, run, &c, s->cut.data))
				code = fn(arg, worker, &c);
		}
		if (u->nruns > 1 && w->filter->args)
			count_seen(s, run);
	}
	return code;
}

/* Loads a block: 1; 0 if it is damaged, which it notes; or negative. */
static int load_block(struct scanner *s, const struct gt_seg *seg, struct gt_err *err)
{
	const struct gt_wire_entry *e = &s->entry;
	struct gt_err why = GT_ERR_INIT;
	struct gt_span content;
	int code = gt_load(seg, e, &s->loader, &content, &why);

	s->seg = &seg->pub;
	s->from = seg;
	if (!code)
		code = gt_block_unpack(
			&s->u, (enum gt_kind)e->head.sub, content, e->head.rows, &seg->pub, &why);
	if (!code)
		code = prepare_block(s);
	if (code == -EBADMSG) {
		gt_note_damage(s->reader, seg, e, &why);
		return 0;
	}
	return code ? gt_err_set(err, code, "out of memory") : 1;
}

static void scanner_release(struct scanner *s)
{
	gt_loader_release(&s->loader);
	gt_unpacked_release(&s->u);
	gt_buf_release(&s->cut);
	free(s->picked);
	free(s->values);
	free(s->unpacked);
	free(s->columns);
	free(s->rows);
	free(s->rows_from);
}

/* ---- all blocks ---- */

/* slots of the ring beyond one for each thread */
#define AHEAD 6u
/* threads of a scan with consumers: each needs memory, and more would wait for the
 * slowest consumer */
#define WORKERS_MAX 6u

struct slot {
	struct scanner s;
	enum { TAKEN, READY } state;
	bool damaged;
	bool busy;     /* a consumer reads it */
	unsigned left; /* consumers that have not read it */
};
struct consumer {
	uint64_t at;   /* the next block */
	unsigned last; /* the worker that served it last */
	bool busy;
};
struct pool {
	struct gt_reader *reader;
	struct gt_block_plan plan;
	pthread_mutex_t lock; /* of plan, ring and consumers */
	atomic_int result;
	gt_scan_fn *each, *then;
	void *arg;
	/* the ring: block n of the plan goes to slot n % nslots */
	struct slot *slots;
	struct consumer *consumers;
	unsigned nslots, nconsumers;
	uint64_t taken, done; /* blocks */
	bool all_taken;
	unsigned waiting; /* threads that wait for `changed` */
	pthread_cond_t changed;
};
struct worker {
	struct pool *pool;
	unsigned number;
	pthread_t thread;
	struct gt_err err;
};

/* Assigns the next block of the plan to s: 1, 0 at the end, negative. The pool is locked. */
static int take_block(
	struct pool *c, struct scanner *s, const struct gt_seg **seg, struct gt_err *err)
{
	struct gt_plan_entry p;
	int more = gt_block_plan_next(&c->plan, &p, err);

	if (more <= 0)
		return more;
	*seg = &c->reader->segs[p.seg];
	more = gt_block_plan_entry(&c->plan, &p, &s->entry, err);
	return more ? more : 1;
}

/* Stops all workers if code is not 0. The first such code is the result. */
static void stop_with(struct pool *c, int code)
{
	int none = 0;

	if (!code)
		return;
	atomic_compare_exchange_strong(&c->result, &none, code);
	pthread_mutex_lock(&c->lock);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

/* ---- without order ---- */

static void *work_unordered(void *arg)
{
	struct worker *w = arg;
	struct pool *c = w->pool;
	struct scanner s = { .reader = c->reader, .filters = c->plan.filters };
	const struct gt_seg *seg;
	int code = 1;

	while (code >= 0 && !atomic_load(&c->result)) {
		pthread_mutex_lock(&c->lock);
		code = take_block(c, &s, &seg, &w->err);
		pthread_mutex_unlock(&c->lock);
		if (!code)
			break;
		if (code > 0)
			code = load_block(&s, seg, &w->err);
		if (code > 0 && (code = scan_runs(&s, w->number, c->each, c->arg)))
			break;
	}
	stop_with(c, code);
	scanner_release(&s);
	return NULL;
}

/* ---- in order ---- */

/* Unpacks the next block, if there is one and a free slot. Returns 0, or the code
 * that ends the scan. The pool is locked. */
static int unpack_next(struct worker *w, bool *did)
{
	struct pool *c = w->pool;
	struct slot *slot = &c->slots[c->taken % c->nslots];
	const struct gt_seg *seg;
	int code, loaded;

	if (c->all_taken || c->taken - c->done == c->nslots)
		return 0;
	*did = true;
	code = take_block(c, &slot->s, &seg, &w->err);
	if (code <= 0) {
		c->all_taken = true;
		return code;
	}
	slot->state = TAKEN;
	slot->left = c->nconsumers;
	c->taken++;
	pthread_mutex_unlock(&c->lock);
	code = loaded = load_block(&slot->s, seg, &w->err);
	if (loaded > 0)
		code = c->each ? scan_runs(&slot->s, w->number, c->each, c->arg) : 0;
	pthread_mutex_lock(&c->lock);
	slot->damaged = loaded <= 0;
	slot->state = READY;
	return code;
}

/* Is the consumer's next block unpacked, and are both not in use? */
static bool is_ready(const struct pool *c, const struct consumer *l)
{
	const struct slot *slot = &c->slots[l->at % c->nslots];

	return !l->busy && l->at != c->taken && slot->state == READY && !slot->busy;
}

/* A consumer that is ready: one that this worker served last, else the one furthest
 * behind. NULL: none. */
static struct consumer *find_consumer(const struct worker *w)
{
	const struct pool *c = w->pool;
	struct consumer *best = NULL;

	for (struct consumer *l = c->consumers; l < c->consumers + c->nconsumers; l++) {
		bool own = l->last == w->number, best_own = best && best->last == w->number;

		if (is_ready(c, l) && (!best || (own != best_own ? own : l->at < best->at)))
			best = l;
	}
	return best;
}

static bool is_over(struct pool *c)
{
	return atomic_load(&c->result) || (c->all_taken && c->done == c->taken);
}

/* Waking a thread costs as much as a consumer's work on some thousand rows. This
 * worker continues anyway, so others are needed only if a second consumer is ready, or
 * if there are several blocks to unpack. */
static bool needs_more_workers(struct pool *c)
{
	unsigned can = 0;

	if (!c->waiting)
		return false;
	for (struct consumer *l = c->consumers; l < c->consumers + c->nconsumers; l++)
		can += is_ready(c, l);
	return is_over(c) || can > 1 || (!c->all_taken && c->taken - c->done <= c->nslots / 2);
}

/* Passes its next block to a consumer, if one is ready. Returns 0, or the code that
 * ends the scan. The pool is locked. */
static int run_consumer(struct worker *w, bool *did)
{
	struct pool *c = w->pool;
	struct consumer *l = find_consumer(w);
	struct slot *slot;
	int code = 0;

	if (!l)
		return 0;
	slot = &c->slots[l->at % c->nslots];
	*did = l->busy = slot->busy = true;
	l->last = w->number;
	pthread_mutex_unlock(&c->lock);
	if (!slot->damaged)
		code = scan_runs(&slot->s, (unsigned)(l - c->consumers), c->then, c->arg);
	pthread_mutex_lock(&c->lock);
	l->busy = slot->busy = false;
	l->at++;
	slot->left--;
	while (c->done < c->taken && c->slots[c->done % c->nslots].state == READY &&
		!c->slots[c->done % c->nslots].left)
		c->done++;
	return code;
}

static void *work_ordered(void *arg)
{
	struct worker *w = arg;
	struct pool *c = w->pool;
	int code = 0;

	pthread_mutex_lock(&c->lock);
	while (!code && !is_over(c)) {
		bool did = false;

		code = run_consumer(w, &did);
		if (!code && !did)
			code = unpack_next(w, &did);
		if (did && needs_more_workers(c))
			pthread_cond_broadcast(&c->changed);
		else if (!did && !code) {
			c->waiting++;
			pthread_cond_wait(&c->changed, &c->lock);
			c->waiting--;
		}
	}
	pthread_mutex_unlock(&c->lock);
	stop_with(c, code);
	return NULL;
}

/* ---- threads ---- */

static int run_workers(struct pool *c, unsigned threads, struct gt_err *err)
{
	struct worker *workers = calloc(threads, sizeof(*workers));
	void *(*job)(void *) = c->nconsumers ? work_ordered : work_unordered;
	unsigned started = 1;

	if (!workers)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < threads; i++)
		workers[i] = (struct worker){ .pool = c, .number = i, .err = GT_ERR_INIT };
	while (started < threads &&
		!pthread_create(&workers[started].thread, NULL, job, &workers[started]))
		started++;
	job(&workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned i = 0; i < started; i++)
		if (workers[i].err.code && err && !err->code)
			*err = workers[i].err;
	free(workers);
	return atomic_load(&c->result);
}

static int make_ring(struct pool *c, unsigned threads, struct gt_err *err)
{
	c->nslots = threads > 1 ? threads + AHEAD : 1;
	c->slots = calloc(c->nslots, sizeof(*c->slots));
	c->consumers = calloc(c->nconsumers, sizeof(*c->consumers));
	if (!c->slots || !c->consumers)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < c->nslots; i++) {
		c->slots[i].s.reader = c->reader;
		c->slots[i].s.filters = c->plan.filters;
	}
	for (unsigned i = 0; i < c->nconsumers; i++)
		c->consumers[i].last = threads;
	return 0;
}

int gt_scan_consumers(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *each, gt_scan_fn *then, unsigned nconsumers, void *arg,
	struct gt_err *err)
{
	struct pool c = { .reader = r,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
		.each = each,
		.then = then,
		.arg = arg,
		.nconsumers = nconsumers };
	int code = gt_block_plan_open(
		&c.plan, r, filter, order == GT_BY_TIME ? GT_BY_START : GT_AS_FILED);

	threads = !threads ? 1 : nconsumers && threads > WORKERS_MAX ? WORKERS_MAX : threads;
	code = code          ? gt_err_set(err, code, "out of memory")
		: nconsumers ? make_ring(&c, threads, err)
			     : 0;
	if (!code) {
		gt_block_plan_begin_progress(&c.plan);
		code = run_workers(&c, threads, err);
	}
	for (unsigned i = 0; c.slots && i < c.nslots; i++)
		scanner_release(&c.slots[i].s);
	free(c.slots);
	free(c.consumers);
	gt_block_plan_release(&c.plan);
	return code;
}

int gt_scan(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *fn, void *arg, struct gt_err *err)
{
	bool ordered = order != GT_ANY_ORDER;

	return gt_scan_consumers(r, filter, order, threads, ordered ? NULL : fn,
		ordered ? fn : NULL, ordered, arg, err);
}
