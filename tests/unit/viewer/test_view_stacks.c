/* What the viewer shows of call stacks and samples: flame graphs by call stack. */
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

T_MAIN(T(flame_graphs_by_stack), T(narrow_and_without_samples))
