/* Gauges compared with a walk over all samples, cell by cell. */
#define _GNU_SOURCE
#include "tests/unit/viewer/view_program.h"
#include "viewer/cells/counter_cells.h"
#include "viewer/lanes/window.h"

static struct sample {
	uint32_t track, type;
	int64_t at;
	double value;
} * samples;
static size_t nsamples, samples_cap;

static uint32_t counter(struct program *p, const char *name, unsigned kind)
{
	struct gt_field f = { gt_writer_string(p->w, "value"), (uint8_t)kind, GT_R_VALUE };

	return gt_writer_type(p->w,
		&(struct gt_type){
			.name = gt_writer_string(p->w, name), .nfields = 1, .fields = &f });
}

static void sample(struct program *p, uint32_t on, uint32_t type, int64_t at, int v, unsigned kind)
{
	double d = v * 0.5, shown = kind == GT_F_F64 ? d : v;
	uint64_t bits = (uint64_t)(int64_t)v;
	struct gt_row row = { at, at, type, 0, 0, 1 };

	if (kind == GT_F_F64)
		memcpy(&bits, &d, sizeof(bits));
	CHECK(!gt_writer_row(p->w, GT_COUNTER, on, &row, &bits, &p->err));
	CHECK(!gt_grow(&samples, &samples_cap, nsamples + 1, sizeof(*samples)));
	samples[nsamples++] = (struct sample){ on, type, at, shown };
}

/* A counter that is sampled often, one that hardly ever is, one that goes below 0. Some come late,
 * some at one time (the last is what counts). */
static void make_counters(int fd, unsigned n)
{
	struct program p;
	uint32_t power, bytes, balance;

	begin(&p, fd, "boot", 77777);
	power = counter(&p, "power", GT_F_F64);
	bytes = counter(&p, "bytes", GT_F_U64);
	balance = counter(&p, "balance", GT_F_I64);
	nsamples = 0;
	for (unsigned i = 0; i < n; i++) {
		p.now += below(100);
		sample(&p, p.device, power, p.now, (int)below(700), GT_F_F64);
		if (!below(n / 8))
			sample(&p, p.process, bytes, p.now, (int)below(1000000), GT_F_U64);
		if (!below(3))
			sample(&p, p.device, balance, p.now, (int)below(100) - 50, GT_F_I64);
		if (!below(n / 5))
			CHECK(!gt_writer_epoch(p.w, p.now, &p.err));
	}
	CHECK(!gt_writer_close(p.w, &p.err));
}

static struct gt_counter_cell count_cell(const struct gt_counter_key *of, int64_t from, int64_t to)
{
	struct gt_counter_cell c = { 0 };

	for (size_t i = 0; i < nsamples; i++) { /* as they were written: by time */
		const struct sample *s = &samples[i];

		if (s->track != of->track || s->type != of->type || s->at >= to)
			continue;
		/* the value when the cell began, or the first value at all */
		if (s->at <= from || !c.known) {
			c = (struct gt_counter_cell){
				.known = true, .low = s->value, .high = s->value, .last = s->value
			};
			/* other values at the cell's start lasted 0 ns, but count */
			if (i && s->at == from)
				for (size_t j = i; j-- > 0 && samples[j].at == from;)
					if (samples[j].track == of->track &&
						samples[j].type == of->type) {
						c.low = samples[j].value < c.low ? samples[j].value
										 : c.low;
						c.high = samples[j].value > c.high
							? samples[j].value
							: c.high;
					}
			continue;
		}
		c.low = s->value < c.low ? s->value : c.low;
		c.high = s->value > c.high ? s->value : c.high;
		c.last = s->value;
	}
	return c;
}

static void cells_are_what_samples_say(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_counter_cell got[64];
	struct gt_counter_key *list = NULL;
	struct gt_reader *r;
	struct gt_archive *a;
	struct gt_counter_cells *g;
	int64_t from, to;
	size_t n = 0;

	state = 12;
	make_counters(fd, 60000);
	CHECK((r = gt_reader_open_fd(keep, &err)) && (a = gt_archive_open(r, &err)) &&
		(g = gt_counter_cells_new(a)));
	CHECK(!gt_list_counters(a, &list, &n, &err) && n == 3);
	gt_archive_extent(a, &from, &to);
	for (unsigned k = 0; k < 120; k++) {
		unsigned shift = below(gt_archive_widest_cell(a) + 1);
		struct gt_cell_window w = gt_aligned_window(
			((from + (int64_t)(below(1000) * (uint64_t)(to - from) / 1000)) >> shift) -
				10,
			shift, 20 + below(40));
		struct gt_counter_key of[3] = { list[k % 3], list[(k + 1) % 3], list[(k + 2) % 3] };

		if (below(2)) { /* cells of any width */
			w.to += below(1000);
			w.shift = 0;
		}
		CHECK(!gt_counter_cells_request(g, &w, of, 3, &err));
		while (gt_counter_cells_step(g, 1, &err) > 0)
			;
		for (size_t i = 0; i < 3; i++) {
			gt_counter_cells_get(g, &of[i], got);
			for (unsigned c = 0; c < w.cells; c += 1 + below(8)) {
				struct gt_counter_cell want = count_cell(
					&of[i], gt_cell_start(&w, c), gt_cell_start(&w, c + 1));

				CHECK(want.known == got[c].known);
				CHECK(!want.known ||
					(want.low == got[c].low && want.high == got[c].high &&
						want.last == got[c].last));
			}
		}
	}
	free(list);
	gt_counter_cells_free(g);
	gt_archive_close(a);
	gt_reader_close(r);
}

/* A sample that is written late: it belongs to the cell of its time. */
static void put_late(struct program *p, uint32_t type, int64_t at)
{
	struct sample one;
	size_t i;

	sample(p, p->process, type, at, (int)below(1000000), GT_F_U64);
	one = samples[nsamples - 1];
	for (i = nsamples - 1; i && samples[i - 1].at > at; i--)
		samples[i] = samples[i - 1];
	samples[i] = one;
}

/* While the trace grows, known cells stay known, whatever window is requested. */
static void what_was_known_stays(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file();
	struct gt_counter_cell got[64];
	struct gt_counter_cells *g = NULL;
	struct gt_reader *r = NULL;
	struct gt_archive *a = NULL;
	struct gt_cell_window w = { .cells = 50 };
	struct program p;
	uint32_t power, bytes;
	unsigned at_once = 0;

	state = 13;
	begin(&p, dup(fd), "boot", 77777);
	power = counter(&p, "power", GT_F_F64);
	bytes = counter(&p, "bytes", GT_F_U64);
	nsamples = 0;
	for (unsigned piece = 0; piece < 60; piece++) {
		struct gt_counter_key of[2] = { { 0, p.device, power }, { 0, p.process, bytes } };
		struct gt_time_extent e = { .widest = 60 };

		for (unsigned i = 0; i < 200 + below(200); i++) {
			p.now += below(100);
			sample(&p, p.device, power, p.now, (int)below(700), GT_F_F64);
			if (!below(40))
				sample(&p, p.process, bytes, p.now, (int)below(1000000), GT_F_U64);
		}
		if (!below(5))
			put_late(&p, bytes, p.now - (int64_t)below(60000));
		CHECK(!gt_writer_epoch(p.w, p.now, &p.err));
		gt_counter_cells_detach(g);
		gt_archive_close(a);
		if (r)
			CHECK(gt_reader_grow(r, UINT64_MAX, &err) > 0);
		else
			r = gt_reader_open_growing(dup(fd), UINT64_MAX, &err);
		CHECK(r && (a = gt_archive_open(r, &err)));
		if (g)
			gt_counter_cells_reopen(g, a);
		else
			CHECK((g = gt_counter_cells_new(a)));
		gt_archive_extent(a, &e.from, &e.to);
		e.to++;
		for (unsigned looks = 1 + below(3); looks; looks--) {
			e.grows = below(4);
			if (below(3))
				gt_window_fit(&w, &e);
			else
				gt_window_pan(&w, &e, (int64_t)below(30) - 10);
			CHECK(!gt_counter_cells_request(g, &w, of, 2, &err));
			gt_counter_cells_get(g, &of[0], got);
			at_once += got[w.cells / 3].known;
			if (below(5))
				CHECK(!gt_counter_cells_step(g, 0, &err));
			else
				continue;
			for (size_t i = 0; i < 2; i++) {
				gt_counter_cells_get(g, &of[i], got);
				for (unsigned c = 0; c < w.cells; c++) {
					struct gt_counter_cell want = count_cell(&of[i],
						gt_cell_start(&w, c), gt_cell_start(&w, c + 1));

					CHECK(want.known == got[c].known);
					CHECK(!want.known ||
						(want.low == got[c].low &&
							want.high == got[c].high &&
							want.last == got[c].last));
				}
			}
		}
	}
	CHECK(at_once > 20 && !gt_writer_close(p.w, &p.err));
	gt_counter_cells_free(g);
	gt_archive_close(a);
	gt_reader_close(r);
	close(fd);
}

T_MAIN(T(cells_are_what_samples_say), T(what_was_known_stays))
