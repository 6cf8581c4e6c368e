/* Events while streams capture, and when contexts end, as CUDA's documentation has it
 * (cuThreadExchangeStreamCaptureMode, cuStreamIsCapturing); not yet asked of a real driver. */
#include "tests/unit/samples/on_sim.h"
#include <pthread.h>
#include <stdbool.h>

CUresult cuThreadExchangeStreamCaptureMode(int *mode);
CUresult cuStreamIsCapturing(CUstream s, int *status);
CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice dev);
CUresult cuCtxDestroy_v2(CUcontext ctx);

enum { GLOBAL, THREAD_LOCAL, RELAXED };
static CUcontext primary;

static CUevent over(void)
{
	CUevent e;

	OK(cuEventCreate(&e, 0));
	OK(cuEventRecord(e, NULL));
	OK(cuCtxSynchronize());
	return e;
}

static void *ask(void *arg)
{
	CUevent *e = arg;
	CUresult rc = cuCtxSetCurrent(primary);

	return (void *)(intptr_t)(rc ? rc : cuEventQuery(*e));
}

/* Ends the capture and destroys its graph; returns the capture's result. */
static CUresult end(CUstream s)
{
	CUgraph g;
	CUresult rc = cuStreamEndCapture(s, &g);

	if (!rc)
		OK(cuGraphDestroy(g));
	return rc;
}

/* The result for another thread that queries an event while this one captures, and whether the
 * capture survives the query. */
static CUresult ask_elsewhere(CUevent e, int mode, bool *survives)
{
	CUstream s;
	pthread_t t;
	void *rc;

	OK(cuStreamCreate(&s, 1));
	OK(cuStreamBeginCapture_v2(s, mode));
	pthread_create(&t, NULL, ask, &e);
	pthread_join(t, &rc);
	*survives = !end(s);
	OK(cuStreamDestroy_v2(s));
	return (CUresult)(intptr_t)rc;
}

static void captures_forbid_asking(void)
{
	CUevent e;
	CUstream s;
	bool survives;
	int relaxed = RELAXED;

	sim_start();
	CHECK(!cuCtxGetCurrent(&primary));
	e = over();
	CHECK(ask_elsewhere(e, GLOBAL, &survives) == 900 && !survives);
	CHECK(!ask_elsewhere(e, THREAD_LOCAL, &survives) && survives);
	CHECK(!ask_elsewhere(e, RELAXED, &survives) && survives);
	CHECK(!cuStreamCreate(&s, 1) && !cuStreamBeginCapture_v2(s, THREAD_LOCAL) &&
		cuEventQuery(e) == 900 && end(s) == 901);
	CHECK(!cuStreamBeginCapture_v2(s, GLOBAL) && !cuThreadExchangeStreamCaptureMode(&relaxed) &&
		relaxed == GLOBAL);
	CHECK(!cuEventQuery(e) && !end(s)); /* a relaxed thread may */
	CHECK(!cuThreadExchangeStreamCaptureMode(&relaxed) && !cuEventQuery(e));
}

static void a_query_on_the_legacy_stream_spoils_no_capture(void)
{
	CUstream blocking, other;
	CUevent e;
	int status;

	sim_start();
	e = over();
	CHECK(!cuStreamCreate(&blocking, 0) && !cuStreamCreate(&other, 1));
	CHECK(!cuStreamBeginCapture_v2(blocking, GLOBAL));
	CHECK(cuStreamIsCapturing(NULL, &status) == 906 &&
		!cuStreamIsCapturing(blocking, &status) && status == 1);
	CHECK(!cuStreamIsCapturing(other, &status) && !status && !cuEventRecord(e, other));
	CHECK(!end(blocking) && !cuStreamIsCapturing(NULL, &status) && !status);
	CHECK(!cuStreamBeginCapture_v2(other, GLOBAL) && !cuStreamIsCapturing(NULL, &status) &&
		!status && !end(other));
	CHECK(!cuStreamBeginCapture_v2(blocking, GLOBAL) && cuEventRecord(e, NULL) == 906 &&
		end(blocking) == 901);
}

static void events_die_with_their_context(void)
{
	CUcontext c;
	CUevent e, ours;
	float ms;

	sim_start();
	ours = over();
	CHECK(!cuCtxCreate_v2(&c, 0, 0));
	e = over();
	/* of another context than the stream */
	CHECK_EQ(cuEventRecord(ours, NULL), 400);
	CHECK(!cuCtxDestroy_v2(c));
	CHECK(cuEventQuery(e) == 400 && cuEventElapsedTime(&ms, ours, e) == 400 &&
		cuEventRecord(e, NULL) == 400);
	CHECK(!cuCtxCreate_v2(&c, 0, 0)); /* in the place of the last one */
	CHECK(cuEventQuery(e) == 400 && !cuCtxDestroy_v2(c) && !cuEventQuery(ours));
}

T_MAIN(T(captures_forbid_asking), T(a_query_on_the_legacy_stream_spoils_no_capture),
	T(events_die_with_their_context))
