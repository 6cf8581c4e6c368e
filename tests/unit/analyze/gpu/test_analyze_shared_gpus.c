/* One GPU that several processes use: if their devices have one UUID, their work is merged.
 * Compared with a count by cells of 1 ns. */
#define _GNU_SOURCE
#include <stdio.h>
#include "analyze/core/report.h"
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const char *const reports[] = { "gpu", "streams", "budget", "gaps", "overlap", NULL };

/* Processes 100, 101 ... with a device of one stream each. */
struct shared {
	struct gpus g;
	uint32_t stream[4];
};

static void shared_begin(struct shared *s, int n, const char *meta)
{
	gpus_begin_tracks(&s->g, meta, 0);
	for (int i = 0; i < n; i++) {
		uint32_t process = i
			? gpus_track(&s->g, GT_NONE, "other", GT_TRACK_PROCESS, 100 + i)
			: s->g.process;

		s->stream[i] =
			gpus_track(&s->g, gpus_track(&s->g, process, NULL, GT_TRACK_DEVICE, i % 2),
				NULL, GT_TRACK_STREAM, 7);
	}
}

static void two_known(struct shared *s, const char *meta)
{
	shared_begin(s, 2, meta);
	gpus_plain(&s->g, 0, s->stream[0], 100, 200);
	gpus_plain(&s->g, 0, s->stream[1], 150, 300);
	gpus_plain(&s->g, 1, s->stream[0], 400, 500);
}

static const char one_gpu[] = "{\"gpu_uuids.100.0\":\"aa\",\"gpu_uuids.101.1\":\"aa\"}";

static void one_gpu_is_one(void)
{
	struct shared s;
	json_t *j;

	two_known(&s, one_gpu);
	j = report(gpus_end(&s.g), reports, &plain);
	CHECK(rows(j, "gpu") == 1 && num(row(j, "gpu", 0), "kernels") == 3 &&
		num(row(j, "gpu", 0), "busy_ns") == 300);
	CHECK(noted(j, "gpu",
		"GPU 0 of process 100 and GPU 1 of process 101 are the same GPU: one row has the work of all"));
	CHECK(rows(j, "streams") == 3 && num(row(j, "streams", 1), "device") == 0 &&
		num(row(j, "streams", 2), "device") == 1);
	CHECK_EQ(num(row(j, "streams", 2), "pid"), 101);
	CHECK(rows(j, "budget_gpus") == 1 && num(row(j, "budget_gpus", 0), "compute_ns") == 300);
	CHECK_EQ(num(row(j, "budget_gpus", 0), "idle_ns"), 100);
	CHECK(rows(j, "longest_gaps") == 1 && num(row(j, "longest_gaps", 0), "duration_ns") == 100);
	CHECK(rows(j, "overlap_kernels") == 1 &&
		num(row(j, "overlap_kernels", 0), "several_ns") == 50);
	CHECK(noted(j, "gaps", "are the same GPU: one row") &&
		noted(j, "budget_gpus", "are the same GPU: one row") &&
		noted(j, "overlap", "are the same GPU: one row"));
	json_decref(j);
}

static void unknown_ones_stay_apart(void)
{
	static const char *const metas[] = {
		"{}", "{\"gpu_uuids.100.0\":\"aa\"}",
		"{\"gpu_uuids.100.0\":\"aa\",\"gpu_uuids.101.1\":\"ab\"}",
		"{\"gpu_uuids.100.0\":\"aa\",\"gpu_uuids.101.0\":\"aa\",\"gpu_uuids.101.1x\":\"aa\"}"
	};

	for (int i = 0; i < 4; i++) {
		struct shared s;
		json_t *j;

		two_known(&s, metas[i]);
		j = report(gpus_end(&s.g), reports, &plain);
		CHECK(rows(j, "gpu") == 2 && rows(j, "budget_gpus") == 2 &&
			!noted(j, "gpu", "one row"));
		json_decref(j);
	}
}

/* Two recordings are not merged, because there is no common order of events. */
static void recordings_stay_apart(void)
{
	struct shared s;
	struct gt_err err = { .offset = GT_NO_OFFSET };
	int fd = memfd_create("both", 0);
	json_t *j;

	two_known(&s, "{\"gpu_uuids.100.0\":\"aa\",\"gpu_uuids.101.1\":\"ab\"}");
	CHECK(gpus_end_into(&s.g, fd));
	two_known(&s, "{\"gpu_uuids.100.0\":\"aa\",\"gpu_uuids.101.1\":\"aa\"}");
	CHECK(gpus_end_into(&s.g, fd));
	j = report(gt_reader_open_fd(fd, &err), reports, &plain);
	CHECK(rows(j, "gpu") == 3 &&
		noted(j, "gpu",
			"GPU 0 of recording 0 and GPU 0 of recording 1 are the same GPU: it counts as two"));
	CHECK(noted(j, "gpu",
		"recording 1: GPU 0 of process 100 and GPU 1 of process 101 are the same GPU: one row"));
	json_decref(j);
}

/* Idle time is divided by the calls of the process that launches next, however long ago the
 * other process launched; the gap before its first operation is its start. A call of 30 ns launches
 * 20 ns before each kernel, and returns 10 ns after the kernel's start; so 60 of 80 ns between
 * kernels are outside CUDA. */
static void causes_are_those_of_who_launches(void)
{
	enum { ROUNDS = 300000 };
	static const char *const keys[] = { "outside", "call", "starting", "idle" };
	double want[4] = { 0 };
	struct shared s;
	uint32_t other;
	json_t *j;

	gpus_begin(&s.g,
		"{\"events\":\"api,gpu\",\"gpu_uuids.100.0\":\"aa\",\"gpu_uuids.200.0\":\"aa\"}");
	other = gpus_track(&s.g, GT_NONE, "other", GT_TRACK_PROCESS, 200);
	s.g.thread[1] = gpus_track(&s.g, other, NULL, GT_TRACK_THREAD, 200);
	s.stream[1] = gpus_track(
		&s.g, gpus_track(&s.g, other, NULL, GT_TRACK_DEVICE, 0), NULL, GT_TRACK_STREAM, 7);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t at = 1000 + 100 * i;
		int who = i > ROUNDS / 2 && i % 2;
		struct gt_gpu_work w = gpus_work(who ? s.stream[1] : s.g.stream[0][0], at, at + 20);

		gpus_launched(&s.g, &w, who, at - 20, 30, GT_JOIN_CORRELATION);
		gpus_kernel(&s.g, 0, &w);
		if (i == ROUNDS / 2 + 1)
			want[2] += 80;
		else if (i)
			want[0] += 60, want[1] += 20;
		want[3] += i ? 80 : 0;
		if (gt_writer_epoch_is_due(s.g.w, at))
			gt_writer_epoch(s.g.w, at, &s.g.err);
	}
	j = report(gpus_end(&s.g), (const char *[]){ "budget", NULL }, &plain);
	CHECK(want[2] == 80);
	for (int i = 0; i < 4; i++)
		CHECK(num(row_named(j, "budget", "key", keys[i]), "total_ns") == want[i]);
	CHECK_EQ(rows(j, "budget_gpus"), 1);
	json_decref(j);
}

#define SPAN 600
static void unions_equal_brute_force(void)
{
	unsigned long long seed = 7;

	for (int round = 0; round < 50; round++) {
		char meta[256], cell[2][SPAN] = { { 0 } };
		uint64_t busy[2] = { 0 }, told[2] = { 0 };
		struct shared s;
		int gpu[4];
		json_t *j;

		for (int i = 0; i < 4; i++)
			gpu[i] = i < 2 ? i : (int)((seed >> (30 + i)) & 1);
		snprintf(meta, sizeof(meta),
			"{\"gpu_uuids.100.0\":\"%d\",\"gpu_uuids.101.1\":\"%d\",\"gpu_uuids.102.0\":\"%d\","
			"\"gpu_uuids.103.1\":\"%d\"}",
			gpu[0], gpu[1], gpu[2], gpu[3]);
		shared_begin(&s, 4, meta);
		for (int i = 0; i < 40; i++) {
			unsigned draw = (unsigned)((seed = seed * 6364136223846793005ull +
								   1442695040888963407ull) >>
				33);
			int who = i < 4 ? i : (int)(draw % 4), at = (int)(draw >> 2) % 500,
			    ns = (int)(draw >> 12) % 60;

			gpus_plain(&s.g, (int)(draw & 1), s.stream[who], at, at + ns);
			memset(&cell[gpu[who]][at], 1, (size_t)ns);
		}
		for (int k = 0; k < SPAN; k++)
			busy[0] += cell[0][k] ? 1u : 0, busy[1] += cell[1][k] ? 1u : 0;
		j = report(gpus_end(&s.g), reports, &plain);
		/* and all */
		CHECK(rows(j, "gpu") == 2 && rows(j, "budget_gpus") == 2 &&
			rows(j, "overlap_kernels") == 3);
		for (unsigned i = 0; i < 2; i++) {
			told[i] = (uint64_t)num(row(j, "gpu", i), "busy_ns");
			CHECK(num(row(j, "budget_gpus", i), "compute_ns") == (double)told[i]);
			CHECK(num(row(j, "overlap_kernels", i), "kernels_ns") == (double)told[i]);
		}
		CHECK(told[0] == busy[0] && told[1] == busy[1]);
		json_decref(j);
	}
}

T_MAIN(T(one_gpu_is_one), T(unknown_ones_stay_apart), T(recordings_stay_apart),
	T(causes_are_those_of_who_launches), T(unions_equal_brute_force))
