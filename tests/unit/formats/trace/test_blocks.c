/* Traces with more blocks than the memory limit of their index permits: all rows are read, in
 * order, and memory does not grow. */
#include <signal.h>
#include <sys/resource.h>
#include "formats/os/file.h"
#include "formats/trace/write/writer_internal.h"
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

#define EPOCHS (T_SANITIZED ? 140000 : 300000) /* so many blocks of rows, as many of summaries */
#define LATE 10000 /* every N epochs a call ends that began N epochs before */
#define ROWS (EPOCHS + EPOCHS / LATE)

enum end { CLOSED, ABANDONED };

static struct gt_reader *written(int fd, enum end how)
{
	int copy = dup(fd);
	struct tiny t;

	if (tiny_open(&t, fd, true))
		return NULL;
	for (int64_t i = 0; i < EPOCHS; i++) {
		tiny_call(&t, t.thread[0], t.get, i * 1000, i * 1000 + 500, 0, 0, 0, 0);
		if (i % LATE == LATE - 1)
			tiny_call(&t, t.thread[1], t.get, (i - LATE + 1) * 1000, i * 1000 + 600, 0,
				0, 0, 0);
		gt_writer_epoch(t.w, i * 1000 + 900, &t.err);
	}
	if (how == ABANDONED)
		gt_writer_abandon(t.w);
	else if (gt_writer_close(t.w, &t.err))
		return NULL;
	return gt_reader_open_fd(copy, NULL);
}

struct seen {
	uint64_t rows[2], sum[2];
	int64_t floor, last[2];
	bool disorder, floors;
};

static int see(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct seen *s = &((struct seen *)arg)[worker];
	unsigned t = c->track != 1; /* tiny's first thread */

	for (uint32_t i = 0; i < c->n; i++) {
		s->rows[t]++;
		s->sum[t] += (uint64_t)c->start[i];
		s->disorder |= c->start[i] <= s->last[t] && s->rows[t] > 1;
		s->last[t] = c->start[i];
	}
	s->floors |= c->floor < s->floor;
	s->floor = c->floor;
	return 0;
}

/* All starts, by arithmetic. */
static const uint64_t sum_of_first = (uint64_t)EPOCHS * (EPOCHS - 1) / 2 * 1000;
static const uint64_t sum_of_second =
	(uint64_t)(EPOCHS / LATE) * (EPOCHS / LATE - 1) / 2 * LATE * 1000;

static bool all_there(const struct seen *s)
{
	return s->rows[0] == EPOCHS && s->rows[1] == EPOCHS / LATE && s->sum[0] == sum_of_first &&
		s->sum[1] == sum_of_second;
}

static bool columns_are_there(struct gt_reader *r)
{
	struct gt_filter all = { .kinds = GT_BIT(GT_CALL) },
			 few = { .kinds = GT_BIT(GT_CALL),
				 .ranged = true,
				 .from = 5000000,
				 .to = 6000000 };
	struct seen s[2] = { { .floor = INT64_MIN } };
	bool fine = !gt_scan(r, &all, GT_BY_TIME, 1, see, s, NULL) && all_there(s) &&
		!s->disorder && !s->floors;

	*s = (struct seen){ 0 };
	fine &= !gt_scan(r, &all, GT_PER_TRACK, 1, see, s, NULL) && all_there(s) && !s->disorder;
	memset(s, 0, sizeof(s));
	fine &= !gt_scan(r, &all, GT_ANY_ORDER, 2, see, s, NULL);
	for (int t = 0; t < 2; t++) {
		s[0].rows[t] += s[1].rows[t];
		s[0].sum[t] += s[1].sum[t];
	}
	fine &= all_there(s);
	*s = (struct seen){ 0 };
	return fine && !gt_scan(r, &few, GT_BY_TIME, 1, see, s, NULL) && s->rows[0] == 1000 &&
		s->rows[1] == 1;
}

static bool events_are_there(struct gt_reader *r)
{
	struct gt_filter all = { .kinds = GT_BIT(GT_CALL) };
	struct gt_err err = GT_ERR_INIT;
	struct gt_iter *it = gt_iter_open(r, &all, &err);
	int64_t last = INT64_MIN;
	struct gt_event e;
	uint64_t rows = 0, sum = 0;
	bool order = it != NULL;

	while (it && gt_iter_next(it, &e, &err) == 1) {
		order &= e.row.start >= last;
		last = e.row.start;
		rows++;
		sum += (uint64_t)e.row.start;
	}
	gt_iter_close(it);
	return order && !err.code && rows == ROWS && sum == sum_of_first + sum_of_second;
}

static void a_closed_trace_of_many_blocks(void)
{
	struct gt_reader *r = written(gt_temporary(NULL), CLOSED);

	CHECK(r && gt_reader_segment(r, 0)->closed &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == ROWS);
	CHECK(columns_are_there(r));
	CHECK(events_are_there(r));
	gt_reader_close(r);
	CHECK(!MEMORY_IS_TOLD || peak_mib() < 48);
}

static void an_unclosed_trace_of_many_blocks(void)
{
	struct gt_reader *r = written(gt_temporary(NULL), ABANDONED);

	CHECK(r && !gt_reader_segment(r, 0)->closed &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == ROWS);
	CHECK(columns_are_there(r));
	CHECK(events_are_there(r));
	gt_reader_close(r);
	CHECK(!MEMORY_IS_TOLD || peak_mib() < 48);
}

/* The index then stays in memory, the writer's and the reader's. */
static void no_room_for_temporary_files(void)
{
	int fd = gt_temporary(NULL);
	struct gt_reader *r;

	setenv("TMPDIR", "/nowhere", 1);
	r = written(fd, ABANDONED);
	unsetenv("TMPDIR");
	CHECK(r && events_are_there(r));
	gt_reader_close(r);
}

static void too_many_blocks_at_a_time_are_refused(void)
{
	struct gt_filter all = { .kinds = GT_BIT(GT_GPU) };
	struct gt_err err = GT_ERR_INIT;
	struct seen s = { .floor = INT64_MIN };
	struct tiny t;
	struct gt_reader *r;
	int fd = gt_temporary(NULL), copy = dup(fd);

	CHECK(!tiny_open(&t, fd, false));
	for (int64_t i = 0; i < 100001; i++) {
		tiny_row(&t, GT_GPU, t.stream, t.kernel, i, 1000000000, 0, 0, 0, 0);
		gt_writer_epoch(t.w, 1000000001 + i, &t.err);
	}
	/* it has no upper summaries then */
	CHECK(!gt_writer_close(t.w, &t.err) && !t.err.code);
	CHECK((r = gt_reader_open_fd(copy, NULL)) && gt_reader_segment(r, 0)->closed);
	CHECK(!gt_scan(r, &all, GT_BY_TIME, 1, see, &s, NULL) && s.rows[1] == 100001);
	CHECK(!gt_iter_open(r, &all, &err) && err.code == -E2BIG &&
		strstr(err.text, "100000 blocks overlap"));
	gt_reader_close(r);
}

/* Each segment has its own clock: calls that the first one left open give no information about
 * the second. */
static void blocks_of_one_boot_after_another(void)
{
	static const char *const boots[] = { "late", "early" };
	struct gt_filter all = { .kinds = GT_BIT(GT_GPU) };
	int fd = gt_temporary(NULL), copy = dup(fd), rows = 0;
	struct gt_err err = GT_ERR_INIT;
	struct gt_event e;
	struct gt_reader *r;
	struct gt_iter *it;
	struct tiny t;

	for (int s = 0; s < 2; s++) {
		CHECK(!tiny_open_on(&t, dup(fd), false, boots[s]));
		for (int64_t i = 0; i < 50001; i++) {
			tiny_row(&t, GT_GPU, t.stream, t.kernel, i, 1000000000, 0, 0, 0, 0);
			gt_writer_epoch(t.w, 1000000001 + i, &t.err);
		}
		gt_writer_abandon(t.w);
	}
	close(fd);
	CHECK((r = gt_reader_open_fd(copy, NULL)) && gt_reader_segments(r) == 2);
	it = gt_iter_open(r, &all, &err);
	while (it && gt_iter_next(it, &e, &err) == 1)
		rows++;
	gt_iter_close(it);
	gt_reader_close(r);
	CHECK(!err.code && rows == 100002);
}

/* ---- indices that do not do ---- */

static struct gt_wire_footer footer_of(int fd)
{
	struct gt_wire_footer foot = { 0 };
	struct stat st;

	if (!fstat(fd, &st))
		gt_pread(fd, &foot, sizeof(foot), (uint64_t)st.st_size - sizeof(foot));
	return foot;
}

/* A recording that has a hundred thousand entries more than blocks, and then a wrong checksum. */
static bool forge_index(int fd, uint64_t at, const void *bytes, const struct gt_wire_footer *old,
	const struct gt_wire_entry *e)
{
	enum { N = 100000 };
	struct gt_wire_skip skip[2] = { { GT_WIRE_SKIP_MAGIC, 8 + N * sizeof(*e) + 4 },
		{ GT_WIRE_SKIP_MAGIC, sizeof(*old) } };
	struct gt_wire_index ix = { GT_WIRE_INDEX_MAGIC, N };
	struct gt_wire_entry *all = malloc(N * sizeof(*all));
	uint64_t end = at + old->index_at + sizeof(skip[0]) + skip[0].size;
	struct gt_wire_footer foot = *old;
	bool fine;

	for (int i = 0; i < N; i++)
		all[i] = *e;
	foot.bytes = end + sizeof(skip[1]) + sizeof(foot) - at;
	foot.crc = gt_crc(&foot, offsetof(struct gt_wire_footer, crc));
	fine = !gt_pwrite(fd, bytes, old->index_at, at) &&
		!gt_pwrite(fd, skip, sizeof(*skip), at + old->index_at) &&
		!gt_pwrite(fd, &ix, sizeof(ix), at + old->index_at + 8) &&
		!gt_pwrite(fd, all, N * sizeof(*all), at + old->index_at + 16) &&
		!gt_pwrite(fd, "\0\0\0", 4, end - 4) &&
		!gt_pwrite(fd, &skip[1], sizeof(skip[1]), end) &&
		!gt_pwrite(fd, &foot, sizeof(foot), end + sizeof(skip[1]));
	free(all);
	return fine;
}

/* Memory that was allocated for an index is freed when the index is found to be damaged. */
static void many_large_damaged_indices(void)
{
	int one = gt_temporary(NULL), many = gt_temporary(NULL);
	struct gt_wire_footer foot;
	struct gt_wire_entry e;
	struct gt_reader *r;
	struct stat st;
	struct tiny t;
	char bytes[8192];
	size_t ndamage;

	CHECK(!tiny_open(&t, dup(one), true) &&
		!tiny_call(&t, t.thread[0], t.get, 1, 2, 0, 0, 0, 0) &&
		!gt_writer_close(t.w, NULL));
	foot = footer_of(one);
	CHECK(foot.index_at <= sizeof(bytes) && !gt_pread(one, bytes, foot.index_at, 0) &&
		!gt_pread(one, &e, sizeof(e), foot.index_at + 16));
	for (int i = 0; i < 8; i++)
		CHECK(!fstat(many, &st) &&
			forge_index(many, (uint64_t)st.st_size, bytes, &foot, &e));
	CHECK((r = gt_reader_open_fd(many, NULL)) && gt_reader_segments(r) == 8 &&
		gt_reader_segment(r, 7)->rows[GT_CALL] == 1);
	gt_reader_damage(r, &ndamage);
	CHECK_EQ(ndamage, 8);
	gt_reader_close(r);
	close(one);
	CHECK(!MEMORY_IS_TOLD || peak_mib() < 48);
}

struct changing {
	int fd;
	uint64_t index_at;
	bool done, wrong;
};

/* With the first rows, all that follow in the index become of a kind that is none. */
static int change_index(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct changing *h = arg;
	struct gt_wire_entry e;

	h->wrong |= c->kind != GT_CALL;
	for (uint64_t i = 40; !h->done && i < 400; i++) {
		uint64_t at = h->index_at + 16 + i * sizeof(e);

		if (gt_pread(h->fd, &e, sizeof(e), at))
			return 1;
		e.head.sub = 200;
		gt_pwrite(h->fd, &e, sizeof(e), at);
	}
	h->done = true;
	return 0;
}

static void an_index_that_changes_while_it_is_read(void)
{
	struct gt_filter all = { .kinds = GT_BIT(GT_CALL) };
	struct changing h = { .fd = gt_temporary(NULL) };
	struct gt_reader *r = written(dup(h.fd), CLOSED);
	struct gt_err err = GT_ERR_INIT, other = GT_ERR_INIT;
	struct gt_event e;
	struct gt_iter *it;
	int code;

	CHECK(r && (h.index_at = footer_of(h.fd).index_at) && (it = gt_iter_open(r, &all, NULL)));
	CHECK(gt_scan(r, &all, GT_BY_TIME, 1, change_index, &h, &err) == -EBADMSG &&
		err.code == -EBADMSG && h.done && !h.wrong);
	while ((code = gt_iter_next(it, &e, &other)) > 0)
		CHECK_EQ(e.kind, GT_CALL);
	CHECK(code == -EBADMSG && other.code == -EBADMSG);
	gt_iter_close(it);
	gt_reader_close(r);
	close(h.fd);
}

/* So many blocks that their index does not fit into a frame. */
static void a_recording_too_long_for_an_index(void)
{
	int fd = gt_temporary(NULL);
	struct gt_reader *r;
	struct tiny t;
	size_t ndamage;

	CHECK(!tiny_open(&t, dup(fd), true) &&
		!tiny_call(&t, t.thread[0], t.get, 1, 2, 0, 0, 0, 0));
	t.w->nblocks = 59652324;
	CHECK(!gt_writer_close(t.w, NULL) && !footer_of(fd).index_at &&
		(r = gt_reader_open_fd(fd, NULL)));
	gt_reader_damage(r, &ndamage);
	CHECK(!ndamage && gt_reader_segment(r, 0)->closed &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 1);
	gt_reader_close(r);
}

/* The error gives its reason, and the file that was written is valid. */
static void a_full_disk_within_the_index(void)
{
	struct rlimit least, most;
	struct gt_err err = GT_ERR_INIT;
	int fd = gt_temporary(NULL), code;
	struct gt_reader *r;
	struct stat st;
	struct tiny t;

	CHECK(!tiny_open(&t, dup(fd), true));
	for (int64_t i = 0; i < 4000; i++) {
		tiny_call(&t, t.thread[0], t.get, i * 1000, i * 1000 + 500, 0, 0, 0, 0);
		gt_writer_epoch(t.w, i * 1000 + 900, &t.err);
	}
	CHECK(!fstat(fd, &st) && !getrlimit(RLIMIT_FSIZE, &most));
	signal(SIGXFSZ, SIG_IGN);
	least = (struct rlimit){ (rlim_t)st.st_size + 300000, most.rlim_max };
	setrlimit(RLIMIT_FSIZE, &least);
	code = gt_writer_close(t.w, &err);
	setrlimit(RLIMIT_FSIZE, &most);
	CHECK(code == -EFBIG && err.code == -EFBIG);
	CHECK((r = gt_reader_open_fd(fd, NULL)) && !gt_reader_segment(r, 0)->closed &&
		!gt_reader_segment(r, 0)->unread_bytes &&
		gt_reader_segment(r, 0)->rows[GT_CALL] == 4000);
	gt_reader_close(r);
}

T_MAIN(T(a_closed_trace_of_many_blocks), T(an_unclosed_trace_of_many_blocks),
	T(many_large_damaged_indices), T(an_index_that_changes_while_it_is_read),
	T(a_recording_too_long_for_an_index), T(a_full_disk_within_the_index),
	T(no_room_for_temporary_files), T(too_many_blocks_at_a_time_are_refused),
	T(blocks_of_one_boot_after_another))
