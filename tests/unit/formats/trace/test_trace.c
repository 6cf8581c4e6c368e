/* The trace format: the reader returns the data that was written. */
#include <limits.h>

#include "formats/trace/block.h"
#include "formats/trace/codec.h"
#include "tests/unit/formats/trace/mixed_rows.h"

/* ---- numbers ---- */

static void columns_round_trip(void)
{
	static const uint64_t edge[] = { 0, 1, 223, 224, 225, 479, 480, 6623, 6624, 6625, 72159,
		72160, 1ull << 32, INT64_MAX, UINT64_MAX, UINT64_MAX - 6624, 6624 + 0xffff,
		6624 + 0x10000, 6624 + 0xffffff, 6624 + 0x1000000 };
	uint64_t in[5000], out[5000];

	for (size_t n = 0; n <= 5000; n = n * 3 + 1) {
		struct gt_buf b = { 0 };
		struct gt_span s;

		for (size_t i = 0; i < n; i++)
			in[i] = i < sizeof(edge) / 8 ? edge[i] : rnd() >> rnd() % 64;
		gt_put_column(&b, in, n);
		size_t len = b.len;
		gt_buf_reserve(&b, GT_SLACK);
		memset(b.data + len, 0xff, GT_SLACK);
		s = (struct gt_span){ b.data, b.data + len };
		CHECK(!gt_get_column(&s, out, n) && s.at == s.end && !memcmp(in, out, n * 8));
		for (size_t cut = 0; cut < len && cut < 200; cut++) {
			s = (struct gt_span){ b.data, b.data + cut };
			CHECK_EQ(gt_get_column(&s, out, n), -EBADMSG);
		}
		gt_buf_release(&b);
	}
}

static void values_choose_any_encoding(void)
{
	uint64_t in[2000], out[2000];

	for (int shape = 0; shape < 5; shape++) {
		struct gt_buf b = { 0 }, scratch = { 0 };
		struct gt_span s;

		for (size_t i = 0; i < 2000; i++)
			in[i] = shape == 0   ? 42
				: shape == 1 ? rnd() % 200 * 0x1000
				: shape == 2 ? 0x7f0000000000 + i * 512
				: shape == 3 ? rnd()
					     : i % 300;
		gt_put_values(&b, in, 2000, &scratch);
		size_t len = b.len;
		gt_buf_reserve(&b, GT_SLACK);
		s = (struct gt_span){ b.data, b.data + len };
		CHECK(!gt_get_values(&s, out, 2000) && s.at == s.end &&
			!memcmp(in, out, sizeof(in)));
		CHECK(shape != 0 || len < 10);
		CHECK(shape != 2 || len < 2 * 2000 + 20);
		gt_buf_release(&b);
		gt_buf_release(&scratch);
	}
}

/* ---- rows ---- */

static int by_place(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

static bool same_rows(void)
{
	if (nwant != ngot)
		return false;
	if (!nwant)
		return true;
	qsort(want, nwant, sizeof(*want), by_place);
	qsort(got, ngot, sizeof(*got), by_place);
	for (size_t i = 0; i < nwant; i++)
		if (by_place(&want[i], &got[i]) || want[i].ret != got[i].ret ||
			want[i].kind != got[i].kind)
			return false;
	return true;
}

static struct gt_reader *mixed(int rows, int64_t step, bool sorted, struct gt_err *err)
{
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);

	if (tiny_open(&t, fd, sorted) || write_mixed(&t, rows, step) || gt_writer_close(t.w, err))
		return NULL;
	return gt_reader_open_fd(keep, err);
}

static void rows_come_back(void)
{
	static const struct {
		int rows;
		int64_t step;
		bool sorted;
	} shapes[] = {
		{ 0, 0, true },
		{ 1, 0, true },
		{ 63, 0, true },
		{ 3000, 0, true },
		{ 60000, 0, true },
		{ 3000, 3000000, true },
		{ 60000, 0, false },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct gt_err err = GT_ERR_INIT;
		struct gt_reader *r = mixed(shapes[i].rows, shapes[i].step, shapes[i].sorted, &err);
		struct gt_filter all = { .args = true };
		size_t n;

		CHECK(r);
		ngot = 0;
		CHECK(!gt_scan(r, &all, GT_ANY_ORDER, 1, collect, NULL, &err) && same_rows());
		gt_reader_damage(r, &n);
		CHECK(!n && gt_reader_segment(r, 0)->closed);
		gt_reader_close(r);
	}
}

static void time_order_is_global(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = mixed(30000, 200000, true, &err);
	struct gt_filter all = { 0 };
	struct gt_iter *it;
	struct gt_event ev;
	int64_t last = INT64_MIN;
	int more;

	CHECK(r && (it = gt_iter_open(r, &all, &err)));
	for (ngot = 0; (more = gt_iter_next(it, &ev, &err)) > 0; last = ev.row.start) {
		CHECK(ev.row.start >= last);
		got[ngot++] = (struct seen){ ev.track, ev.row.type, ev.row.start, ev.row.end,
			ev.row.ret, ev.row.depth, ev.kind, ev.row.nargs > 0 ? ev.args[0] : 0,
			ev.row.nargs > 1 ? ev.args[1] : 0 };
	}
	CHECK(!more && same_rows());
	gt_iter_close(it);
	gt_reader_close(r);
}

static bool only_launches(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->op == GT_OP_LAUNCH;
}

static void filters_cut_exactly(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = mixed(20000, 100000, true, &err);
	const struct gt_segment *seg;
	struct gt_filter f = { .ranged = true, .args = true, .match = only_launches };
	size_t expected = 0;

	CHECK(r);
	seg = gt_reader_segment(r, 0);
	f.from = seg->min_start + (seg->max_end - seg->min_start) / 3;
	f.to = seg->min_start + (seg->max_end - seg->min_start) / 2;
	ngot = 0;
	CHECK(!gt_scan(r, &f, GT_BY_TIME, 1, collect, NULL, &err));
	for (size_t i = 0; i < nwant; i++)
		if (seg->types[want[i].type].op == GT_OP_LAUNCH && want[i].start < f.to &&
			want[i].end > f.from)
			want[expected++] = want[i];
	nwant = expected;
	CHECK(expected > 100 && same_rows());
	f = (struct gt_filter){ .tid = 102, .kinds = GT_BIT(GT_CALL) };
	ngot = 0;
	CHECK(!gt_scan(r, &f, GT_ANY_ORDER, 1, collect, NULL, &err) && ngot > 100);
	for (size_t i = 0; i < ngot; i++)
		CHECK_EQ(seg->tracks[got[i].track].id, 102);
	gt_reader_close(r);
}

static int count(void *arg, unsigned worker, const struct gt_cols *c)
{
	__atomic_fetch_add((uint64_t *)arg, c->n, __ATOMIC_RELAXED);
	return 0;
}

static void threads_see_every_block_once(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = mixed(100000, 0, true, &err);
	struct gt_filter all = { 0 };
	uint64_t rows = 0;

	CHECK(r && !gt_scan(r, &all, GT_ANY_ORDER, 4, count, &rows, &err) && rows == nwant);
	gt_reader_close(r);
}

static void a_long_call_lies_in_the_epoch_of_its_end(void)
{
	struct tiny t;
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;
	struct gt_filter f = { .kinds = GT_BIT(GT_OPEN) };
	struct gt_row open = { .start = 1000 };
	uint64_t n = 0;

	CHECK(!tiny_open(&t, fd, true));
	open.type = t.get;
	for (int e = 0; e < 3; e++) {
		CHECK(!tiny_call(
			&t, t.thread[1], t.get, 2000 + e * 1000, 2100 + e * 1000, 0, 0, 0, 0));
		CHECK(!gt_writer_open_call(t.w, t.thread[0], &open, NULL, &err));
		CHECK(!gt_writer_epoch(t.w, 2500 + e * 1000, &err));
	}
	CHECK(!tiny_call(&t, t.thread[0], t.get, 1000, 9000, 0, 0, 0, 0));
	open.start = 9100;
	CHECK(!gt_writer_open_call(t.w, t.thread[0], &open, NULL, &err) &&
		!gt_writer_epoch(t.w, 9500, &err));
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(keep, &err)));
	CHECK(!gt_scan(r, &f, GT_ANY_ORDER, 1, count, &n, &err) && n == 1);
	CHECK(gt_reader_segment(r, 0)->rows[GT_OPEN] == 1 &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 4);
	CHECK_EQ(gt_reader_segment(r, 0)->max_end, 9500);
	gt_reader_close(r);
}

/* A row that ends far in the future must not make an epoch due for each row after it. */
static void an_early_end_makes_no_epoch_for_each_row(void)
{
	unsigned epochs = 0;
	struct tiny t;

	CHECK(!tiny_open(&t, temp_file(), true));
	for (int64_t ms = 0; ms < 5000; ms++) {
		int64_t at = ms * 1000000, dur = ms % 500 ? 1000 : 500000000000;

		CHECK(!tiny_row(&t, GT_SPAN, t.thread[ms % 3], t.get, at, at + dur, 0, 0, 0, 0));
		if (gt_writer_epoch_is_due(t.w, at)) {
			epochs++;
			CHECK(!gt_writer_epoch(t.w, at, &t.err));
		}
	}
	CHECK(epochs >= 5 && epochs <= 8);
	CHECK(!gt_writer_close(t.w, &t.err));
}

/* Before the first row an epoch becomes due by its age only. */
static void an_epoch_without_rows_is_due_by_its_age(void)
{
	struct tiny t;

	CHECK(!tiny_open(&t, temp_file(), true));
	CHECK(!gt_writer_epoch_is_due(t.w, 5000000000));
	CHECK(!gt_writer_epoch(t.w, 5000000000, &t.err));
	CHECK(!gt_writer_epoch_is_due(t.w, 5000000001));
	CHECK(gt_writer_epoch_is_due(t.w, 10000000000));
	CHECK(!gt_writer_close(t.w, &t.err));
}

static void losses_and_names_come_back(void)
{
	struct tiny t;
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;
	struct gt_filter f = { .kinds = GT_BIT(GT_LOST) };
	struct gt_iter *it;
	struct gt_event ev;
	char *big = malloc(1 << 20);
	const struct gt_segment *seg;
	uint32_t long_name, odd, stack[3];

	memset(big, 'x', 1 << 20);
	CHECK(!tiny_open(&t, fd, true));
	long_name = gt_writer_string_n(t.w, big, 1 << 20);
	odd = gt_writer_string_n(t.w, "a\0b\"\x80\n", 6);
	CHECK(odd != GT_NONE && odd == gt_writer_string_n(t.w, "a\0b\"\x80\n", 6) &&
		odd != gt_writer_string(t.w, "a"));
	CHECK(!gt_writer_loss(t.w, GT_SCOPE_ALL, GT_NONE, 100, 200, GT_LOST_UNKNOWN, &err));
	CHECK(!gt_writer_loss(t.w, GT_SCOPE_TRACK, t.thread[2], 150, 160, 77, &err));
	CHECK(!gt_writer_track_name(t.w, t.thread[3], odd, &err) &&
		!gt_writer_meta(t.w, "{\"exit\":3,\"simulated\":false}", &err));
	CHECK(!gt_writer_anchor(t.w, &(struct gt_anchor){ 1, 2, 3, 4 }, &err));
	stack[0] = odd, stack[1] = long_name, stack[2] = odd;
	CHECK(gt_writer_stack(t.w, stack, 3) == 0 && gt_writer_stack(t.w, stack, 2) == 1 &&
		gt_writer_stack(t.w, stack, 3) == 0);
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(keep, &err)));
	seg = gt_reader_segment(r, 0);
	CHECK(strstr(seg->meta_json, "\"exit\":3") && strstr(seg->meta_json, "tiny") &&
		!seg->simulated && !strcmp(seg->host, "host"));
	CHECK(seg->strings[odd].len == 6 && !memcmp(seg->strings[odd].ptr, "a\0b\"\x80\n", 7) &&
		seg->tracks[t.thread[3]].name == odd);
	CHECK(seg->strings[long_name].len == GT_STRING_MAX &&
		!strcmp(seg->strings[long_name].ptr + GT_STRING_MAX - 4, "x..."));
	CHECK(seg->nanchors == 1 && seg->anchors[0].error == 4 && seg->nstacks == 2 &&
		seg->stacks[0].n == 3);
	CHECK(gt_track_process(seg, t.thread[0]) == t.process &&
		gt_track_process(seg, GT_NONE) == GT_NONE);
	CHECK((it = gt_iter_open(r, &f, &err)));
	CHECK(gt_iter_next(it, &ev, &err) == 1 && ev.track == GT_NONE &&
		ev.args[0] == GT_LOST_UNKNOWN && ev.args[1] == GT_SCOPE_ALL);
	CHECK(gt_iter_next(it, &ev, &err) == 1 && ev.track == t.thread[2] && ev.args[0] == 77 &&
		ev.row.end == 160);
	CHECK_EQ(gt_iter_next(it, &ev, &err), 0);
	gt_iter_close(it);
	gt_reader_close(r);
	free(big);
}

static bool has_frame(const struct gt_segment *seg, uint32_t text, const struct gt_frame *f)
{
	const struct gt_frame *g = gt_segment_frame(seg, text);

	return g && g->kind == f->kind && g->function == f->function && g->file == f->file &&
		g->module == f->module && g->line == f->line && g->offset == f->offset;
}

/* The symbol of a native frame becomes known later; a reader that follows the file sees it, too. */
static void frames_come_back(void)
{
	struct tiny t;
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r, *growing;
	struct gt_frame python = { .kind = GT_FRAME_PYTHON, .line = 88, .module = GT_NONE },
			native = { .kind = GT_FRAME_NATIVE,
				.function = GT_NONE,
				.file = GT_NONE,
				.offset = UINT64_MAX };
	const struct gt_module *m;
	uint32_t text[3];

	CHECK(!tiny_open(&t, fd, true));
	for (int i = 0; i < 3; i++)
		text[i] = gt_writer_string(t.w, (const char *[]){ "f (a.py:88)", "b+0x9", "c" }[i]);
	python.function = gt_writer_string(t.w, "f");
	python.file = gt_writer_string(t.w, "/x/a.py");
	native.module = gt_writer_string(t.w, "/lib/b");
	CHECK(gt_writer_stack(t.w, text, 3) == 0);
	CHECK(!gt_writer_frame(t.w, text[0], &python) && !gt_writer_frame(t.w, text[1], &native));
	CHECK_EQ(gt_writer_module(t.w, native.module, (const uint8_t *)"\1\2\3", 3), native.module);
	CHECK(!gt_writer_epoch(t.w, 1000, &err));
	CHECK((growing = gt_reader_open_growing(dup(keep), UINT64_MAX, &err)));
	CHECK(has_frame(gt_reader_segment(growing, 0), text[1], &native));
	for (int i = 0; i < 1000; i++) { /* what is the same is not written again */
		CHECK(!gt_writer_frame(t.w, text[0], &python));
		CHECK_EQ(gt_writer_module(t.w, native.module, (const uint8_t *)"\1\2\3", 3),
			native.module);
	}
	for (uint32_t i = 0; i < 3; i++) {
		native.function = gt_writer_string(t.w, "_Z1gv");
		native.line = i;
		CHECK(!gt_writer_frame(t.w, text[1], &native));
	}
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(keep, &err)));
	CHECK(gt_reader_grow(growing, UINT64_MAX, &err) == 1);
	for (int i = 0; i < 2; i++) {
		const struct gt_segment *seg = gt_reader_segment(i ? growing : r, 0);

		CHECK(seg->nframes == 2 && seg->nmodules == 1);
		CHECK(has_frame(seg, text[0], &python) && has_frame(seg, text[1], &native));
		CHECK(!gt_segment_frame(seg, text[2]) && !gt_segment_frame(seg, GT_NONE));
		m = seg->modules;
		CHECK(m->path == native.module && m->nid == 3 && !memcmp(m->id, "\1\2\3", 4));
	}
	gt_reader_close(growing);
	gt_reader_close(r);
}

/* Frames of two files, or of two builds of a library, that have the same text. */
static void frames_of_one_text(void)
{
	struct tiny t;
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_frame python = { .kind = GT_FRAME_PYTHON, .line = 8, .module = GT_NONE },
			native = { .kind = GT_FRAME_NATIVE,
				.function = GT_NONE,
				.file = GT_NONE,
				.offset = 9 };
	uint32_t text, file[2], module[2], frames[4];
	const struct gt_segment *seg;
	struct gt_reader *r;

	CHECK(!tiny_open(&t, fd, true));
	text = gt_writer_string(t.w, "f (p/a.py:8)");
	python.function = gt_writer_string(t.w, "f");
	for (int i = 0; i < 2; i++) {
		python.file = file[i] = gt_writer_string(t.w, i ? "/y/p/a.py" : "/x/p/a.py");
		frames[i] = gt_writer_place(t.w, text, &python);
		CHECK_EQ(gt_writer_place(t.w, text, &python), frames[i]);
	}
	for (int i = 0; i < 2; i++) {
		native.module = module[i] = gt_writer_module(
			t.w, gt_writer_string(t.w, "/b"), (const uint8_t *)(i ? "\1" : "\2"), 1);
		frames[2 + i] = gt_writer_place(t.w, gt_writer_string(t.w, "b+0x9"), &native);
	}
	CHECK(frames[0] == text && frames[1] != text && frames[2] != frames[3]);
	native.module = module[0];
	native.function = gt_writer_string(t.w, "g"); /* the symbol of one of them */
	CHECK(!gt_writer_frame(t.w, frames[2], &native));
	CHECK_EQ(gt_writer_place(t.w, gt_writer_string(t.w, "b+0x9"), &native), frames[2]);
	CHECK_EQ(gt_writer_string(t.w, "f (p/a.py:8)"), text);
	CHECK(gt_writer_stack(t.w, frames, 4) == 0);
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(keep, &err)));
	seg = gt_reader_segment(r, 0);
	CHECK(seg->nframes == 4 && seg->nmodules == 2);
	for (int i = 0; i < 2; i++) {
		CHECK_STR(gt_str(seg, frames[i]), "f (p/a.py:8)");
		CHECK_EQ(gt_segment_frame(seg, frames[i])->file, file[i]);
		CHECK_STR(gt_str(seg, seg->modules[i].path), "/b");
		CHECK_EQ(gt_segment_frame(seg, frames[2 + i])->module, seg->modules[i].path);
	}
	CHECK_EQ(gt_segment_frame(seg, frames[3])->function, GT_NONE);
	gt_reader_close(r);
}

static void writer_refuses_nonsense(void)
{
	struct tiny t;
	struct gt_row row = { .start = 10, .end = 9 };
	struct gt_err e = GT_ERR_INIT;

	CHECK(!tiny_open(&t, temp_file(), true));
	CHECK(gt_writer_row(t.w, GT_CALL, t.thread[0], &row, NULL, &e) == -EINVAL &&
		strstr(e.text, "ends before"));
	row.end = 11;
	CHECK_EQ(gt_writer_row(t.w, GT_CALL, 999, &row, NULL, NULL), -EINVAL);
	row.type = 999;
	CHECK_EQ(gt_writer_row(t.w, GT_CALL, t.thread[0], &row, NULL, NULL), -EINVAL);
	row.type = t.launch;
	CHECK_EQ(gt_writer_row(t.w, GT_CALL, t.thread[0], &row, NULL, NULL), -EINVAL);
	row = (struct gt_row){ .start = 0, .end = GT_TIME_MAX, .type = t.get };
	CHECK_EQ(gt_writer_row(t.w, GT_CALL, t.thread[0], &row, NULL, NULL), -ERANGE);
	CHECK_EQ(gt_writer_type(t.w, &(struct gt_type){ .name = 999 }), GT_NONE);
	CHECK_EQ(gt_writer_track(t.w,
			 &(struct gt_track){ .parent = 999, .name = GT_NONE, .source = GT_NONE }),
		GT_NONE);
	CHECK_EQ(gt_writer_frame(t.w, 999, &(struct gt_frame){ .kind = GT_FRAME_NATIVE }), -EINVAL);
	CHECK_EQ(gt_writer_frame(t.w, 0, &(struct gt_frame){ .module = 999 }), -EINVAL);
	CHECK_EQ(gt_writer_module(t.w, 999, NULL, 0), GT_NONE);
	CHECK_EQ(gt_writer_module(t.w, 0, NULL, GT_BUILD_ID_MAX + 1), GT_NONE);
	CHECK(!gt_writer_close(t.w, NULL));
}

/* ---- summaries ---- */

struct totals {
	uint64_t busy[256][8], count[256][8], bytes, unions[GT_ASPECTS];
	unsigned summaries;
	bool bad;
};

static int add_summary(void *arg, const struct gt_summary *s)
{
	struct totals *t = arg;
	uint64_t busy = 0;

	t->summaries++;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct gt_bucket *b = &s->buckets[i];

		t->bad |= b->busy > b->width || b->start % (int64_t)b->width ||
			(b->width & (b->width - 1)) || b->category >= GT_CATEGORY_COUNT;
		busy += b->busy;
		/* those are among the calls */
		if (!s->derived && s->aspect != GT_ASPECT_IOCTLS) {
			t->busy[s->track][s->depth] += b->busy;
			t->count[s->track][s->depth] += b->count;
			t->bytes += b->bytes;
		}
	}
	if (s->derived || s->aspect == GT_ASPECT_IOCTLS)
		t->unions[s->aspect] += busy;
	return 0;
}

/* Busy time of the union of the selected rows, computed by brute force. */
static uint64_t union_of(bool (*pick)(const struct seen *))
{
	int64_t end = INT64_MIN;
	uint64_t busy = 0;

	qsort(want, nwant, sizeof(*want), by_place);
	for (size_t i = 0; i < nwant; i++) {
		if (!pick(&want[i]) || want[i].end <= end)
			continue;
		busy += (uint64_t)(want[i].end - (want[i].start > end ? want[i].start : end));
		end = want[i].end;
	}
	return busy;
}

static struct tiny *tiny_now;
static bool is_gpu(const struct seen *s) { return s->kind == GT_GPU; }
static bool is_outer(const struct seen *s) { return s->kind == GT_CALL && !s->depth; }

static bool is_first(const struct seen *s)
{
	return s->kind == GT_CALL && !s->depth && s->track == tiny_now->thread[0];
}

static bool is_ioctl(const struct seen *s)
{
	return s->kind == GT_CALL && s->type == tiny_now->ioctl;
}

static uint64_t sum_of(bool (*pick)(const struct seen *))
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nwant; i++)
		sum += pick(&want[i]) ? (uint64_t)(want[i].end - want[i].start) : 0;
	return sum;
}

static void summaries_equal_the_rows(void)
{
	struct tiny t;
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;
	uint64_t bytes = 0, launches = 0;

	CHECK(!tiny_open(&t, fd, true) && !write_mixed(&t, 60000, 5000) &&
		!gt_writer_close(t.w, &err));
	tiny_now = &t;
	CHECK((r = gt_reader_open_fd(keep, &err)));
	for (size_t i = 0; i < nwant; i++) {
		bytes += want[i].type == t.alloc && want[i].kind == GT_CALL ? want[i].a : 0;
		launches += want[i].kind == GT_CALL && want[i].depth == 0 &&
			want[i].track == t.thread[0];
	}
	for (unsigned level = 0; level < 3; level++) {
		struct totals *sum = calloc(1, sizeof(*sum));

		CHECK(!each_summary(r, level, add_summary, sum, &err) && !sum->bad);
		if (!level || sum->summaries) { /* each level alone gives the same result */
			/* blocks of one stream may overlap in time */
			CHECK(sum->busy[t.stream][0] == union_of(is_gpu) || !level);
			CHECK(sum->busy[t.thread[0]][0] == union_of(is_first) || !level);
			CHECK(sum->count[t.thread[0]][0] == launches || !level);
			CHECK(sum->bytes == bytes || !level);
			CHECK(!level || sum->unions[GT_ASPECT_CALLS] == union_of(is_outer));
			CHECK(!level || sum->unions[GT_ASPECT_WORK] == union_of(is_gpu));
			CHECK(!level || sum->unions[GT_ASPECT_IOCTLS] == sum_of(is_ioctl));
			CHECK(level || sum->summaries > 1);
		}
		free(sum);
	}
	gt_reader_close(r);
}

/* ---- calls put in place ---- */

static void write_calls(bool in_place, uint64_t *bytes, uint64_t *in_rooms)
{
	struct tiny t;
	struct gt_writer_space room;
	uint64_t args[2];

	CHECK(!tiny_open(&t, temp_file(), true));
	gt_writer_reserve(t.w, t.thread[0], &room);
	CHECK(!room.nrows); /* no row is before the track's first call */
	for (int i = 0; i < 40000; i++) {
		struct gt_row row = { .start = i * 100,
			.end = i * 100 + 50 + i % 7,
			.type = i % 3 ? t.get : t.launch,
			.nargs = i % 3 ? 0 : 2 };

		args[0] = (uint64_t)i % 5;
		args[1] = 0;
		gt_writer_reserve(t.w, t.thread[i % 1000 == 0], &room);
		CHECK(!room.nrows || room.after <= row.start);
		if (!in_place || !room.nrows || room.nvalues < row.nargs) {
			CHECK(!gt_writer_row(
				t.w, GT_CALL, t.thread[i % 1000 == 0], &row, args, &t.err));
			continue;
		}
		room.rows[0] = (struct gt_writer_row){ .start = row.start,
			.end = row.end,
			.type = row.type,
			.args = room.first,
			.nargs = row.nargs };
		for (unsigned k = 0; k < row.nargs; k++)
			room.values[k] = args[k];
		gt_writer_commit(t.w, 1, row.nargs, row.end);
		++*in_rooms;
	}
	CHECK(!gt_writer_epoch(t.w, 4000000, &t.err) &&
		gt_writer_stats(t.w)->rows[GT_CALL] == 40000);
	*bytes = gt_writer_stats(t.w)->bytes;
	CHECK(!gt_writer_close(t.w, &t.err));
}

static void calls_put_in_place_are_like_others(void)
{
	uint64_t n = 0, one = 0, other = 1;

	write_calls(false, &one, &n);
	write_calls(true, &other, &n);
	CHECK(one == other && n > 39000 && n < 40000);
}

/* A call that began before one that is held already, with nothing around both, keeps its block open
 * until the epoch closes: rows may be more than a block's then. */
static void calls_out_of_order_find_room(void)
{
	enum { N = 3 * GT_BLOCK_ROWS };
	struct gt_filter all = { 0 };
	struct gt_event ev = { 0 };
	struct gt_reader *r;
	struct gt_iter *it;
	struct tiny t;
	int64_t last = 0;
	unsigned n = 0;
	char path[40];

	strcpy(path, "/tmp/gt-test-trace-XXXXXX");
	CHECK(!tiny_open(&t, mkstemp(path), true));
	CHECK(!tiny_call(&t, t.thread[0], t.get, 900, 910, 0, 0, 0, 0) &&
		!tiny_call(&t, t.thread[0], t.get, 100, 950, 0, 0, 0, 0));
	for (int i = 0; i < N; i++)
		CHECK(!tiny_call(&t, t.thread[0], t.get, 1000 + i * 10, 1005 + i * 10, 0, 0, 0, 0));
	CHECK(!gt_writer_close(t.w, &t.err));
	r = gt_reader_open(path, &t.err);
	it = r ? gt_iter_open(r, &all, &t.err) : NULL;
	for (; it && gt_iter_next(it, &ev, &t.err) > 0 && ev.row.start >= last; n++)
		last = ev.row.start;
	CHECK(n == N + 2);
	gt_iter_close(it);
	gt_reader_close(r);
	unlink(path);
}

/* All fields of all codes of a run, asked for one after another, twice, and looked at only then. */
static int all_answers_hold(void *arg, unsigned worker, const struct gt_cols *c)
{
	const uint64_t *v[2][8];
	uint32_t n = 0;

	for (uint32_t code = 0; code < c->ntypes; code++) {
		unsigned fields = c->seg->types[c->types[code]].nfields;

		for (unsigned k = 0; k < 2 * fields; k++)
			v[k / fields][k % fields] = gt_cols_args(c, code, k % fields, &n);
		for (unsigned k = 0; k < 2 * fields; k++)
			for (uint32_t i = 0; i < n; i++)
				ngot += v[k / fields][k % fields] &&
					v[k / fields][k % fields][i] % 10 == k % fields &&
					v[k / fields][k % fields][i] / 100000 == c->track;
	}
	return 0;
}

/* Calls of quiet threads share a block: each is a run of it, and a filter cuts a run, too. */
static void answers_last_as_long_as_the_run(void)
{
	static const char *const names[] = { "first", "second" };
	struct gt_filter f = { .args = true };
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;
	uint32_t types[2];
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);

	CHECK(!tiny_open(&t, fd, true));
	for (unsigned k = 0; k < 2; k++)
		types[k] = tiny_type(t.w, names[k], GT_CAT_LAUNCH, GT_OP_LAUNCH, "a b c d e f g h");
	for (uint32_t i = 0; i < 600; i++) {
		struct gt_row row = { i * 10, i * 10 + 5, types[i / 3 % 2], 0, 0, 8 };
		uint64_t args[8];

		for (unsigned k = 0; k < 8; k++)
			args[k] = t.thread[i % 3] * 100000ull + i * 10 + k;
		CHECK(!gt_writer_row(t.w, GT_CALL, t.thread[i % 3], &row, args, &t.err));
	}
	CHECK(!gt_writer_close(t.w, &t.err) && (r = gt_reader_open_fd(keep, &err)));
	ngot = 0;
	CHECK(!gt_scan(r, &f, GT_ANY_ORDER, 1, all_answers_hold, NULL, &err) && ngot == 600 * 16);
	f.ranged = true;
	f.from = 995;
	f.to = 4995;
	ngot = 0;
	CHECK(!gt_scan(r, &f, GT_ANY_ORDER, 1, all_answers_hold, NULL, &err) && ngot == 400 * 16);
	gt_reader_close(r);
}

T_MAIN(T(columns_round_trip), T(values_choose_any_encoding), T(rows_come_back),
	T(time_order_is_global), T(filters_cut_exactly), T(threads_see_every_block_once),
	T(a_long_call_lies_in_the_epoch_of_its_end), T(an_early_end_makes_no_epoch_for_each_row),
	T(an_epoch_without_rows_is_due_by_its_age), T(losses_and_names_come_back),
	T(frames_come_back), T(frames_of_one_text), T(writer_refuses_nonsense),
	T(summaries_equal_the_rows), T(calls_put_in_place_are_like_others),
	T(calls_out_of_order_find_room), T(answers_last_as_long_as_the_run))
