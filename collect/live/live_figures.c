#define _GNU_SOURCE
#include "collect/live/live_figures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"
#include "formats/text/printable.h"

static void add_function(struct gt_live_figures *f, const struct gt_event *ev, uint64_t ns)
{
	struct gt_live_function new = { .type = ev->row.type };
	uint32_t i = gt_map_find_item(&f->map, f->functions, sizeof(new), &new, sizeof(new.type));

	if (i == UINT32_MAX)
		i = gt_map_add_item(&f->map, &f->functions, &f->n, &f->cap, sizeof(new), &new,
			sizeof(new.type));
	if (i == UINT32_MAX)
		return;
	f->functions[i].count++;
	f->functions[i].ns += ns;
}

static struct gt_live_gpu *gpu_of(struct gt_live_figures *f, int64_t id)
{
	for (unsigned i = 0; i < f->ngpus; i++)
		if (f->gpus[i].id == id)
			return &f->gpus[i];
	if (f->ngpus == GT_LIVE_GPUS)
		return NULL;
	f->gpus[f->ngpus] = (struct gt_live_gpu){ .id = id, .until = f->from };
	return &f->gpus[f->ngpus++];
}

/* The part of the operation in which the GPU is not busy already. */
static void add_gpu_work(struct gt_live_figures *f, const struct gt_event *ev)
{
	uint32_t device = gt_track_device(ev->seg, ev->track);
	struct gt_live_gpu *gpu = gpu_of(f, device == GT_NONE ? 0 : ev->seg->tracks[device].id);
	int64_t from = ev->row.start;

	if (!gpu || ev->row.end <= gpu->until)
		return;
	from = from < gpu->until ? gpu->until : from;
	gpu->busy += (uint64_t)(ev->row.end - from);
	gpu->until = ev->row.end;
}

static void add_call(
	struct gt_live_figures *f, const struct gt_event *ev, const struct gt_type *t, uint64_t ns)
{
	if (t->category == GT_CAT_IOCTL) {
		f->ioctls++;
		f->ioctl_ns += ns;
		return;
	}
	f->calls++;
	f->failed += ev->row.ret != 0;
	f->sync_ns += t->category == GT_CAT_SYNC ? ns : 0;
	add_function(f, ev, ns);
}

bool gt_live_figures_add(struct gt_live_figures *f, const struct gt_event *ev)
{
	uint64_t ns = (uint64_t)(ev->row.end - ev->row.start);
	const struct gt_type *t =
		ev->kind == GT_LOST || ev->kind == GT_OPEN ? NULL : &ev->seg->types[ev->row.type];

	if (ev->kind == GT_LOST)
		f->lost += ev->args[0] == GT_LOST_UNKNOWN ? 1 : ev->args[0];
	if (!t)
		return ev->kind == GT_LOST;
	f->from = f->from ? f->from : ev->row.start;
	if (ev->kind == GT_CALL)
		add_call(f, ev, t, ns);
	else if (ev->kind == GT_GPU)
		add_gpu_work(f, ev);
	else if (t->op == GT_OP_OFF_CPU) {
		f->has_scheduling = true;
		f->off_cpu_ns += ns;
	} else
		return false;
	return true;
}

/* ---- output ---- */

static int by_count(const void *pa, const void *pb)
{
	const struct gt_live_function *x = pa, *y = pb;

	return GT_COMPARE(y->count, x->count) ?: strcmp(x->name, y->name);
}

/* ", ioctls 12/s, ..." : what a line and a screen share. */
static void print_rest(const struct gt_live_figures *f, FILE *to, double s, const char *separator)
{
	if (f->ioctls)
		fprintf(to, "%sioctls %.0f/s, %.2f ms", separator, (double)f->ioctls / s,
			(double)f->ioctl_ns / 1e6);
	for (unsigned i = 0; i < f->ngpus; i++)
		fprintf(to, "%sGPU %" PRId64 " busy %.1f %%", separator, f->gpus[i].id,
			(double)f->gpus[i].busy / s / 1e7);
	fprintf(to, "%sin synchronizing calls %.2f ms", separator, (double)f->sync_ns / 1e6);
	if (f->has_scheduling)
		fprintf(to, "%soff the processor %.2f ms", separator, (double)f->off_cpu_ns / 1e6);
	if (f->failed)
		fprintf(to, "%s%" PRIu64 " failed", separator, f->failed);
	fprintf(to, "%s%" PRIu64 " lost", separator, f->lost);
}

static void print_line(const struct gt_live_figures *f, FILE *to, unsigned top, double s)
{
	for (size_t i = 0; i < f->n && i < top; i++) {
		fputs(i ? ", " : " (", to);
		gt_printable_write(to, f->functions[i].name);
		fprintf(to, " %.0f/s", (double)f->functions[i].count / s);
	}
	fputs(f->n ? ")" : "", to);
	print_rest(f, to, s, ", ");
	fputc('\n', to);
}

static void print_screen(const struct gt_live_figures *f, FILE *to, unsigned top, double s)
{
	fprintf(to, "\n\n%12s %10s %12s  %s\n", "Calls/s", "Time %", "Mean us", "Function");
	for (size_t i = 0; i < f->n && i < top; i++) {
		const struct gt_live_function *one = &f->functions[i];

		fprintf(to, "%12.0f %10.2f %12.3f  ", (double)one->count / s,
			(double)one->ns / s / 1e7, (double)one->ns / (double)one->count / 1e3);
		gt_printable_write(to, one->name);
		fputc('\n', to);
	}
	print_rest(f, to, s, "\n  ");
	fputc('\n', to);
}

bool gt_live_figures_print(struct gt_live_figures *f, const struct gt_segment *seg, FILE *to,
	bool terminal, unsigned top, int64_t start)
{
	double s;

	f->to = seg->closed ? seg->max_end : seg->complete_to;
	if (f->to <= f->from)
		return false;
	s = (double)(f->to - f->from) / 1e9;
	for (size_t i = 0; i < f->n; i++)
		f->functions[i].name = gt_type_name(seg, (uint32_t)f->functions[i].type);
	GT_SORT(f->functions, f->n, by_count);
	fprintf(to, "%sgtcollect: %.1f s: %.0f calls/s", terminal ? "\033[H\033[J" : "",
		(double)(f->to - start) / 1e9, (double)f->calls / s);
	(terminal ? print_screen : print_line)(f, to, top, s);
	fflush(to);
	return true;
}

void gt_live_figures_next(struct gt_live_figures *f)
{
	gt_map_release(&f->map);
	f->n = 0;
	f->calls = f->ioctls = f->ioctl_ns = f->sync_ns = f->off_cpu_ns = f->failed = 0;
	for (unsigned i = 0; i < f->ngpus; i++)
		f->gpus[i].busy = 0;
	f->from = f->to;
}

void gt_live_figures_release(struct gt_live_figures *f)
{
	gt_map_release(&f->map);
	free(f->functions);
	f->functions = NULL;
}
