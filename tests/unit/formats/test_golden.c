/* A file of version 1 that never changes: every later reader must read the same data from it.
 * GOLDEN_WRITE=FILE writes one (for a new version of the format, never to replace an old one). */
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

static int make(const char *path)
{
	struct tiny t;
	struct gt_row begun = { .start = 9000000 };

	if (tiny_open(&t, open(path, O_RDWR | O_CREAT | O_EXCL, 0644), true))
		return -1;
	for (int i = 0; i < 3000; i++) {
		int64_t at = 1000 + i * 1000000ll;
		uint32_t th = t.thread[i % 3];

		if (tiny_call(&t, th, t.ioctl, at + 10, at + 20, 1, i % 50 ? 0 : 31,
			    i % 50 ? 0 : 31, 0) ||
			tiny_call(&t, th, i % 4 ? t.launch : t.alloc, at, at + 500 + i % 17, 0,
				i % 100 ? 0 : 2, i % 4 ? 7 : 1u << i % 20,
				i % 4 ? t.source : 4096u * (unsigned)i) ||
			(i % 5 == 0 &&
				tiny_row(&t, GT_GPU, t.stream, t.kernel, at + 300, at + 2000000, 0,
					0, 0, 0)) ||
			(gt_writer_epoch_is_due(t.w, at) && gt_writer_epoch(t.w, at + 600, &t.err)))
			return -1;
	}
	begun.type = t.get;
	if (gt_writer_loss(t.w, GT_SCOPE_PROCESS, t.process, 5000, 6000, 12, &t.err) ||
		gt_writer_anchor(t.w, &(struct gt_anchor){ 1000, 1700000000000000000ll, 2600, 40 },
			&t.err) ||
		gt_writer_open_call(t.w, t.thread[3], &begun, NULL, &t.err) ||
		gt_writer_epoch(t.w, 3000002000ll, &t.err))
		return -1;
	return gt_writer_close(t.w, &t.err);
}

struct sums {
	uint64_t rows[GT_KINDS], time, args, failed, nested;
};

static int add(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct sums *s = arg;
	uint32_t n;

	s->rows[c->kind] += c->n;
	s->failed += c->nret;
	for (uint32_t i = 0; i < c->n; i++) {
		s->time += (uint64_t)c->dur[i];
		s->nested += c->depth && c->depth[i];
	}
	for (uint32_t k = 0; k < c->ntypes; k++)
		for (uint32_t f = 0; f < 2; f++) {
			const uint64_t *v = gt_cols_args(c, k, f, &n);

			for (uint32_t i = 0; v && i < n; i++)
				s->args += v[i];
		}
	return 0;
}

static void version_1_reads_as_ever(void)
{
	char path[4096];
	struct gt_err err = GT_ERR_INIT;
	struct gt_filter all = { .args = true };
	struct sums s = { 0 };
	const struct gt_segment *seg;
	struct gt_reader *r;

	snprintf(path, sizeof(path), "%s/tests/golden/v1.zst", getenv("SRC") ? getenv("SRC") : ".");
	CHECK((r = gt_reader_open(path, &err)));
	seg = gt_reader_segment(r, 0);
	CHECK(seg->closed && seg->simulated && !strcmp(seg->host, "host") && seg->ntracks == 6 &&
		seg->nanchors == 1 && seg->anchors[0].ticks == 2600);
	CHECK(!strcmp(gt_type_name(seg, 1), "cuLaunchKernel") && seg->types[1].op == GT_OP_LAUNCH &&
		seg->types[2].nfields == 2);
	CHECK(!gt_scan(r, &all, GT_ANY_ORDER, 1, add, &s, &err));
	CHECK(s.rows[GT_CALL] == 6000 && s.rows[GT_GPU] == 600 && s.rows[GT_OPEN] == 1 &&
		s.rows[GT_LOST] == 1 && s.nested == 3000 && s.failed == 90);
	CHECK(s.time == 4192376964ull && s.args == 4612359373ull);
	gt_reader_close(r);
}

int main(void)
{
	static const struct t_case cases[] = { T(version_1_reads_as_ever) };
	const char *path = getenv("GOLDEN_WRITE");

	return path ? make(path) != 0 : t_main(__FILE__, cases, 1);
}
