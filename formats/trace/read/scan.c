/* The columns path: block after block, run after run, straight from the unpacked arrays. Only where
 * a filter cuts through a block are rows copied.
 *
 * Where no order is asked for, workers share nothing but the next block's number. Who must see
 * blocks in order has a lane: blocks are unpacked ahead, into a ring of a few, and each lane goes
 * through them one after the other, whichever thread has time to take it a block further. A thread
 * stays with its lanes where it can, for what they know is in its processor's cache; it unpacks the
 * next block when no lane can go on. No two lanes are at one block at a time, as what a block has
 * unpacked of its arguments is changed by those who ask. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/read/block_plan.h"

/* ---- one worker ---- */

struct gt_block_args { /* what gt_cols_args needs to know about the run in hand */
	struct scanner *s;
	const struct gt_run *run;
	const uint8_t *keep; /* a byte per row of the run, NULL: all kept */
};

struct scanner {
	struct gt_reader *reader;
	const struct gt_compiled_filter *wanted; /* by segment */
	struct gt_loader loader;
	struct gt_unpacked u;
	const struct gt_segment *seg;
	const struct gt_seg *from; /* the block in hand */
	struct gt_wire_entry entry;
	struct values { /* by code */
		/* of its arguments in args_room, one field after the other */
		size_t at;
		uint32_t first; /* of its fields, in columns */
		bool found;
		/* rows in the runs before this one; in this one, if `counted` */
		uint32_t seen, here;
	} * values;
	size_t values_cap;
	/* by field: where in the block it is packed, see gt_block_columns; UNPACKED: it is in
	 * args_room */
	uint32_t *columns;
	size_t columns_cap;
	/* for all of a block's; so that it is bounded, whatever codes a file's blocks use */
	uint64_t *args_room;
	size_t args_cap;
	/* the same places, for those that a filter cuts out of them: no answer moves another */
	uint64_t *picked;
	size_t picked_cap;
	struct gt_buf cut; /* rows that a filter kept */
	struct gt_block_args args;
	bool counted;
	unsigned asked; /* how many codes' rows of this run */
	/* of this run by code, when more than FEW_CODES were asked for: see gt_cols_rows */
	uint32_t *rows, *rows_from;
	size_t rows_cap, rows_from_cap;
};
#define UNPACKED UINT32_MAX
#define FEW_CODES 8

/* A report reads few of the fields, so each is unpacked when it is asked for. All of a code's are
 * checked before the first one is. */
static const uint64_t *unpack_field(struct scanner *s, uint32_t code, uint32_t field)
{
	struct gt_err why = GT_ERR_INIT;
	struct values *v = &s->values[code];
	uint32_t n = s->u.per_code[code], *column = s->columns + v->first;
	uint64_t *to = s->args_room + v->at + (size_t)field * n;

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

/* How many rows of each code the run has. */
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
	to = s->picked + (from - s->args_room);
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
		/* which leaves from[c] where code c begins */
		rows[from[cols->code[i] + 1]++] = i;
	return 0;
}

const uint32_t *gt_cols_rows(const struct gt_cols *cols, uint32_t code, uint32_t *n)
{
	struct scanner *s = cols->args_->s;

	if (!cols->code || ++s->asked <= FEW_CODES)
		return NULL;
	if (s->asked == FEW_CODES + 1 && sort_rows(s, cols)) {
		s->asked = 0;
		return NULL;
	}
	*n = s->rows_from[code + 1] - s->rows_from[code];
	return s->rows + s->rows_from[code];
}

/* The run's rows with a return code, counted from the run's first row. */
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

/* Copies the rows that the filter keeps. Returns how many. */
static uint32_t cut_rows(struct scanner *s, const struct gt_compiled_filter *w,
	const struct gt_run *run, struct gt_cols *c, uint8_t *room)
{
	uint32_t n = run->n, kept = 0, r = 0, nret = 0;
	int64_t *start = (int64_t *)(void *)room, *dur = start + n;
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

/* The run is done. */
static void count_seen(struct scanner *s, const struct gt_run *run)
{
	count_here(s, run);
	for (uint32_t i = run->first; i < run->first + run->n; i++) {
		struct values *v = &s->values[s->u.code ? s->u.code[i] : 0];

		v->seen += v->here;
		v->here = 0;
	}
}

/* Does anybody want arguments, and are there any? */
static bool has_args(const struct scanner *s)
{
	bool any = false;

	for (uint32_t c = 0; c < s->u.ntypes; c++)
		any |= gt_block_fields(&s->u, s->seg, c);
	return any && s->wanted[s->seg->index].filter->args;
}

static int prepare_block(struct scanner *s)
{
	const struct gt_unpacked *u = &s->u;
	size_t total = 0, columns = 0;

	if (has_args(s))
		gt_block_count(&s->u);
	if (gt_grow(&s->values, &s->values_cap, u->ntypes, sizeof(*s->values)))
		return -ENOMEM;
	for (uint32_t c = 0; c < u->ntypes; c++) {
		unsigned fields = u->counted && u->per_code[c] ? gt_block_fields(u, s->seg, c) : 0;

		s->values[c] = (struct values){ .at = total, .first = (uint32_t)columns };
		total += (size_t)fields * u->per_code[c];
		columns += fields;
	}
	if (gt_grow(&s->args_room, &s->args_cap, total + 1, sizeof(*s->args_room)) ||
		gt_grow(&s->columns, &s->columns_cap, columns + 1, sizeof(*s->columns)))
		return -ENOMEM;
	gt_buf_clear(&s->cut);
	return gt_buf_room(&s->cut, (size_t)u->nrows * 32 + 64) ? 0 : -ENOMEM;
}

/* Hands out the block in hand. It may be asked for more than once. */
static int scan_runs(struct scanner *s, unsigned worker, gt_scan_fn *fn, void *arg)
{
	const struct gt_unpacked *u = &s->u;
	const struct gt_seg *seg = s->from;
	const struct gt_wire_entry *e = &s->entry;
	const struct gt_compiled_filter *w = &s->wanted[seg->pub.index];
	bool cut = w->types ||
		(w->filter->ranged &&
			(e->head.min_start < w->range.from || e->head.max_end >= w->range.to));
	int code = 0;

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
		s->asked = 0;
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

/* Takes a block in hand: 1; 0 when it is damaged, which is noted; or negative. */
static int load_block(struct scanner *s, const struct gt_seg *seg, struct gt_err *err)
{
	const struct gt_wire_entry *e = &s->entry;
	struct gt_err why = GT_ERR_INIT;
	struct gt_span content;
	int code = gt_load(s->reader, seg, e, &s->loader, &content, &why);

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
	free(s->args_room);
	free(s->columns);
	free(s->rows);
	free(s->rows_from);
}

/* ---- all of them ---- */

/* blocks that are unpacked or being handed out, beyond one for each thread */
#define AHEAD 6u
/* threads of a scan with lanes: each takes memory, and more would wait for the slowest lane anyway
 */
#define CREW_MAX 6u

struct slot {
	struct scanner s;
	enum { TAKEN, READY } state;
	bool useless;  /* damaged */
	bool busy;     /* a lane is at it */
	unsigned left; /* lanes that it has not been handed to */
};
struct lane {
	uint64_t at;   /* the block it needs next */
	unsigned last; /* who took it further the last time */
	bool busy;
};
struct crew {
	struct gt_reader *reader;
	struct gt_block_plan agenda;
	pthread_mutex_t lock; /* agenda, ring and lanes */
	atomic_int result;
	gt_scan_fn *each, *then;
	void *arg;
	/* the ring: block n of the agenda goes to slot n % nslots */
	struct slot *slots;
	struct lane *lanes;
	unsigned nslots, nlanes;
	uint64_t taken, done; /* blocks */
	bool all_taken;
	unsigned asleep; /* threads that wait for `changed` */
	pthread_cond_t changed;
};
struct hand {
	struct crew *crew;
	unsigned number;
	pthread_t thread;
	struct gt_err err;
};

/* The next block of the agenda goes to s: 1, 0 when there are no more, negative. The crew is
 * locked. */
static int take(struct crew *c, struct scanner *s, const struct gt_seg **seg, struct gt_err *err)
{
	struct gt_plan_entry p;
	int more = gt_block_plan_next(&c->agenda, &p, err);

	if (more <= 0)
		return more;
	*seg = &c->reader->segs[p.seg];
	more = gt_block_plan_entry(&c->agenda, &p, &s->entry, err);
	return more ? more : 1;
}

/* The first result that is not 0 ends it all. */
static void end_with(struct crew *c, int code)
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

static void *work(void *arg)
{
	struct hand *h = arg;
	struct crew *c = h->crew;
	struct scanner s = { .reader = c->reader, .wanted = c->agenda.wanted };
	const struct gt_seg *seg;
	int code = 1;

	while (code >= 0 && !atomic_load(&c->result)) {
		pthread_mutex_lock(&c->lock);
		code = take(c, &s, &seg, &h->err);
		pthread_mutex_unlock(&c->lock);
		if (!code)
			break;
		if (code > 0)
			code = load_block(&s, seg, &h->err);
		if (code > 0 && (code = scan_runs(&s, h->number, c->each, c->arg)))
			break;
	}
	end_with(c, code);
	scanner_release(&s);
	return NULL;
}

/* ---- in order, and ahead of it ---- */

/* Unpacks the next block, if there is one and room for it. Returns what ends it all, or 0. The crew
 * is locked. */
static int unpack_next(struct hand *h, bool *did)
{
	struct crew *c = h->crew;
	struct slot *slot = &c->slots[c->taken % c->nslots];
	const struct gt_seg *seg;
	int code, loaded;

	if (c->all_taken || c->taken - c->done == c->nslots)
		return 0;
	*did = true;
	code = take(c, &slot->s, &seg, &h->err);
	if (code <= 0) {
		c->all_taken = true;
		return code;
	}
	slot->state = TAKEN;
	slot->left = c->nlanes;
	c->taken++;
	pthread_mutex_unlock(&c->lock);
	code = loaded = load_block(&slot->s, seg, &h->err);
	if (loaded > 0)
		code = c->each ? scan_runs(&slot->s, h->number, c->each, c->arg) : 0;
	pthread_mutex_lock(&c->lock);
	slot->useless = loaded <= 0;
	slot->state = READY;
	return code;
}

/* Can it go on? */
static bool can_go(const struct crew *c, const struct lane *l)
{
	const struct slot *slot = &c->slots[l->at % c->nslots];

	return !l->busy && l->at != c->taken && slot->state == READY && !slot->busy;
}

/* A lane that can go on: one that this hand took further before, or else that which is furthest
 * behind. NULL: none. */
static struct lane *find_lane(const struct hand *h)
{
	const struct crew *c = h->crew;
	struct lane *best = NULL;

	for (struct lane *l = c->lanes; l < c->lanes + c->nlanes; l++) {
		bool mine = l->last == h->number, best_mine = best && best->last == h->number;

		if (can_go(c, l) && (!best || (mine != best_mine ? mine : l->at < best->at)))
			best = l;
	}
	return best;
}

static bool is_over(struct crew *c)
{
	return atomic_load(&c->result) || (c->all_taken && c->done == c->taken);
}

/* To wake a thread costs as much as a lane's work on some thousand rows. Who has just done
 * something goes on with what there is, so others are wanted only for a second lane that can go on,
 * or for several blocks to unpack. */
static bool wants_others(struct crew *c)
{
	unsigned can = 0;

	if (!c->asleep)
		return false;
	for (struct lane *l = c->lanes; l < c->lanes + c->nlanes; l++)
		can += can_go(c, l);
	return is_over(c) || can > 1 || (!c->all_taken && c->taken - c->done <= c->nslots / 2);
}

/* Takes a lane one block further, if one can go. Returns what ends it all, or 0. The crew is
 * locked. */
static int go_on(struct hand *h, bool *did)
{
	struct crew *c = h->crew;
	struct lane *l = find_lane(h);
	struct slot *slot;
	int code = 0;

	if (!l)
		return 0;
	slot = &c->slots[l->at % c->nslots];
	*did = l->busy = slot->busy = true;
	l->last = h->number;
	pthread_mutex_unlock(&c->lock);
	if (!slot->useless)
		code = scan_runs(&slot->s, (unsigned)(l - c->lanes), c->then, c->arg);
	pthread_mutex_lock(&c->lock);
	l->busy = slot->busy = false;
	l->at++;
	slot->left--;
	while (c->done < c->taken && c->slots[c->done % c->nslots].state == READY &&
		!c->slots[c->done % c->nslots].left)
		c->done++;
	return code;
}

static void *work_on_lanes(void *arg)
{
	struct hand *h = arg;
	struct crew *c = h->crew;
	int code = 0;

	pthread_mutex_lock(&c->lock);
	while (!code && !is_over(c)) {
		bool did = false;

		code = go_on(h, &did);
		if (!code && !did)
			code = unpack_next(h, &did);
		if (did && wants_others(c))
			pthread_cond_broadcast(&c->changed);
		else if (!did && !code) {
			c->asleep++;
			pthread_cond_wait(&c->changed, &c->lock);
			c->asleep--;
		}
	}
	pthread_mutex_unlock(&c->lock);
	end_with(c, code);
	return NULL;
}

/* ---- who does what ---- */

static int run_crew(struct crew *c, unsigned threads, struct gt_err *err)
{
	struct hand *hands = calloc(threads, sizeof(*hands));
	void *(*job)(void *) = c->nlanes ? work_on_lanes : work;
	unsigned started = 1;

	if (!hands)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < threads; i++)
		hands[i] = (struct hand){ .crew = c, .number = i, .err = GT_ERR_INIT };
	while (started < threads &&
		!pthread_create(&hands[started].thread, NULL, job, &hands[started]))
		started++;
	job(&hands[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(hands[i].thread, NULL);
	for (unsigned i = 0; i < started; i++)
		if (hands[i].err.code && err && !err->code)
			*err = hands[i].err;
	free(hands);
	return atomic_load(&c->result);
}

static int make_ring(struct crew *c, unsigned threads, struct gt_err *err)
{
	c->nslots = threads > 1 ? threads + AHEAD : 1;
	c->slots = calloc(c->nslots, sizeof(*c->slots));
	c->lanes = calloc(c->nlanes, sizeof(*c->lanes));
	if (!c->slots || !c->lanes)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < c->nslots; i++) {
		c->slots[i].s.reader = c->reader;
		c->slots[i].s.wanted = c->agenda.wanted;
	}
	for (unsigned i = 0; i < c->nlanes; i++)
		c->lanes[i].last = threads;
	return 0;
}

int gt_scan_consumers(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *each, gt_scan_fn *then, unsigned nlanes, void *arg,
	struct gt_err *err)
{
	struct crew c = { .reader = r,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
		.each = each,
		.then = then,
		.arg = arg,
		.nlanes = nlanes };
	int code = gt_block_plan_open(
		&c.agenda, r, filter, order == GT_BY_TIME ? GT_BY_START : GT_AS_FILED);

	threads = !threads ? 1 : nlanes && threads > CREW_MAX ? CREW_MAX : threads;
	code = code      ? gt_err_set(err, code, "out of memory")
		: nlanes ? make_ring(&c, threads, err)
			 : 0;
	if (!code)
		code = run_crew(&c, threads, err);
	for (unsigned i = 0; c.slots && i < c.nslots; i++)
		scanner_release(&c.slots[i].s);
	free(c.slots);
	free(c.lanes);
	gt_block_plan_release(&c.agenda);
	return code;
}

int gt_scan(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *fn, void *arg, struct gt_err *err)
{
	bool ordered = order != GT_ANY_ORDER;

	return gt_scan_consumers(r, filter, order, threads, ordered ? NULL : fn,
		ordered ? fn : NULL, ordered, arg, err);
}
