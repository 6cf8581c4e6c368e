/* Rings with invalid events, and unlimited annotations and GPU work: the recording continues,
 * and events without space are counted. */
#define _GNU_SOURCE
#include "collect/correlate/gpu_correlate.h"
#include "tests/unit/collect/rings.h"

static void event(
	struct pen *p, unsigned id, uint64_t start, uint64_t end, const uint64_t *words, unsigned n)
{
	struct gt_rec head = { .start = start,
		.end = end,
		.id = (uint16_t)id,
		.nargs = (uint8_t)n,
		.kind_depth = GT_REC_EVENT << 5 };

	put(p, &head, words, n * 8);
	publish(p);
}

static uint64_t lost_in(struct gt_reader *reader)
{
	uint64_t n = 0;

	for (unsigned i = 0; reader && i < gt_reader_segments(reader); i++)
		n += gt_reader_segment(reader, i)->rows[GT_LOST];
	return n;
}

static uint64_t tell(struct pen *p, const char *s)
{
	uint64_t hash = gt_ring_hash(s, (uint32_t)strlen(s));

	text(p, GT_REC_STRING, hash, s);
	return hash;
}

/* Each text of its own, as torch's emit_nvtx makes them. */
static void messages_that_are_no_two_alike(void)
{
	static char message[600];
	struct gt_reader *reader;
	struct pen p, late;
	struct gt_ev_annotation v = { 0 };
	int64_t t = past(1000000000);
	bool fine = true;

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	memset(message, 'x', sizeof(message) - 1);
	for (int i = 0; fine && i < 400000; i++) {
		snprintf(message, 32, "aten::mm, seq = %d", i);
		message[strlen(message)] = ',';
		v.text = tell(&p, message);
		event(&p, GT_EV_PUSH, (uint64_t)t, (uint64_t)t, (uint64_t *)&v, sizeof(v) / 8);
		event(&p, GT_EV_POP, (uint64_t)t + 1, (uint64_t)t + 1, (uint64_t[]){ 0, 0 }, 2);
		if (i % 1000 == 0)
			fine = gt_recorder_pass(r, &err) >= 0;
	}
	CHECK(fine && gt_recorder_pass(r, &err) >= 0);
	CHECK(gt_recorder_totals(r)->nameless > 0);
	late = new_thread(1, 0); /* there is space for it */
	call(&late, "cuCtxGetCurrent", t + 10, t + 20);
	CHECK(gt_recorder_pass(r, &err) >= 0);
	reader = end();
	CHECK(reader && gt_reader_segment(reader, 0)->rows[GT_CALL] == 1);
	gt_reader_close(reader);
}

static void streams_without_end(void)
{
	struct gt_reader *reader;
	struct pen p;
	const unsigned fit = 65536 - 2; /* the device and the context have places, too */
	int64_t t = past(100000000);
	bool fine = true;

	with_gpu = true;
	CHECK(begin(GT_ARGS_NONE));
	with_gpu = false;
	p = new_thread(0, 0);
	for (uint64_t i = 0; fine && i < 70000; i++) {
		event(&p, GT_EV_SET, (uint64_t)t, (uint64_t)t + 5,
			(uint64_t[]){ i, i << 32 | 1, 0, 0, 4, 0 }, 6);
		if (i % 1000 == 0)
			fine = gt_recorder_pass(r, &err) >= 0;
	}
	CHECK(fine);
	reader = end();
	CHECK(reader && gt_reader_segment(reader, 0)->rows[GT_GPU] == fit &&
		lost_in(reader) == 70000 - fit);
	gt_reader_close(reader);
}

/* Requests that a program makes up have no names from some number on; the next thread has its
 * track. */
static void ioctls_that_are_no_two_alike(void)
{
	const uint64_t n = 1000000;
	struct gt_reader *reader;
	struct pen p;
	int64_t t = past(900000000);
	bool fine = true;

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	call(&p, "cuInit", t - 20, t - 10);
	for (uint64_t i = 0; fine && i < n; i++) {
		leave(&p, GT_ID_IOCTL, t + (int64_t)i * 10, t + (int64_t)i * 10 + 5, 0,
			(uint64_t[]){ (uint64_t)GT_DEV_CTL << 32, i, 0, 0 }, 4);
		if (i % 10000 == 0)
			fine = gt_recorder_pass(r, &err) >= 0;
	}
	CHECK(fine && gt_recorder_totals(r)->nameless);
	for (uint32_t i = 1; i <= 150; i++) {
		p = new_thread(i, 0);
		call(&p, "cuInit", t, t + 10);
	}
	reader = end();
	CHECK(reader);
	CHECK(gt_reader_segment(reader, 0)->rows[GT_CALL] == n + 151 - lost_in(reader));
	gt_reader_close(reader);
}

static uint64_t random_word(uint64_t *s)
{
	static const uint64_t odd[] = { 0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,
		UINT32_MAX, 1ull << 61, 1ull << 62, 307ull << 32 | 1 };

	*s = *s * 6364136223846793005ull + 1442695040888963407ull;
	return *s >> 60 < 12 ? odd[(*s >> 33) % (sizeof(odd) / sizeof(*odd))] : *s >> 20;
}

/* Only gtcollect itself writes rows of scheduling. */
static void scheduling_in_a_ring_of_a_program(void)
{
	uint64_t v[256] = { 0 };
	struct pen p;

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	event(&p, GT_EV_SCHED, (uint64_t)past(2000), (uint64_t)past(1000), v, 2);
	CHECK(gt_recorder_pass(r, &err) >= 0);
	CHECK(gt_recorder_totals(r)->broken == 1);
	gt_reader_close(end());
}

static void probe(struct pen *p, const struct gt_ev_probe *e, int64_t start, int64_t end)
{
	event(p, GT_EV_PROBE, (uint64_t)start, (uint64_t)end, (const uint64_t *)e, 5u + e->n);
}

/* A hit is a mark, a call or a pair a range; the values are fields of the probe's type. */
static void probes_are_rows(void)
{
	struct gt_ev_probe e = { .n = 3,
		.fields = { GT_PROBE_FIELD(GT_PROBE_SIGNED, 0), GT_PROBE_FIELD(GT_PROBE_TEXT, 1),
			GT_PROBE_FIELD(GT_PROBE_UNSIGNED, GT_PROBE_RETURN) },
		.values = { (uint64_t)-3, 0, 7 } };
	int64_t t = past(1000000);
	struct gt_reader *reader;
	struct pen p;

	CHECK(begin(GT_ARGS_NONE));
	rings.ebpf = true;
	p = new_thread(0, 0);
	e.name = tell(&p, "request");
	e.domain = tell(&p, "server");
	e.values[1] = tell(&p, "abc");
	probe(&p, &e, t, t);
	e.is_range = 1;
	e.field_names = tell(&p, "first,second");
	e.fields[2] = GT_PROBE_FIELD(GT_PROBE_UNSIGNED, GT_PROBE_END + 2);
	probe(&p, &e, t + 10, t + 50);
	CHECK(gt_recorder_pass(r, &err) >= 0);
	CHECK(!gt_recorder_totals(r)->broken);
	e.fields[0] = GT_PROBE_FIELD(GT_PROBE_KINDS, 0); /* damage */
	probe(&p, &e, t + 60, t + 60);
	CHECK(gt_recorder_pass(r, &err) >= 0);
	CHECK(gt_recorder_totals(r)->broken == 1);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK_EQ(rows[0].ev.kind, GT_INSTANT);
	CHECK_STR(rows[0].name, "request");
	CHECK_EQ(rows[0].type->category, GT_CAT_USER);
	CHECK_EQ(rows[0].type->nfields, 4);
	CHECK_STR(gt_str(rows[0].ev.seg, (uint32_t)rows[0].args[0]), "server");
	CHECK_STR(gt_str(rows[0].ev.seg, rows[0].type->fields[1].name), "arg0");
	CHECK_EQ(rows[0].type->fields[1].kind, GT_F_I64);
	CHECK_EQ((int64_t)rows[0].args[1], -3);
	CHECK_STR(gt_str(rows[0].ev.seg, (uint32_t)rows[0].args[2]), "abc");
	CHECK_STR(gt_str(rows[0].ev.seg, rows[0].type->fields[3].name), "return");
	CHECK_EQ(rows[1].ev.kind, GT_SPAN);
	CHECK_EQ(rows[1].ev.row.end - rows[1].ev.row.start, 40);
	CHECK_STR(gt_str(rows[1].ev.seg, rows[1].type->fields[2].name), "second");
	CHECK_STR(gt_str(rows[1].ev.seg, rows[1].type->fields[3].name), "end_arg2");
	gt_reader_close(reader);
}

/* A ring may contain any bytes. */
static void events_that_lie(void)
{
	uint64_t seed = 7, v[256], id;
	struct gt_reader *reader;
	struct pen p[3];
	bool in_ticks;
	int64_t now;

	with_gpu = true;
	CHECK(begin(GT_ARGS_NONE));
	with_gpu = false;
	for (unsigned i = 0; i < 3; i++) {
		p[i] = new_thread(i, 0);
		rings.threads[i].role = i == 2 ? GT_RING_PRODUCER : GT_RING_CALLER;
		tell(&p[i], "known");
	}
	for (unsigned i = 0; i < 60000; i++) {
		for (unsigned k = 0; k < 256; k++)
			v[k] = random_word(&seed);
		if (i % 3)
			v[1] = gt_ring_hash("known", 5);
		id = (random_word(&seed) ^ i) % GT_EV_SCHED;
		now = past(random_word(&seed) % 1000);
		/* of these an impossible time is damage */
		in_ticks = id == GT_EV_GPU_STATE || id >= GT_EV_PUSH;
		/* and so is an impossible number of losses */
		if (id == GT_EV_GPU_LOST || id == GT_EV_UNTIMED)
			v[0] %= 1000;
		event(&p[i % 3], (unsigned)id,
			in_ticks ? (uint64_t)now - v[9] % GT_SECOND : random_word(&seed) | 1,
			in_ticks ? (uint64_t)now - v[10] % GT_SECOND : random_word(&seed), v,
			i % 7 ? 9 : i % 256);
		if (i % 500 == 0)
			CHECK(gt_recorder_pass(r, &err) >= 0);
	}
	CHECK(!gt_recorder_totals(r)->broken);
	reader = end();
	CHECK(reader);
	gt_reader_close(reader);
}

T_MAIN(T(messages_that_are_no_two_alike), T(streams_without_end), T(ioctls_that_are_no_two_alike),
	T(scheduling_in_a_ring_of_a_program), T(probes_are_rows), T(events_that_lie))
