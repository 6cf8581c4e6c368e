/* Rows in order of time: all of them, in order, complete, and in little memory for any number of
 * overlapping blocks. The results are compared with gt_scan. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "formats/trace/codec.h"
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

#define RSS_MAX_KIB (64 << 10)

static uint64_t seed = 1;
static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* ---- the oracle: how many rows, and a sum over all of them that does not depend on their order
 * ---- */

struct sum {
	uint64_t rows, hash;
};

static void add(struct sum *s, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args)
{
	uint64_t h = (uint64_t)kind << 56 ^ (uint64_t)track << 24 ^ row->type;

	h = (h * 31 + (uint64_t)row->start) * 0x9e3779b97f4a7c15ull + (uint64_t)row->end;
	h = h * 31 + ((uint64_t)row->depth << 32 | (uint32_t)row->ret);
	for (unsigned i = 0; i < row->nargs; i++)
		h = (h ^ args[i]) * 0xff51afd7ed558ccdull + i;
	s->hash += h ^ h >> 29;
	s->rows++;
}

static int add_cols(void *arg, unsigned worker, const struct gt_cols *c)
{
	uint32_t *nth = calloc(c->ntypes, sizeof(*nth)), r = 0, n;
	uint64_t **args = calloc((size_t)c->ntypes, sizeof(*args)), one[GT_FIELDS_MAX];

	for (uint32_t k = 0; k < c->ntypes; k++) {
		unsigned nfields = c->types[k] == GT_NONE ? 2 : c->seg->types[c->types[k]].nfields;

		args[k] = malloc((size_t)nfields * c->n * 8 + 8);
		for (unsigned f = 0; f < nfields; f++) {
			const uint64_t *v = gt_cols_args(c, k, f, &n);

			if (n)
				memcpy(args[k] + (size_t)f * c->n, v, n * 8);
		}
	}
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t k = c->code ? c->code[i] : 0;
		struct gt_row row = { c->start[i], c->start[i] + c->dur[i], c->types[k], 0,
			c->depth ? c->depth[i] : 0, 0 };

		row.nargs = row.type == GT_NONE ? 2 : c->seg->types[row.type].nfields;
		if (r < c->nret && c->ret_row[r] == i)
			row.ret = c->ret[r++];
		for (unsigned f = 0; f < row.nargs; f++)
			one[f] = args[k][(size_t)f * c->n + nth[k]];
		nth[k]++;
		add(arg, c->kind, c->track, &row, one);
	}
	for (uint32_t k = 0; k < c->ntypes; k++)
		free(args[k]);
	free(args);
	free(nth);
	return 0;
}

/* All rows by time; false when they are out of order. */
static bool walk(struct gt_reader *r, const struct gt_filter *f, struct sum *s)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_iter *it = gt_iter_open(r, f, &err);
	struct gt_event ev;
	int64_t last = INT64_MIN;
	int more = -1;
	bool ordered = true;

	while (it && (more = gt_iter_next(it, &ev, &err)) > 0) {
		ordered &= ev.row.start >= last;
		last = ev.row.start;
		add(s, ev.kind, ev.track, &ev.row, ev.args);
	}
	more = more ? more : gt_iter_next(it, &ev, &err); /* the end stays the end */
	gt_iter_close(it);
	return ordered && !more;
}

static bool agrees(struct gt_reader *r, struct gt_filter f, uint64_t *rows)
{
	struct sum scanned = { 0, 0 }, walked = { 0, 0 };
	struct gt_err err = GT_ERR_INIT;
	size_t damaged;
	bool fine;

	f.args = true;
	fine = walk(r, &f, &walked) && !gt_scan(r, &f, GT_ANY_ORDER, 1, add_cols, &scanned, &err);
	gt_reader_damage(r, &damaged);
	*rows = walked.rows;
	return fine && !damaged && !memcmp(&scanned, &walked, sizeof(walked));
}

static bool only_launches(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->op == GT_OP_LAUNCH;
}

static uint32_t hide_some(const struct gt_segment *seg, uint32_t track, void *arg)
{
	static const uint32_t layers[] = { 0, GT_BIT(GT_LAYER_API), GT_BIT(GT_LAYER_IOCTL), ~0u };

	return layers[track % 4];
}

static int count_shown(void *arg, unsigned worker, const struct gt_cols *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t type = c->types[c->code ? c->code[i] : 0];

		*(uint64_t *)arg += type == GT_NONE ||
			!(hide_some(c->seg, c->track, NULL) & GT_BIT(c->seg->types[type].layer));
	}
	return 0;
}

/* Layers of tracks are hidden in the same way on both paths, alone and with all other filters;
 * losses remain. */
static bool hides(struct gt_reader *r, int64_t tid)
{
	const struct gt_segment *seg = gt_reader_segment(r, 0);
	int64_t third = (seg->max_end - seg->min_start) / 3;
	struct gt_filter f[] = {
		{ 0 },
		{ .kinds = GT_BIT(GT_CALL) },
		{ .kinds = GT_BIT(GT_LOST) },
		{ .tid = tid },
		{ .match = only_launches },
		{ .ranged = true, .from = seg->min_start + third, .to = seg->max_end - third },
	};
	struct gt_err err = GT_ERR_INIT;

	for (size_t i = 0; i < sizeof(f) / sizeof(*f); i++) {
		uint64_t want = 0, n;

		if (gt_scan(r, &f[i], GT_ANY_ORDER, 1, count_shown, &want, &err))
			return false;
		f[i].hide = hide_some;
		if (!agrees(r, f[i], &n) || n != want)
			return false;
	}
	return true;
}

/* With every filter. */
static bool agrees_always(struct gt_reader *r, int64_t tid, uint64_t rows)
{
	const struct gt_segment *seg = gt_reader_segment(r, 0);
	int64_t third = (seg->max_end - seg->min_start) / 3;
	struct gt_filter f[] = {
		{ 0 },
		{ .kinds = GT_BIT(GT_CALL) },
		{ .tid = tid },
		{ .match = only_launches },
		{ .tid = tid, .match = only_launches },
		{ .ranged = true, .from = seg->min_start + third, .to = seg->max_end - third },
		{ .ranged = true,
			.from = seg->min_start + third,
			.to = seg->max_end - third,
			.tid = tid,
			.match = only_launches },
		{ .ranged = true, .from = seg->max_end + 1, .to = seg->max_end + 2 },
		{ .segment = 2 },
	};
	uint64_t n;

	for (size_t i = 0; i < sizeof(f) / sizeof(*f); i++)
		if (!agrees(r, f[i], &n) || n > rows || (!i && n != rows) || (i < 7 ? !n : n))
			return false;
	return true;
}

/* ---- many threads ---- */

static int open_threads(struct tiny *t, int fd, bool sorted, uint32_t *track, int n)
{
	if (tiny_open(t, fd, sorted))
		return -1;
	for (int i = 0; i < n; i++)
		track[i] = gt_writer_track(t->w,
			&(struct gt_track){ .parent = t->process,
				.name = GT_NONE,
				.source = t->source,
				.kind = GT_TRACK_THREAD,
				.id = 1000 + i,
				.ns_id = 1000 + i });
	return 0;
}

/* Each thread calls every 1000 ns, so that all of them overlap all the time. */
static int write_threads(int fd, int threads, int calls, bool args)
{
	static uint32_t track[1000];
	struct tiny t;
	int bad = open_threads(&t, fd, true, track, threads);

	for (int c = 0; !bad && c < calls; c++)
		for (int i = 0; !bad && i < threads; i++) {
			int64_t start = 1000 + c * 1000ll + i,
				end = start + 50 + (int64_t)(rnd() & 127);
			uint32_t type = !args || c % 3 == 0 ? t.get
				: c % 3 == 1                ? t.launch
							    : t.alloc;

			bad = tiny_call(&t, track[i], type, start, end, 0, c % 50 == 7,
				rnd() & 1023, 0x7f0000000000 + (rnd() & 0xfff) * 512);
			if (!bad && gt_writer_epoch_is_due(t.w, end))
				bad = gt_writer_epoch(t.w, end, &t.err);
		}
	return bad || gt_writer_close(t.w, &t.err) ? 1 : 0;
}

/* The exit status of fn in its own process, and the memory that it took. */
static int in_child(int (*fn)(int fd, const int *shape), int fd, const int *shape, long *rss_kib)
{
	struct rusage u;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn(fd, shape));
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid || !WIFEXITED(status))
		return -1;
	*rss_kib = u.ru_maxrss;
	return WEXITSTATUS(status);
}

static int write_shape(int fd, const int *shape)
{
	return write_threads(dup(fd), shape[0], shape[1], shape[2]);
}

static int read_shape(int fd, const int *shape)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open_fd(dup(fd), &err);
	uint64_t rows = 0;
	bool fine = r && agrees(r, (struct gt_filter){ 0 }, &rows) &&
		rows == (uint64_t)shape[0] * (uint64_t)shape[1];

	gt_reader_close(r);
	return !fine;
}

static void a_thousand_threads_fit_in_memory(void)
{
	static const int shapes[][3] = { { 1000, T_SANITIZED ? 500 : 5000, 1 },
		{ 600, T_SANITIZED ? 100 : 4300, 0 } };

	for (size_t i = 0; i < 2; i++) {
		int fd = temp_file();
		long rss;

		CHECK(!in_child(write_shape, fd, shapes[i], &rss));
		CHECK(!in_child(read_shape, fd, shapes[i], &rss));
		CHECK(T_SANITIZED || rss < RSS_MAX_KIB);
		close(fd);
	}
}

/* ---- out of order: every block overlaps every other one ---- */

enum { REVERSED, SHUFFLED, SHUFFLED_THREADS, THREAD_AFTER_THREAD };

static int write_disorder(int fd, const int *shape)
{
	static uint32_t track[100];
	struct tiny t;
	int bad = open_threads(&t, dup(fd), false, track, 100), rows = shape[1];
	uint32_t wide = bad ? 0 : tiny_type(t.w, "wide", GT_CAT_OTHER, GT_OP_NONE, "a b c d e f g");

	for (int i = 0; !bad && i < rows; i++) {
		struct gt_row row = { .type = i % 10 ? wide : t.get,
			.ret = i % 99 == 0 ? -i : 0,
			.nargs = i % 10 ? 7 : 0 };
		int th = shape[0] == SHUFFLED_THREADS     ? (int)(rnd() % 100)
			: shape[0] == THREAD_AFTER_THREAD ? i * 100 / rows
							  : 0;
		uint64_t a[7];

		row.start = shape[0] == REVERSED          ? (rows - i) * 100ll
			: shape[0] == THREAD_AFTER_THREAD ? i % (rows / 100) * 50ll
							  : (int64_t)(rnd() >> 34);
		row.end = row.start + (int64_t)(rnd() % 90);
		for (int f = 0; f < 7; f++)
			a[f] = rnd();
		bad = gt_writer_row(t.w, GT_SPAN, track[th], &row, a, &t.err);
		if (!bad &&
			(shape[0] == SHUFFLED ? i % 3000 == 2999
					      : gt_writer_epoch_is_due(t.w, row.end)))
			/* an epoch sorts its own rows: short ones leave disorder */
			bad = gt_writer_epoch(t.w, row.end, &t.err);
	}
	return bad || gt_writer_close(t.w, &t.err) ? 1 : 0;
}

static int read_disorder(int fd, const int *shape)
{
	return read_shape(fd, (int[]){ 1, shape[1] });
}

static void disorder_fits_in_memory(void)
{
	for (int how = REVERSED; how <= THREAD_AFTER_THREAD; how++) {
		/* contents of 60 bytes a row: more than are held */
		int fd = temp_file(), shape[] = { how, T_SANITIZED ? 290000 : 500000 };
		long rss;

		CHECK(!in_child(write_disorder, fd, shape, &rss));
		CHECK(!in_child(read_disorder, fd, shape, &rss));
		CHECK(T_SANITIZED || rss < RSS_MAX_KIB);
		close(fd);
	}
}

/* ---- all kinds, few rows a track, one track or many, few types or many ---- */

static int write_kinds(struct tiny *t, const uint32_t *track, int threads, int rows, int types)
{
	uint32_t extra[400];
	char name[20];
	int bad = 0;
	int64_t now = 1000;

	for (int i = 0; i < types; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		extra[i] = tiny_type(t->w, name, GT_CAT_OTHER, GT_OP_NONE, i % 3 ? "x" : "x y");
	}
	for (int i = 0; i < rows; i++, now += 200) {
		uint32_t th = track[rnd() % (uint64_t)threads];

		bad |= tiny_call(
			t, th, t->ioctl, now + 10, now + 20, 1, i % 9 ? 0 : -5, rnd() % 70000, 0);
		bad |= tiny_call(t, th, t->get, now + 10, now + 20 + i % 2, 0, 0, 0, 0);
		bad |= tiny_call(
			t, th, t->launch, now + 40, now + 90, 0, 0, 0x5000 + rnd() % 3, t->source);
		bad |= tiny_call(t, th, types ? extra[rnd() % (uint64_t)types] : t->alloc,
			now + 100, now + 110, 0, i % 31 ? 0 : 2, rnd(), rnd() % 9);
		if (i % 4 == 0)
			bad |= tiny_row(t, GT_SPAN, th, t->alloc, now - 100,
				now + (int64_t)(rnd() % 9000), 0, 0, rnd() % 512, 0x1000);
		if (i % 5 == 0)
			bad |= tiny_row(t, GT_INSTANT, th, t->launch, now, now, 0, 0, 1, 2);
		if (i % 70 == 0)
			bad |= gt_writer_loss(t->w, i % 140 ? GT_SCOPE_TRACK : GT_SCOPE_ALL,
				i % 140 ? th : GT_NONE, now, now + 9, (uint64_t)i, &t->err);
		if (i % 1000 == 999)
			bad |= gt_writer_epoch(t->w, now + 150, &t->err);
	}
	for (int i = 0; i < threads; i++)
		bad |= gt_writer_open_call(t->w, track[i],
			&(struct gt_row){
				.start = now - 7 * (i % 9), .type = t->launch, .nargs = 1 },
			(uint64_t[]){ (uint64_t)i }, &t->err);
	return bad | gt_writer_epoch(t->w, now + 500, &t->err);
}

static void every_kind_comes_back_under_every_filter(void)
{
	static const struct {
		int threads, rows, types;
		bool sorted;
	} shapes[] = {
		{ 1, 1500, 0, true },
		{ 1, 9000, 300, true },
		{ 40, 4500, 0, true },
		{ 200, 2500, 300, true },
		{ 40, 4500, 5, false },
	};
	static uint32_t track[200];

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct tiny t;
		int fd = temp_file(), keep = dup(fd);
		struct gt_reader *r;
		uint64_t rows = 0;

		CHECK(!open_threads(&t, fd, shapes[i].sorted, track, 200));
		CHECK(!write_kinds(&t, track, shapes[i].threads, shapes[i].rows, shapes[i].types) &&
			!gt_writer_close(t.w, &t.err));
		CHECK((r = gt_reader_open_fd(keep, &t.err)));
		for (int k = 1; k < GT_KINDS; k++)
			rows += gt_reader_segment(r, 0)->rows[k];
		CHECK(rows > 4u * (uint64_t)shapes[i].rows);
		CHECK(agrees_always(r, 1000, rows) && hides(r, 1000));
		for (int k = 1; k < GT_KINDS; k++) {
			CHECK(agrees(r, (struct gt_filter){ .kinds = GT_BIT(k) }, &rows) &&
				rows == gt_reader_segment(r, 0)->rows[k]);
		}
		gt_reader_close(r);
	}
}

/* Calls of 0 ns: only their order shows which call contains which, and merging the tracks must
 * keep that order. */
static void the_order_within_a_track_stays(void)
{
	static const uint8_t depth[] = { 0, 1, 2, 1, 0, 1, 0 };
	struct tiny t;
	int fd = temp_file(), keep = dup(fd), at[4] = { 0, 0, 0, 0 };
	struct gt_reader *r;
	struct gt_iter *it;
	struct gt_event ev;

	CHECK(!tiny_open(&t, fd, true));
	/* the writer moves a parent before its children: pairs that stay as they are handed in */
	for (int th = 3; th >= 0; th--) {
		struct gt_row row = { .start = 500, .end = 500, .type = t.get };

		for (size_t i = 0; i < sizeof(depth); i++) {
			row.depth = depth[i];
			CHECK(!gt_writer_row(t.w, GT_SPAN, t.thread[th], &row, NULL, &t.err));
		}
	}
	CHECK(!gt_writer_close(t.w, &t.err) && (r = gt_reader_open_fd(keep, &t.err)));
	CHECK((it = gt_iter_open(r, &(struct gt_filter){ 0 }, &t.err)));
	while (gt_iter_next(it, &ev, &t.err) > 0) {
		int th = ev.track - t.thread[0];

		CHECK(ev.row.start == 500 && th >= 0 && th < 4 && at[th] < 7 &&
			ev.row.depth == depth[at[th]]);
		at[th]++;
	}
	CHECK(at[0] == 7 && at[1] == 7 && at[2] == 7 && at[3] == 7);
	gt_iter_close(it);
	gt_reader_close(r);
}

static void segments_of_one_boot_are_mixed(void)
{
	uint8_t *b[2];
	size_t n[2];
	struct gt_err err;
	struct gt_reader *r;
	uint64_t rows;

	for (int i = 0; i < 2; i++) {
		int fd = temp_file();

		CHECK(!write_threads(dup(fd), 3, 2000 + i, true));
		b[i] = file_bytes(fd, &n[i]);
		close(fd);
	}
	CHECK((b[0] = realloc(b[0], n[0] + n[1])));
	memcpy(b[0] + n[0], b[1], n[1]);
	CHECK((r = read_bytes(b[0], n[0] + n[1], &err)));
	CHECK(gt_reader_segments(r) == 2 && agrees(r, (struct gt_filter){ 0 }, &rows) &&
		rows == 3 * 4001);
	gt_reader_close(r);
	free(b[0]);
	free(b[1]);
}

/* ---- columns read a little at a time ---- */

static void a_column_opens_as_it_unpacks(void)
{
	uint64_t in[3000], out[3000];

	for (size_t n = 0; n <= 3000; n = n * 3 + 1) {
		struct gt_buf b = { 0 };
		struct gt_span s;
		struct gt_coded_column c;

		for (size_t i = 0; i < n; i++)
			in[i] = rnd() >> rnd() % 64;
		gt_put_column(&b, in, n);
		size_t len = b.len;
		gt_buf_reserve(&b, GT_SLACK);
		memset(b.data + len, 0xff, GT_SLACK);
		s = (struct gt_span){ b.data, b.data + len };
		CHECK(!gt_column_open(&c, &s, n) && s.at == s.end);
		for (size_t i = 0, m; i < n; i += m) {
			m = 1 + rnd() % 300;
			m = m < n - i ? m : n - i;
			gt_column_next(&c, out + i, m);
		}
		CHECK(!memcmp(in, out, n * 8));
		/* if one of them reports damage, the other does, too */
		for (size_t byte = 0; byte < len; byte++) {
			struct gt_span x = { b.data, b.data + byte }, y = x;

			CHECK_EQ(gt_column_open(&c, &x, n), -EBADMSG);
			b.data[byte] ^= 0x80;
			x = y = (struct gt_span){ b.data, b.data + len };
			CHECK(gt_column_open(&c, &x, n) == gt_get_column(&y, out, n));
			b.data[byte] ^= 0x80;
		}
		gt_buf_release(&b);
	}
}

/* Does reading on, a few values at a time, give these and touch nothing else? */
static bool come_next(
	struct gt_values *v, const struct gt_buf *dicts, const uint64_t *want, size_t n)
{
	uint64_t got[7][3], *to[7];

	for (size_t i = 0; i < 7; i++)
		to[i] = got[i];
	for (size_t i = 0, step; i < n; i += step) {
		step = 1 + i % 7 < n - i ? 1 + i % 7 : n - i;
		memset(got, 0xaa, sizeof(got));
		gt_values_next(v, (const uint64_t *)(const void *)dicts->data, to, step, 1);
		for (size_t k = 0; k < 7; k++)
			if (got[k][1] != (k < step ? want[i + k] : 0xaaaaaaaaaaaaaaaaull) ||
				got[k][0] != got[k][2])
				return false;
	}
	return true;
}

static void values_open_as_they_unpack(void)
{
	uint64_t in[500], out[500];

	for (int shape = 0; shape < 5; shape++) {
		struct gt_buf b = { 0 }, scratch = { 0 }, dicts = { 0 };
		struct gt_values v;
		struct gt_span s;

		for (size_t i = 0; i < 500; i++)
			in[i] = shape == 0   ? 42
				: shape == 1 ? rnd() % 200 * 0x1000
				: shape == 2 ? 0x7f0000000000 + i * 512
				: shape == 3 ? rnd()
					     : i % 300;
		gt_put_values(&b, in, 500, &scratch);
		size_t len = b.len;
		gt_buf_reserve(&b, GT_SLACK);
		memset(b.data + len, 0, GT_SLACK);
		gt_buf_add(&dicts, &(uint64_t){ 7 }, 8); /* another one's */
		s = (struct gt_span){ b.data, b.data + len };
		CHECK(!gt_values_open(&v, &s, 500, &dicts) && s.at == s.end);
		CHECK(come_next(&v, &dicts, in, 500));
		for (size_t byte = 0; byte < len; byte++)
			for (int bit = 0; bit < 8; bit++) {
				struct gt_span x = { b.data, b.data + len }, y = x;
				int code;

				b.data[byte] ^= (uint8_t)(1 << bit);
				code = gt_values_open(&v, &x, 500, &dicts);
				CHECK(code == gt_get_values(&y, out, 500) &&
					(code || x.at == y.at));
				CHECK(code || come_next(&v, &dicts, out, 500));
				gt_buf_clear(&dicts);
				b.data[byte] ^= (uint8_t)(1 << bit);
			}
		gt_buf_release(&b);
		gt_buf_release(&scratch);
		gt_buf_release(&dicts);
	}
}

T_MAIN(T(a_thousand_threads_fit_in_memory), T(disorder_fits_in_memory),
	T(every_kind_comes_back_under_every_filter), T(the_order_within_a_track_stays),
	T(segments_of_one_boot_are_mixed), T(a_column_opens_as_it_unpacks),
	T(values_open_as_they_unpack))
