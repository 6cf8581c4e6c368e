/* Calls and kernels of PyTorch's backward pass have the stack of their forward operator. */
#define _GNU_SOURCE
#include "formats/names/stack_names.h"
#include "tests/unit/formats/import/kineto_text.h"

#define OP(name, tid, ts, dur, args) X("cpu_op", name, "10", tid, ts, dur, args)
#define FORWARD(n) "\"Sequence number\":" n ",\"Fwd thread id\":0"
#define BACKWARD(n) "\"Fwd thread id\":1,\"Sequence number\":" n
#define LAUNCH(id, tid, ts)                                                                        \
	X("cuda_runtime", "cudaLaunchKernel", "10", tid, ts, "1", "\"correlation\":" id)
#define LINEAR_FORWARD                                                                             \
	OP("aten::linear", "11", "10", "20", FORWARD("5"))                                         \
	"," OP("aten::addmm", "11", "12", "10", FORWARD("5")) "," LAUNCH("1", "11", "14")
#define LINEAR_BACKWARD                                                                            \
	OP("evaluate_function: AddmmBackward0", "12", "100", "50", BACKWARD("5"))                  \
	"," OP("AddmmBackward0", "12", "110", "30", BACKWARD("5")) "," OP(                         \
		"aten::mm", "12", "115", "10", "") "," LAUNCH("2", "12", "120")
#define LINEAR_KERNELS KERNEL("forward", "1", "20", "1") "," KERNEL("backward", "2", "130", "1")

static char text[1000];

/* The stack of the event with this start in ns, the innermost frame first; "": it has none. */
static const char *stack_at(struct gt_reader *r, int64_t start)
{
	struct gt_iter *it = gt_iter_open(r, &(struct gt_filter){ .args = true }, &err);
	struct gt_buf b = { 0 };
	struct gt_event ev;

	while (it && gt_iter_next(it, &ev, &err) > 0)
		for (unsigned i = 0; ev.row.start == start && i < ev.row.nargs; i++)
			if (ev.seg->types[ev.row.type].fields[i].role == GT_R_STACK)
				gt_stack_text(&b, ev.seg, ev.args[i], GT_STACK_FUNCTION);
	gt_iter_close(it);
	gt_buf_byte(&b, 0);
	snprintf(text, sizeof(text), "%s", (const char *)b.data);
	gt_buf_release(&b);
	return text;
}

static struct gt_reader *open_text(const char *json) { return open_bytes(json, strlen(json)); }

#define STACK "[backward of aten::addmm] < aten::addmm < aten::linear"

static void calls_and_kernels_are_linked(void)
{
	struct gt_reader *r = open_text(HEAD LINEAR_FORWARD "," LINEAR_BACKWARD "," LAUNCH(
		"3", "12", "160") "," LINEAR_KERNELS "," KERNEL("after", "3", "170", "1") "]}");

	CHECK_STR(stack_at(r, 120000), STACK);
	CHECK_STR(stack_at(r, 130000), STACK);
	CHECK_STR(stack_at(r, 14000), "");
	CHECK_STR(stack_at(r, 20000), "");
	CHECK_STR(stack_at(r, 160000), "");
	CHECK_STR(stack_at(r, 170000), "");
	CHECK(strstr(list(r), "backward 130000+1000 d0 r0 correlation=2 ") &&
		strstr((char *)listing.data, "launch_start=120000"));
	CHECK(meta_says("\"backward_calls\":1,\"backward_calls_without_forward\":0,") &&
		meta_says("\"gpu_kernels\":3,") && meta_says("\"gpu_joined_exact\":3,"));
}

/* The order in the file does not matter, as long as an operator with a number comes before GPU
 * work. */
static void events_in_any_order(void)
{
	struct gt_reader *r =
		open_text(HEAD LINEAR_BACKWARD "," LINEAR_KERNELS "," LINEAR_FORWARD "]}");

	CHECK_STR(stack_at(r, 120000), STACK);
	CHECK_STR(stack_at(r, 130000), STACK);
	CHECK_STR(stack_at(r, 20000), "");
	gt_reader_close(r);
}

static void python_functions_are_frames(void)
{
	struct gt_reader *r = open_text(HEAD LINEAR_FORWARD "," LINEAR_BACKWARD "," X(
		"python_function", "app/train.py(12): step", "10", "11", "1", "99",
		"\"Python id\":1") "," X("python_function", "nn.Module: Linear_0", "10", "11", "2",
		"90", "\"Python id\":2") "," X("user_annotation", "ProfilerStep#3", "10", "11", "0",
		"200", "") "," LINEAR_KERNELS "]}");
	const struct gt_segment *seg = gt_reader_segment(r, 0);

	CHECK_STR(stack_at(r, 130000), STACK " < nn.Module: Linear_0 < step (app/train.py)");
	CHECK(seg->nstacks == 1);
	for (uint32_t i = 0; seg->nstacks == 1 && i < seg->stacks[0].n; i++) {
		const struct gt_frame *f = gt_segment_frame(seg, seg->stacks[0].frames[i]);

		CHECK((f && f->kind == GT_FRAME_PYTHON) == (i == 0));
		CHECK((f && f->kind == GT_FRAME_MARK) == (i == 4));
		if (i == 0 && f)
			CHECK(f->line == 12 && !strcmp(gt_str(seg, f->function), "step") &&
				!strcmp(gt_str(seg, f->file), "app/train.py"));
	}
	gt_reader_close(r);
}

/* The window began after the forward operator, or two threads have used its number, or it is of
 * another process, or later than the call: no link. */
static void unknown_forward_operators(void)
{
	static const char *const before[] = { "",
		LINEAR_FORWARD "," OP("aten::mul", "13", "40", "1", FORWARD("5")) ",",
		X("cpu_op", "aten::addmm", "20", "11", "12", "10", FORWARD("5")) ",",
		OP("aten::addmm", "11", "300", "10", FORWARD("5")) ",",
		OP("aten::addmm", "11", "12", "10", FORWARD("65541")) "," };

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		char json[4000];
		struct gt_reader *r;

		snprintf(json, sizeof(json), HEAD "%s" LINEAR_BACKWARD "," LINEAR_KERNELS "]}",
			before[i]);
		r = open_text(json);
		CHECK_STR(stack_at(r, 120000), "");
		CHECK_STR(stack_at(r, 130000), "");
		gt_reader_close(r);
		CHECK(meta_says("\"backward_calls\":1,\"backward_calls_without_forward\":1,"));
	}
}

/* Operators of the backward pass without a number (AccumulateGrad has the largest one). */
static void operators_without_number(void)
{
	struct gt_reader *r = open_text(HEAD LINEAR_FORWARD "," OP("AccumulateGrad", "12", "100",
		"50",
		"\"Fwd thread id\":1,\"Sequence number\":18446744073709551615") "," LAUNCH("2",
		"12", "120") "," LINEAR_KERNELS "]}");

	CHECK_STR(stack_at(r, 120000), "");
	CHECK_STR(stack_at(r, 130000), "");
	CHECK(!strstr(gt_reader_segment(r, 0)->meta_json, "backward_calls"));
	gt_reader_close(r);
}

#define ARROW(ph, id, pid, tid, ts)                                                                \
	"{\"ph\":\"" ph "\",\"id\":" id ",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts              \
	",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"bp\":\"e\"}"
#define PLAIN_FORWARD                                                                              \
	OP("aten::linear", "11", "10", "20", "")                                                   \
	"," OP("aten::addmm", "11", "12", "10", "")
#define PLAIN_BACKWARD                                                                             \
	OP("evaluate_function: AddmmBackward0", "12", "100", "50", "")                             \
	"," OP("AddmmBackward0", "12", "110", "30", "") "," OP(                                    \
		"aten::mm", "12", "115", "10", "") "," LAUNCH("2", "12", "120")
#define ARROWS ARROW("s", "3", "10", "11", "12") "," ARROW("f", "3", "10", "12", "100")

/* The file has arrows, but no sequence numbers. */
static void arrows_alone_link(void)
{
	struct gt_reader *r = open_text(HEAD PLAIN_FORWARD "," PLAIN_BACKWARD "," ARROWS "," LAUNCH(
		"3", "12", "160") "," LINEAR_KERNELS "," KERNEL("after", "3", "170", "1") "]}");

	CHECK_STR(stack_at(r, 120000), STACK);
	CHECK_STR(stack_at(r, 130000), STACK);
	CHECK_STR(stack_at(r, 160000), "");
	CHECK_STR(stack_at(r, 170000), "");
	gt_reader_close(r);
	CHECK(meta_says("\"backward_calls\":1,\"backward_calls_without_forward\":0,"));
	/* before its operators, too */
	r = open_text(HEAD ARROWS "," PLAIN_BACKWARD "," PLAIN_FORWARD "," LINEAR_KERNELS "]}");
	CHECK_STR(stack_at(r, 120000), STACK);
	CHECK_STR(stack_at(r, 130000), STACK);
	gt_reader_close(r);
}

/* The arrow leads to the inner operator. The one that evaluates it has further calls. */
static void arrows_to_the_inner_operator(void)
{
	struct gt_reader *r = open_text(HEAD PLAIN_FORWARD "," PLAIN_BACKWARD "," ARROW(
		"s", "3", "10", "11", "12") "," ARROW("f", "3", "10", "12", "110") "," LAUNCH("3",
		"12", "145") "," LAUNCH("4", "12", "105") "," LINEAR_KERNELS "]}");

	CHECK_STR(stack_at(r, 120000), STACK);
	CHECK_STR(stack_at(r, 145000), STACK);
	CHECK_STR(stack_at(r, 105000), ""); /* the arrow is later */
	gt_reader_close(r);
}

/* Both agree: nothing changes. Where two threads have used a number, the arrow decides. */
static void arrows_and_numbers(void)
{
	struct gt_reader *r = open_text(
		HEAD LINEAR_FORWARD "," LINEAR_BACKWARD "," ARROWS "," LINEAR_KERNELS "]}");

	CHECK_STR(stack_at(r, 120000), STACK);
	CHECK_STR(stack_at(r, 130000), STACK);
	gt_reader_close(r);
	r = open_text(HEAD LINEAR_FORWARD "," OP("aten::mul", "13", "40", "1",
		FORWARD("5")) "," LINEAR_BACKWARD "," ARROWS "," LINEAR_KERNELS "]}");
	CHECK_STR(stack_at(r, 120000), STACK);
	gt_reader_close(r);
	CHECK(meta_says("\"backward_calls\":1,\"backward_calls_without_forward\":0,"));
}

/* No operator starts at an end of the arrow, the other end is missing, is of another arrow or
 * process, or points backward in time. */
static void arrows_that_link_nothing(void)
{
	static const char *const arrows[] = {
		ARROW("s", "3", "10", "11", "11") "," ARROW("f", "3", "10", "12", "100"),
		ARROW("s", "3", "10", "11", "12") "," ARROW("f", "3", "10", "12", "101"),
		ARROW("s", "3", "10", "11", "12"),
		ARROW("f", "3", "10", "12", "100"),
		ARROW("s", "3", "10", "11", "12") "," ARROW("f", "4", "10", "12", "100"),
		ARROW("s", "3", "20", "11", "12") "," ARROW("f", "3", "10", "12", "100"),
		ARROW("f", "3", "10", "11", "12") "," ARROW("s", "3", "10", "12", "100"),
		ARROW("s", "65539", "10", "11", "12") "," ARROW("f", "3", "10", "12", "100"),
	};

	for (size_t i = 0; i < sizeof(arrows) / sizeof(*arrows); i++) {
		char json[4000];
		struct gt_reader *r;

		snprintf(json, sizeof(json),
			HEAD "%s," PLAIN_FORWARD "," PLAIN_BACKWARD "," LINEAR_KERNELS "]}",
			arrows[i]);
		r = open_text(json);
		CHECK_STR(stack_at(r, 120000), "");
		CHECK_STR(stack_at(r, 130000), "");
		gt_reader_close(r);
	}
}

/* Works of one call, and more than are in memory at once. */
static void much_work_keeps_its_calls(void)
{
	enum { CALLS = 3000, EACH = 3 };
	struct gt_buf json = { 0 };
	unsigned linked = 0, kernels = 0;
	struct gt_iter *it;
	struct gt_reader *r;
	struct gt_event ev;

	gt_buf_str(&json, HEAD LINEAR_FORWARD);
	for (unsigned i = 0; i < CALLS; i++)
		gt_buf_printf(&json,
			"," OP("MulBackward0", "12", "%u", "5", BACKWARD("%u")) "," LAUNCH(
				"%u", "12", "%u"),
			1000 + i * 10, i % 2 ? 5 : 7, 1002 + i * 10, i + 10);
	for (unsigned i = CALLS * EACH; i-- > 0;)
		gt_buf_printf(
			&json, "," KERNEL("k", "%u", "%u", "1"), 1004 + i * 10, i / EACH + 10);
	gt_buf_str(&json, "]}");
	r = open_bytes(json.data, json.len);
	it = gt_iter_open(r, &(struct gt_filter){ .args = true }, &err);
	while (it && gt_iter_next(it, &ev, &err) > 0) {
		const struct gt_type *type = &ev.seg->types[ev.row.type];
		bool has = false;

		kernels += ev.kind == GT_GPU;
		for (unsigned i = 0; ev.kind == GT_GPU && i < ev.row.nargs; i++)
			has |= type->fields[i].role == GT_R_STACK;
		linked += has;
		if (ev.kind == GT_GPU)
			CHECK(has == (ev.args[0] % 2 == 1));
	}
	gt_iter_close(it);
	gt_reader_close(r);
	gt_buf_release(&json);
	CHECK_EQ(kernels, CALLS * EACH);
	CHECK_EQ(linked, CALLS * EACH / 2);
}

T_MAIN(T(the_beginning), T(calls_and_kernels_are_linked), T(events_in_any_order),
	T(python_functions_are_frames), T(unknown_forward_operators), T(operators_without_number),
	T(arrows_alone_link), T(arrows_to_the_inner_operator), T(arrows_and_numbers),
	T(arrows_that_link_nothing), T(much_work_keeps_its_calls), T(the_end))
