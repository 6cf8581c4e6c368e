/* What the viewer shows of call stacks and samples: flame graphs by call stack, samples as ticks,
 * the search for a stack, and long stacks in the details. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/unit/analyze/idle/host_program.h"
#include "tests/unit/viewer/view_stage.h"
#include "viewer/app/ui.h"

static void open_host(struct stage *st, bool samples, bool waits, unsigned width)
{
	struct host_program h = { .p = { .fd = -1 } };

	host_begin(&h, samples, waits);
	host_gap(&h, samples, waits);
	CHECK(!gt_writer_close(h.p.w, &h.p.err));
	stage_open(st, h.p.fd, width, 24);
}

static void flame_graphs_by_stack(void)
{
	struct stage st;

	open_host(&st, true, true, 120);
	CHECK(play(&st, ": 'view flame-idle' Enter"));
	CHECK(on_screen(&st, "idle time of GPUs") && on_screen(&st, "load (app/data.py:12)") &&
		on_screen(&st, "[waiting for input"));
	CHECK(on_screen(&st, "10.00 us: ") && on_screen(&st, "by 5 samples in gaps"));
	CHECK(play(&st, "j j j") && on_screen(&st, "main (100)"));
	CHECK(play(&st, ": 'view flame-host' Enter") && on_screen(&st, "host's time") &&
		on_screen(&st, "at::gemm<float> (libtorch.so)") && on_screen(&st, "[gil]"));
	/* the next kind, and back */
	CHECK(play(&st, "b b") && on_screen(&st, "kernel time by stack") && on_screen(&st, "add"));
	CHECK(play(&st, "B") && on_screen(&st, "idle time of GPUs"));
	strike(&st);
}

static void narrow_and_without_samples(void)
{
	struct stage st;

	open_host(&st, true, true, 40);
	st.screen.mono = true;
	CHECK(play(&st, ": 'view flame-idle' Enter") && on_screen(&st, "load (app/data"));
	strike(&st);
	open_host(&st, false, false, 100);
	CHECK(play(&st, ": 'view flame-host' Enter") &&
		on_screen(&st, "no samples were recorded (gtcollect -e samples,sched)"));
	CHECK(play(&st, ": 'view flame-memory' Enter") && on_screen(&st, "memory"));
	strike(&st);
}

static void samples_are_ticks(void)
{
	struct stage st;
	int y;

	open_host(&st, true, true, 120);
	CHECK(play(&st, "Z r") && on_screen(&st, "    samples"));
	y = line_of(&st, "    samples");
	/* 8 of the main thread, each in a cell of its own */
	CHECK(strstr(line(&st, y), "    8\xe2\x94\x82\xe2\x95\xbb") &&
		strstr(line(&st, y), " \xe2\x95\xbb "));
	/* the third one: its stack */
	CHECK(play(&st, "< j j j j j j g '3us' Enter Tab Enter i"));
	CHECK(on_screen(&st, "sampled in") && on_screen(&st, "load (app/data.py:12)") &&
		on_screen(&st, "main (app/train.py:9)"));
	/* between marks: number, and lines */
	CHECK(play(&st, "i Esc Esc g '0us' Enter m g '8us' Enter m"));
	CHECK(on_screen(&st, "samples: ") && on_screen(&st, "step (app/train.py:88)"));
	strike(&st);
	/* several in a cell: their density; without colours and narrow */
	open_host(&st, true, true, 40);
	st.screen.mono = st.screen.ascii = true;
	CHECK(play(&st, "Z r") && on_screen(&st, "samples"));
	strike(&st);
}

static void other_events_of_a_stack(void)
{
	struct stage st;
	struct stack_program p = { .fd = -1 };

	stack_program_begin_at(&p, memfd_create("trace", 0));
	stack_program_rows(&p);
	CHECK(!gt_writer_close(p.w, &p.err));
	stage_open(&st, p.fd, 120, 24);
	/* a call of step: there are three; of a search for all, n goes on and N back */
	CHECK(play(&st, "Z r < j j j j Home Tab f") &&
		on_screen(&st, "stack of step (app/train.py:88)  3 events"));
	CHECK(play(&st, "n") && play(&st, "n") &&
		on_screen(&st, "search continued from the start"));
	CHECK(play(&st, "N") && on_screen(&st, "search continued from the end"));
	CHECK(play(&st, "Esc Esc Esc") && line_of(&st, "stack of") < 0);
	/* kernels: by the stack that launched them */
	CHECK(play(&st, "/ 'mul' Enter") && play(&st, "f") &&
		on_screen(&st, "stack of step (app/train.py:88)  3 events"));
	strike(&st);
}

static void events_without_a_stack(void)
{
	struct stage st;
	struct stack_program p = { .fd = -1, .without_stacks = true };

	stack_program_begin_at(&p, memfd_create("trace", 0));
	stack_row(&p, GT_CALL, p.thread[0], p.plain, 50, 54, 0, NULL);
	CHECK(!gt_writer_close(p.w, &p.err));
	stage_open(&st, p.fd, 100, 24);
	CHECK(play(&st, "Z r < j j j Home f") && on_screen(&st, "this event has no call stack"));
	strike(&st);
}

/* A stack of 1000 frames is shown a page at a time. */
static void deep_stacks_scroll(void)
{
	struct stage st;
	struct stack_program p = { .fd = -1 };
	uint32_t frames[1000];
	char text[40];

	stack_program_begin_at(&p, memfd_create("trace", 0));
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "recurse%u (deep.py:7)", i);
		frames[i] = gt_writer_string(p.w, text);
	}
	p.stack[BY_STEP] = gt_writer_stack(p.w, frames, 1000);
	stack_launch(&p, BY_STEP, 0, 1000, 10, 1100, 100);
	CHECK(!gt_writer_close(p.w, &p.err));
	stage_open(&st, p.fd, 40, 40);
	CHECK(play(&st, "Z r < j Home Tab Enter i") && on_screen(&st, "recurse999") &&
		on_screen(&st, "more: p"));
	for (int i = 0; i < 1000 && line_of(&st, "recurse0 ") < 0; i++)
		CHECK(play(&st, "p"));
	CHECK(on_screen(&st, "recurse0 ") && line_of(&st, "recurse999") < 0);
	CHECK(play(&st, "P P P") && line_of(&st, "recurse0 ") < 0);
	CHECK(play(&st, ": 'view flame-kernel' Enter j j PgDn") && on_screen(&st, "recurse"));
	strike(&st);
}

T_MAIN(T(flame_graphs_by_stack), T(narrow_and_without_samples), T(samples_are_ticks),
	T(other_events_of_a_stack), T(events_without_a_stack), T(deep_stacks_scroll))
