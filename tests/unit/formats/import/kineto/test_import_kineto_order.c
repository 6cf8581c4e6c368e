/* PyTorch's Chrome JSON with events in any order, because CUPTI delivers its buffers in any
 * order. */
#define _GNU_SOURCE
#include "tests/unit/formats/import/imported.h"

#define CALLS 80000u /* more events than the importer sorts in memory */
#define PIECE 4000u  /* calls in one of CUPTI's buffers */

static struct gt_buf text;

static void begin(void)
{
	gt_buf_clear(&text);
	gt_buf_str(&text, "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"x\"}");
}

static const struct gt_segment *imported(struct gt_reader **r)
{
	gt_buf_str(&text, "]}");
	*r = open_bytes(text.data, text.len);
	if (!*r)
		fprintf(stderr, "%s\n", err.text);
	return *r ? gt_reader_segment(*r, 0) : NULL;
}

static void put_call(const char *name, unsigned id, unsigned tid, unsigned ts, unsigned dur)
{
	gt_buf_printf(&text,
		",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":10,"
		"\"tid\":%u,\"ts\":%u,\"dur\":%u,\"args\":{\"cbid\":211,\"correlation\":%u}}",
		name, tid, ts, dur, id);
}

static void put_kernel(const char *name, unsigned id, unsigned ts)
{
	gt_buf_printf(&text,
		",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,"
		"\"tid\":7,"
		"\"ts\":%u,\"dur\":1,\"args\":{\"device\":0,\"stream\":7,"
		"\"correlation\":%u}}",
		name, ts, id);
}

/* Call i of CALLS in time: every other one is within the one before. */
static void put_ith(uint32_t i)
{
	const char *name = i % 2 ? "cudaFree" : "cudaLaunchKernel";

	put_call(name, i + 1, 11 + i / PIECE % 3, i / 2 * 10 + i % 2, i % 2 ? 3 : 8);
}

/* As put_ith puts them: in order of time, each at its depth, each launch with its kernel's name. */
static void check_calls(struct gt_reader *r, bool names)
{
	struct gt_filter calls = { .kinds = GT_BIT(GT_CALL), .args = true };
	struct gt_iter *it = gt_iter_open(r, &calls, &err);
	uint32_t i = 0;
	struct gt_event ev;

	for (; gt_iter_next(it, &ev, &err) > 0; i++) {
		const char *kernel = i % 2 || !names ? "k" : gt_str(ev.seg, (uint32_t)ev.args[1]);

		if (ev.row.start != (i / 2 * 10 + i % 2) * 1000ll || ev.row.depth != i % 2)
			break;
		if (ev.args[0] != i + 1 || *kernel != 'k')
			break;
	}
	gt_iter_close(it);
	CHECK_EQ(i, CALLS);
}

/* The buffers in another order, and the kernels before or behind all calls. */
static void buffers_in_any_order(void)
{
	for (unsigned behind = 0; behind < 2; behind++) {
		const struct gt_segment *seg;
		struct gt_reader *r;

		begin();
		for (uint32_t i = 0; i < CALLS && !behind; i += 2)
			put_kernel("k", i + 1, i * 10 + 1000000);
		for (uint32_t p = 0; p < CALLS / PIECE; p++)
			for (uint32_t i = 0; i < PIECE; i++)
				put_ith(p * 7 % (CALLS / PIECE) * PIECE + i);
		for (uint32_t i = 0; i < CALLS && behind; i += 2)
			put_kernel("k", i + 1, i * 10 + 1000000);
		seg = imported(&r);
		CHECK(seg && seg->rows[GT_CALL] == CALLS && !seg->rows[GT_SPAN]);
		CHECK(strstr(seg->meta_json, "\"calls_not_nested\":0,"));
		CHECK(strstr(seg->meta_json, "\"gpu_joined_exact\":40000,"));
		check_calls(r, true);
		gt_reader_close(r);
		if (t_failed)
			return;
	}
}

static void backwards(void)
{
	const struct gt_segment *seg;
	struct gt_reader *r;

	begin();
	for (uint32_t i = CALLS; i-- > 0;)
		put_ith(i);
	seg = imported(&r);
	CHECK(seg && seg->rows[GT_CALL] == CALLS && !seg->rows[GT_SPAN]);
	check_calls(r, false);
	gt_reader_close(r);
}

/* However deep they nest. */
static void many_within_one_another(void)
{
	const struct gt_segment *seg;
	struct gt_reader *r;

	begin();
	for (unsigned i = 0; i < 300; i++)
		put_call("cudaFree", i + 1, 11, 1000 + i, 1000 - 2 * i);
	seg = imported(&r);
	CHECK(seg && seg->rows[GT_CALL] == 300 && !seg->rows[GT_SPAN]);
	gt_reader_close(r);
}

static void put_range(const char *cat, const char *name, unsigned ts, unsigned dur)
{
	gt_buf_printf(&text,
		",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":10,\"tid\":11,"
		"\"ts\":%u,\"dur\":%u}",
		cat, name, ts, dur);
}

/* Ranges nest in any order: the inner one first, or one category after the other. */
static void ranges_have_their_depth(void)
{
	struct gt_reader *r;
	const char *got;

	begin();
	put_range("cpu_op", "inner", 30, 5);
	put_range("cpu_op", "other", 40, 5);
	put_range("cpu_op", "outer", 20, 40);
	put_range("cpu_op", "later", 70, 10);
	put_call("cudaFree", 1, 11, 32, 1);
	put_range("python_function", "main", 1, 100);
	put_range("python_function", "f", 41, 1);
	CHECK(imported(&r));
	got = list(r);
	CHECK(strstr(got, "main 1000+100000 d0 ") && strstr(got, "outer 20000+40000 d1 "));
	CHECK(strstr(got, "inner 30000+5000 d2 ") && strstr(got, "other 40000+5000 d2 "));
	CHECK(strstr(got, "f 41000+1000 d3 ") && strstr(got, "later 70000+10000 d1 "));
	CHECK(strstr(got, "C 10/11 cudaFree 32000+1000 d0 "));
}

/* Only an event that begins within a call and ends after it is no call. */
static void overlaps_are_spans(void)
{
	const struct gt_segment *seg;
	struct gt_reader *r;

	begin();
	put_call("cudaLate", 1, 11, 50, 10);
	put_call("cudaOther", 2, 12, 55, 10);
	put_call("cudaInner", 3, 11, 56, 3);
	put_call("cudaOver", 4, 11, 58, 10);
	put_call("cudaBehind", 5, 11, 60, 5);
	put_call("cudaEarly", 6, 11, 40, 10);
	seg = imported(&r);
	CHECK(seg && seg->rows[GT_CALL] == 5 && seg->rows[GT_SPAN] == 1);
	CHECK(strstr(seg->meta_json, "\"calls_not_nested\":1,"));
	CHECK(strstr(list(r), "S 10/11 cudaOver 58000+10000 d0 r0"));
}

static void end(void)
{
	gt_buf_release(&text);
	the_end();
}

T_MAIN(T(the_beginning), T(buffers_in_any_order), T(backwards), T(many_within_one_another),
	T(ranges_have_their_depth), T(overlaps_are_spans), T(end))
