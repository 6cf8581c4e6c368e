#include "analyze/nsight/nsight.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/names/demangle.h"
#include "formats/names/kernel_names.h"

const char gt_nsight_family[] = "By the names and with the columns of Nsight Systems' reports:";

int gt_nsight_names_init(
	struct gt_nsight_names *n, struct gt_reader *r, enum gt_name_form form, struct gt_err *err)
{
	uint32_t nsegs = gt_reader_segments(r);

	*n = (struct gt_nsight_names){
		.reader = r, .form = form, .kernels = gt_kernel_names_of(r, GT_NAME_SHORT)
	};
	n->first = calloc(nsegs + 1ul, sizeof(*n->first));
	if (!n->kernels || !n->first)
		return gt_err_set(err, -ENOMEM, "out of memory (names)");
	for (uint32_t i = 0; i < nsegs; i++)
		if (__builtin_add_overflow(
			    n->first[i], gt_reader_segment(r, i)->ntypes, &n->first[i + 1]))
			return gt_err_set(err, -EOVERFLOW, "too many types");
	return gt_name_interner_init(&n->ids, n->first[nsegs], 0, err);
}

void gt_nsight_names_release(struct gt_nsight_names *n)
{
	for (size_t i = 0; i < n->nforms; i++)
		if (n->forms[i].full != n->ids.list[i].text)
			free(n->forms[i].full);
	gt_kernel_names_free(n->kernels);
	gt_name_interner_release(&n->ids);
	free(n->forms);
	free(n->first);
}

uint32_t gt_nsight_name(struct gt_nsight_names *n, const struct gt_segment *seg, uint64_t string,
	struct gt_err *err)
{
	return gt_name_interner_find(&n->ids, gt_name_text(seg, string), 0, err);
}

uint32_t gt_nsight_type_name(
	struct gt_nsight_names *n, const struct gt_segment *seg, uint32_t type, struct gt_err *err)
{
	return gt_name_interner_type(&n->ids, gt_nsight_slot(n, seg, type), seg, type, 0, err);
}

/* NULL: no memory. */
static struct gt_nsight_forms *forms_of(struct gt_nsight_names *n, uint32_t name)
{
	if (name >= n->nforms) {
		if (gt_grow(&n->forms, &n->forms_cap, n->ids.n, sizeof(*n->forms)))
			return NULL;
		memset(n->forms + n->nforms, 0, (n->ids.n - n->nforms) * sizeof(*n->forms));
		n->nforms = n->ids.n;
	}
	return &n->forms[name];
}

const char *gt_nsight_short_name(struct gt_nsight_names *n, uint32_t name)
{
	struct gt_nsight_forms *one = forms_of(n, name);

	if (one && !one->brief)
		one->brief = gt_kernel_names_get(n->kernels, gt_nsight_text(n, name));
	return one && one->brief ? one->brief : gt_nsight_text(n, name);
}

const char *gt_nsight_full_name(struct gt_nsight_names *n, uint32_t name)
{
	struct gt_nsight_forms *one = forms_of(n, name);

	if (!one)
		return gt_nsight_text(n, name);
	if (!one->full && n->form != GT_NAME_MANGLED)
		one->full = gt_demangle(gt_nsight_text(n, name));
	if (!one->full)
		/* the borrowed text: not retried, not freed */
		one->full = (char *)gt_nsight_text(n, name);
	return one->full;
}

void gt_nsight_show_names(
	const struct gt_nsight_names *n, struct gt_table *t, const char *brief, const char *full)
{
	if (n->form != GT_NAME_SHORT)
		gt_table_replace_column(t, brief, full);
}

const char *gt_nsight_operation(enum gt_gpu_what what, uint64_t direction)
{
	static const char *const copies[] = {
		"[CUDA memcpy]",
		"[CUDA memcpy Host-to-Device]",
		"[CUDA memcpy Device-to-Host]",
		"[CUDA memcpy Device-to-Device]",
		"[CUDA memcpy Host-to-Host]",
		"[CUDA memcpy Peer-to-Peer]",
	};

	if (what == GT_GPU_SET)
		return "[CUDA memset]";
	return copies[direction < sizeof(copies) / sizeof(*copies) ? direction : GT_DIR_UNKNOWN];
}

/* ---- cells ---- */

void gt_nsight_spread_cells(const struct gt_durations *d, struct gt_cell cells[GT_NSIGHT_NSPREAD])
{
	cells[0] = gt_cell_mean(d->total, d->count);
	cells[1] = gt_durations_quantile(d, 0.50);
	cells[2] = gt_cell_known(d->count, d->shortest);
	cells[3] = gt_cell_known(d->count, d->longest);
	cells[4] = gt_durations_deviation(d);
}

void gt_nsight_time_cells(
	const struct gt_durations *d, int64_t share, struct gt_cell cells[GT_NSIGHT_NTIMES])
{
	cells[0] = gt_cell_i(share);
	cells[1] = gt_cell_u(d->total);
	cells[2] = gt_cell_u(d->count);
	gt_nsight_spread_cells(d, cells + 3);
}

const char *gt_nsight_put_triple(char text[GT_NSIGHT_TRIPLE], uint64_t x, uint64_t y, uint64_t z)
{
	/* values fit into 32 bits, and text is large enough for those */
	char *p = gt_put_u64(text, (uint32_t)x);

	*p++ = ' ';
	p = gt_put_u64(p, (uint32_t)y);
	*p++ = ' ';
	*gt_put_u64(p, (uint32_t)z) = 0;
	return text;
}

bool gt_nsight_three_fields(const struct gt_type *type, unsigned role, uint32_t *first)
{
	*first = gt_type_field(type, role);
	return *first != GT_NONE && *first + 2 < type->nfields &&
		type->fields[*first + 1].role == role && type->fields[*first + 2].role == role;
}
