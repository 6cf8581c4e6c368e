/* The columns path: block after block, run after run, straight from the unpacked arrays. Only where a filter cuts through a
 * block are rows copied. Workers share nothing but the next block's number. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "formats/wanted.h"

/* ---- one worker ---- */

struct gt_block_args {		/* what gt_cols_args needs to know about the run in hand */
	struct scanner *s;
	const struct gt_run *run;
	const uint8_t *keep;	/* a byte per row of the run, NULL: all kept */
};

struct scanner {
	struct gt_reader *reader;
	const struct gt_wanted *wanted;	/* by segment */
	struct gt_loader loader;
	struct gt_unpacked u;
	const struct gt_segment *seg;
	const struct gt_seg *from;	/* the block in hand */
	const struct gt_wire_entry *entry;
	struct values {			/* by code: where its arguments are in args_room, see gt_block_values */
		size_t at;
		bool there;
	} *values;
	size_t values_cap;
	uint64_t *args_room;		/* for all of a block's; so that it is bounded, whatever codes a file's blocks use */
	size_t args_cap;
	uint64_t *picked;		/* the same places, for those that a run or a filter cuts out of them: no answer moves another */
	size_t picked_cap;
	struct gt_buf cut;		/* rows that a filter kept */
	struct gt_block_args args;
	uint32_t *seen;			/* by code: rows in the runs before this one */
	size_t seen_cap;
};

static const uint64_t *unpack_values(struct scanner *s, uint32_t code)
{
	struct gt_err why = GT_ERR_INIT;
	struct values *v = &s->values[code];

	if (!v->there && gt_block_values(&s->u, s->seg, code, s->args_room + v->at)) {
		gt_err_set(&why, -EBADMSG, "the arguments of a block are damaged");
		gt_note_damage(s->reader, s->from, s->entry, &why);
		return NULL;
	}
	v->there = true;
	return s->args_room + v->at;
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
	if (code >= u->ntypes || field >= gt_block_fields(u, s->seg, code) || !(from = unpack_values(s, code)))
		return NULL;
	from += (size_t)field * u->per_code[code];
	if (u->nruns == 1 && !a->keep)
		return *n = u->per_code[code], from;
	if (gt_grow(&s->picked, &s->picked_cap, s->args_cap, sizeof(*s->picked)))
		return NULL;
	to = s->picked + (from - s->args_room);
	from += s->seen[code];
	for (uint32_t i = 0; i < a->run->n; i++)
		if ((u->code ? u->code[a->run->first + i] : 0) == code) {
			if (!a->keep || a->keep[i])
				to[kept++] = from[row];
			row++;
		}
	return *n = kept, to;
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
static uint32_t cut_rows(struct scanner *s, const struct gt_wanted *w, const struct gt_run *run, struct gt_cols *c, uint8_t *room)
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
		keep[i] = gt_wants_row(w, c->track, c->types[k], c->start[i], c->start[i] + c->dur[i]);
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

static void count_seen(struct scanner *s, const struct gt_run *run)
{
	for (uint32_t i = 0; i < run->n; i++)
		s->seen[s->u.code ? s->u.code[run->first + i] : 0]++;
}

static int prepare_block(struct scanner *s)
{
	const struct gt_unpacked *u = &s->u;
	size_t total = 0;

	if (gt_grow(&s->values, &s->values_cap, u->ntypes, sizeof(*s->values)) || gt_grow(&s->seen, &s->seen_cap, u->ntypes + 1u, 4))
		return -ENOMEM;
	for (uint32_t c = 0; c < u->ntypes; c++) {
		s->values[c] = (struct values){ .at = total };
		total += (size_t)gt_block_fields(u, s->seg, c) * u->per_code[c];
	}
	if (gt_grow(&s->args_room, &s->args_cap, total + 1, sizeof(*s->args_room)))
		return -ENOMEM;
	memset(s->seen, 0, u->ntypes * sizeof(*s->seen));
	gt_buf_clear(&s->cut);
	return gt_buf_room(&s->cut, (size_t)u->nrows * 32 + 64) ? 0 : -ENOMEM;
}

static int scan_runs(struct scanner *s, const struct gt_wanted *w, const struct gt_seg *seg, const struct gt_wire_entry *e, unsigned worker,
		     gt_scan_fn *fn, void *arg)
{
	const struct gt_unpacked *u = &s->u;
	bool cut = w->types || (w->filter->ranged && (e->head.min_start < w->filter->from || e->head.max_end >= w->filter->to));
	int code = 0;

	for (uint32_t i = 0; !code && i < u->nruns; i++) {
		const struct gt_run *run = &u->runs[i];
		struct gt_cols c = { .seg = &seg->pub, .kind = u->kind, .track = run->track, .n = run->n, .start = u->start + run->first,
				     .dur = u->dur + run->first, .code = u->code ? u->code + run->first : NULL, .types = u->types,
				     .ntypes = u->ntypes, .depth = u->depth ? u->depth + run->first : NULL, .block = seg->at + e->at,
				     .epoch = e->head.epoch, .last_of_block = i + 1 == u->nruns, .floor = e->head.min_start,
				     .args_ = &s->args };

		s->args = (struct gt_block_args){ s, run, NULL };
		if (gt_wants_track(w, run->track)) {
			cut_rets(s, run, &c, (uint32_t *)(void *)(s->cut.data + (size_t)u->nrows * 28));
			if (!(cut || gt_hides(w, run->track)) || cut_rows(s, w, run, &c, s->cut.data))
				code = fn(arg, worker, &c);
		}
		if (u->nruns > 1 && w->filter->args)
			count_seen(s, run);
	}
	return code;
}

static int scan_block(struct scanner *s, const struct gt_seg *seg, const struct gt_wire_entry *e, unsigned worker, gt_scan_fn *fn,
		      void *arg, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	struct gt_span content;
	int code = gt_load(s->reader, seg, e, &s->loader, &content, &why);

	s->seg = &seg->pub;
	s->from = seg;
	s->entry = e;
	if (!code)
		code = gt_block_unpack(&s->u, (enum gt_kind)e->head.sub, content, e->head.rows, &seg->pub, &why);
	if (!code)
		code = prepare_block(s);
	if (code == -EBADMSG) {
		gt_note_damage(s->reader, seg, e, &why);
		return 0;
	}
	if (code)
		return gt_err_set(err, code, "out of memory");
	return scan_runs(s, &s->wanted[seg->pub.index], seg, e, worker, fn, arg);
}

static void scanner_release(struct scanner *s)
{
	gt_loader_release(&s->loader);
	gt_unpacked_release(&s->u);
	gt_buf_release(&s->cut);
	free(s->picked);
	free(s->values);
	free(s->args_room);
	free(s->seen);
}

/* ---- all of them ---- */

struct crew {
	struct gt_reader *reader;
	struct gt_agenda agenda;
	pthread_mutex_t lock;		/* agenda */
	atomic_int result;
	gt_scan_fn *fn;
	void *arg;
	struct gt_err *err;
};
struct hand { struct crew *crew; unsigned number; pthread_t thread; struct gt_err err; };

/* The next block to do: 1, 0 when there are no more, negative. */
static int take(struct crew *c, const struct gt_seg **seg, struct gt_wire_entry *e, struct gt_err *err)
{
	struct gt_visit p;
	int more;

	pthread_mutex_lock(&c->lock);
	more = gt_agenda_next(&c->agenda, &p, err);
	pthread_mutex_unlock(&c->lock);
	if (more <= 0)
		return more;
	*seg = &c->reader->segs[p.seg];
	more = gt_agenda_entry(&c->agenda, &p, e, err);
	return more ? more : 1;
}

static void *work(void *arg)
{
	struct hand *h = arg;
	struct crew *c = h->crew;
	struct scanner s = { .reader = c->reader, .wanted = c->agenda.wanted };
	const struct gt_seg *seg;
	struct gt_wire_entry e;
	int code = 0, more = 1, none = 0;

	while (!code && !atomic_load(&c->result) && (more = take(c, &seg, &e, &h->err)) > 0)
		code = scan_block(&s, seg, &e, h->number, c->fn, c->arg, &h->err);
	if (more < 0)
		code = more;
	if (code)
		atomic_compare_exchange_strong(&c->result, &none, code);
	scanner_release(&s);
	return NULL;
}

static int run_crew(struct crew *c, unsigned threads, struct gt_err *err)
{
	struct hand *hands = calloc(threads, sizeof(*hands));
	unsigned started = 1;

	if (!hands)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < threads; i++)
		hands[i] = (struct hand){ .crew = c, .number = i, .err = GT_ERR_INIT };
	while (started < threads && !pthread_create(&hands[started].thread, NULL, work, &hands[started]))
		started++;
	work(&hands[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(hands[i].thread, NULL);
	for (unsigned i = 0; i < started; i++)
		if (hands[i].err.code && err && !err->code)
			*err = hands[i].err;
	free(hands);
	return atomic_load(&c->result);
}

int gt_scan(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order, unsigned threads, gt_scan_fn *fn, void *arg,
	    struct gt_err *err)
{
	struct crew c = { .reader = r, .lock = PTHREAD_MUTEX_INITIALIZER, .fn = fn, .arg = arg };
	int code = gt_agenda_open(&c.agenda, r, filter, order == GT_BY_TIME ? GT_BY_START : GT_AS_FILED);

	code = code ? gt_err_set(err, code, "out of memory") : run_crew(&c, threads && order == GT_ANY_ORDER ? threads : 1, err);
	gt_agenda_release(&c.agenda);
	return code;
}
