/* Copies that kernels hide, and the time that pinned memory would save: known figures, and
 * random programs compared with a count by cells of 1 ns. */
#define _GNU_SOURCE
#include "analyze/core/report.h"
#include "analyze/core/run.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const char *const copies_only[] = { "copies", NULL };

static void copy_of(struct gpus *g, int stream, int64_t start, int64_t end,
	enum gt_direction direction, enum gt_gpu_memory host, uint64_t bytes)
{
	struct gt_gpu_work w = gpus_work(g->stream[0][stream], start, end);
	bool in = direction == GT_DIR_HTOD;

	gpus_copy(g, &w, direction, in ? host : GT_GPU_MEM_DEVICE, in ? GT_GPU_MEM_DEVICE : host,
		bytes);
}

static void kernels_hide_copies(void)
{
	struct gpus g;
	struct gt_gpu_work set;
	json_t *j;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 100, 200);
	gpus_plain(&g, 1, g.stream[0][0], 150, 250);
	gpus_plain(&g, 1, g.stream[1][0], 0, 1000); /* another device hides nothing */
	copy_of(&g, 1, 50, 130, GT_DIR_HTOD, GT_GPU_MEM_PINNED, 100);  /* 30 hidden */
	copy_of(&g, 0, 120, 220, GT_DIR_HTOD, GT_GPU_MEM_PINNED, 100); /* as one with it: 120 */
	copy_of(&g, 1, 240, 300, GT_DIR_DTOH, GT_GPU_MEM_PINNED, 100); /* 10 */
	set = gpus_work(g.stream[0][1], 260, 280); /* beside a copy: both exposed */
	gpus_set(&g, &set, 10);
	j = report(gpus_end(&g), copies_only, &plain);
	CHECK(rows(j, "copies") == 3 && num(row(j, "copies", 0), "hidden_ns") == 120 &&
		num(row(j, "copies", 0), "exposed_ns") == 50);
	CHECK(num(row(j, "copies", 0), "hidden_percent") == 70.59 &&
		num(row(j, "copies", 0), "busy_ns") == 170);
	CHECK(num(row(j, "copies", 1), "hidden_ns") == 10 &&
		num(row(j, "copies", 1), "exposed_ns") == 50);
	CHECK(num(row(j, "copies", 2), "hidden_ns") == 0 &&
		num(row(j, "copies", 2), "exposed_ns") == 20);
	json_decref(j);
}

static bool only_copies(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->op == GT_OP_COPY;
}

static void no_kernels_no_answer(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 100, 200);
	copy_of(&g, 1, 50, 130, GT_DIR_HTOD, GT_GPU_MEM_PINNED, 100);
	o.filter.match = only_copies;
	j = report(gpus_end(&g), copies_only, &o);
	CHECK(rows(j, "copies") == 1 && absent(row(j, "copies", 0), "hidden_ns") &&
		absent(row(j, "copies", 0), "exposed_ns"));
	CHECK(absent(row(j, "copies", 0), "hidden_percent") &&
		noted(j, "copies", "hidden times are unknown"));
	CHECK(num(row(j, "copies", 0), "bandwidth_gb_per_s") == 1.25);
	json_decref(j);
}

#define MIB (1ull << 20)

static void pinning_wins(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	gpus_begin(&g, NULL);
	copy_of(&g, 0, 0, 1000, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, 6000);
	copy_of(&g, 0, 1000, 3000, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, 8000);
	copy_of(&g, 0, 3000, 3100, GT_DIR_HTOD, GT_GPU_MEM_PINNED, 5000);
	/* small copies are no estimate for large ones */
	copy_of(&g, 0, 4000, 5000, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, 16384);
	/* too large for the pinned ones of 1 MiB */
	copy_of(&g, 0, 5000, 6000, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, 8 * MIB);
	/* for which they stand in */
	copy_of(&g, 0, 6000, 7000, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, 4 * MIB);
	copy_of(&g, 0, 7000, 7100, GT_DIR_HTOD, GT_GPU_MEM_PINNED, MIB);
	/* and not for this one */
	copy_of(&g, 0, 7200, 8200, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, MIB - 1);
	/* another direction */
	copy_of(&g, 0, 8200, 8300, GT_DIR_DTOH, GT_GPU_MEM_PAGEABLE, 4096);
	/* and slower */
	copy_of(&g, 0, 8300, 8500, GT_DIR_DTOH, GT_GPU_MEM_PINNED, 4096);
	copy_of(&g, 0, 8500, 8600, GT_DIR_DTOD, GT_GPU_MEM_PAGEABLE, 4096);
	j = report(gpus_end(&g), copies_only, &plain);
	CHECK_EQ(rows(j, "pinning"), 6);
	r = row(j, "pinning", 0); /* 280 ns by their bytes */
	CHECK(num(r, "from_bytes") == 4096 && num(r, "count") == 2 && num(r, "bytes") == 14000 &&
		num(r, "total_ns") == 3000);
	CHECK(num(r, "pinned_count") == 1 && num(r, "pinned_bandwidth_gb_per_s") == 50 &&
		num(r, "pinned_ns") == 280 && num(r, "win_ns") == 2720);
	r = row(j, "pinning", 1);
	CHECK(num(r, "from_bytes") == 16384 && absent(r, "win_ns") && absent(r, "pinned_ns") &&
		absent(r, "pinned_bandwidth_gb_per_s"));
	CHECK(num(row(j, "pinning", 2), "from_bytes") == 524288 &&
		absent(row(j, "pinning", 2), "win_ns"));
	r = row(j, "pinning", 3);
	CHECK(num(r, "from_bytes") == 4 * MIB && num(r, "pinned_from_bytes") == MIB &&
		num(r, "pinned_ns") == 400 && num(r, "win_ns") == 600);
	CHECK(absent(row(j, "pinning", 4), "win_ns") &&
		num(row(j, "pinning", 4), "total_ns") == 1000);
	r = row(j, "pinning", 5);
	CHECK(is(r, "direction", "device to host") && num(r, "pinned_ns") == 200 &&
		num(r, "win_ns") == 0);
	CHECK(noted(
		j, "pinning", "cannot estimate the gain for 3 copies host to device: no pinned"));
	json_decref(j);
}

/* A copy of 18 B is estimated no longer than one of 6 B, and one of 33 B no shorter than one of
 * 63 B: below 1 MiB the number of bytes has little effect. */
static void small_copies_take_their_time_whatever_their_size(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	copy_of(&g, 0, 0, 2880, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, 18);
	copy_of(&g, 0, 3000, 5800, GT_DIR_HTOD, GT_GPU_MEM_PINNED, 6);
	copy_of(&g, 0, 6000, 9000, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, 33);
	copy_of(&g, 0, 9000, 11900, GT_DIR_HTOD, GT_GPU_MEM_PINNED, 63);
	j = report(gpus_end(&g), copies_only, &plain);
	CHECK(rows(j, "pinning") == 2 && absent(row(j, "pinning", 0), "pinned_ns"));
	CHECK(num(row(j, "pinning", 1), "pinned_ns") == 2900 &&
		num(row(j, "pinning", 1), "win_ns") == 100);
	json_decref(j);
}

/* ---- beside brute force ---- */

static bool like(const struct rp_op *o, const struct rp_op *kind)
{
	return o->what == kind->what &&
		(o->what == RP_SET ||
			(o->direction == kind->direction && o->src == kind->src &&
				o->dst == kind->dst));
}

/* ns of a kind while a kernel also runs (hidden) or does not. */
static int64_t together(
	const struct rp *p, const struct rp_op *kind, const struct gt_filter *f, bool hidden)
{
	static uint8_t cell[RP_END];
	int64_t ns = 0, from = f->ranged ? f->from : 0, to = f->ranged ? f->to : RP_END;

	for (int d = 0; d < 2; d++) {
		memset(cell, 0, sizeof(cell));
		for (int i = 0; i < p->nops; i++)
			for (int64_t at = p->ops[i].start;
				p->ops[i].device == d && at < p->ops[i].end; at++)
				cell[at] |= (p->ops[i].what == RP_LAUNCH) |
					(like(&p->ops[i], kind) << 1);
		for (int64_t at = from; at < to; at++)
			ns += cell[at] == (hidden ? 3 : 2);
	}
	return ns;
}

static const json_t *row_of(const json_t *j, const struct rp_op *o)
{
	for (size_t i = 0; i < rows(j, "copies"); i++) {
		const json_t *r = row(j, "copies", i);

		if (is(r, "operation", o->what == RP_SET ? "set" : "copy") &&
			(o->what == RP_SET ||
				(is(r, "direction", gt_direction_text(o->direction)) &&
					is(r, "source", gt_gpu_memory_word(o->src)) &&
					is(r, "destination", gt_gpu_memory_word(o->dst)))))
			return r;
	}
	return NULL;
}

static bool seen(const struct gt_filter *f, const struct rp_op *o)
{
	return !f->ranged || (o->start < f->to && (o->end > f->from || o->start >= f->from));
}

static void exposed_equals_brute_force(void)
{
	static struct rp p;
	int64_t all = 0;

	for (unsigned seed = 1; seed <= 40; seed++) {
		struct gt_analysis_options o = plain;
		json_t *j;

		if (seed % 4 == 0)
			o.filter = (struct gt_filter){
				.ranged = true, .from = 300 + seed * 20, .to = 2000 + seed * 50
			};
		j = report(rp_make(&p, seed), copies_only, &o);
		for (int i = 0; i < p.nops; i++) {
			const struct rp_op *op = &p.ops[i];
			const json_t *r = row_of(j, op);

			if (op->what == RP_LAUNCH || !seen(&o.filter, op))
				continue;
			CHECK(r &&
				num(r, "hidden_ns") == (double)together(&p, op, &o.filter, true));
			CHECK(num(r, "exposed_ns") == (double)together(&p, op, &o.filter, false));
			all += (int64_t)num(r, "hidden_ns");
		}
		json_decref(j);
	}
	CHECK(all > 1000);
}

/* The same for pinning: each pageable copy alone, then its size. */
static void pinning_equals_brute_force(void)
{
	static struct rp p;
	int answered = 0;

	for (unsigned seed = 1; seed <= 40; seed++) {
		json_t *j = report(rp_make(&p, seed), copies_only, &plain);

		for (size_t i = 0; i < rows(j, "pinning"); i++) {
			const json_t *r = row(j, "pinning", i);
			bool in = is(r, "direction", "host to device");
			uint64_t from = (uint64_t)num(r, "from_bytes"), n = 0, bytes = 0, ns = 0,
				 slow_n = 0, slow_bytes = 0, slow = 0, would;

			for (int k = 0; k < p.nops; k++) {
				const struct rp_op *o = &p.ops[k];
				enum gt_gpu_memory host = in ? o->src : o->dst;

				if (o->what != RP_COPY ||
					o->direction != (in ? GT_DIR_HTOD : GT_DIR_DTOH) ||
					o->bytes < from || o->bytes >= 2 * from)
					continue;
				if (host == GT_GPU_MEM_PAGEABLE)
					slow_n++, slow_bytes += o->bytes,
						slow += (uint64_t)(o->end - o->start);
				if (host == GT_GPU_MEM_PINNED)
					n++, bytes += o->bytes, ns += (uint64_t)(o->end - o->start);
			}
			CHECK(num(r, "bytes") == (double)slow_bytes &&
				num(r, "total_ns") == (double)slow &&
				absent(r, "win_ns") == !(bytes && ns));
			if (!bytes || !ns)
				continue;
			would = (slow_bytes * ns + bytes / 2) / bytes;
			would = (slow_n * ns + n / 2) / n > would ? (slow_n * ns + n / 2) / n
								  : would;
			CHECK(num(r, "pinned_ns") == (double)would &&
				num(r, "win_ns") == (slow > would ? (double)(slow - would) : 0));
			answered++;
		}
		json_decref(j);
	}
	CHECK(answered > 20);
}

T_MAIN(T(kernels_hide_copies), T(no_kernels_no_answer), T(pinning_wins),
	T(small_copies_take_their_time_whatever_their_size), T(exposed_equals_brute_force),
	T(pinning_equals_brute_force))
