#include "collect/bpf/calls/call_plan.h"

#include <stdio.h>
#include <string.h>

/* Bytes that a field reads at its parameter; 0: none, or a text. */
static unsigned bytes_of(const struct gt_arg *a)
{
	switch (a->how) {
	case GT_FROM_OUT64:
	case GT_FROM_PITCH: return 8;
	case GT_FROM_OUT32:
	case GT_FROM_OUT32S: return 4;
	case GT_FROM_MEM64: return a->at + 8u;
	case GT_FROM_MEM32: return a->at + 4u;
	case GT_FROM_LOCATION: return a->at + 8u;
	case GT_FROM_END: return a->at + 32u;
	case GT_FROM_ENDS: return ((a->at >> 8) > (a->at & 255) ? a->at >> 8 : a->at & 255) + 4u;
	case GT_FROM_RECT: return a->at + 16u;
	case GT_FROM_BOX:
	case GT_FROM_ARRAY2: return a->at + 24u;
	case GT_FROM_ARRAY3: return a->at + 32u;
	case GT_FROM_SUM: return GT_BPF_FETCH_MAX;
	}
	return 0;
}

static void use_parameter(struct gt_bpf_plan *p, unsigned param)
{
	if (param < GT_BPF_WORDS && param >= p->words)
		p->words = (uint8_t)(param + 1);
}

static void add_fetch(struct gt_bpf_plan *p, unsigned param, unsigned what, unsigned bytes)
{
	bytes = bytes < GT_BPF_FETCH_MAX ? bytes : GT_BPF_FETCH_MAX;
	for (unsigned i = 0; i < p->fetches; i++)
		if (p->fetch[i].param == param && p->fetch[i].what == what) {
			if (bytes > p->fetch[i].bytes)
				p->fetch[i].bytes = (uint16_t)bytes;
			return;
		}
	if (p->fetches == GT_BPF_FETCHES || param >= GT_BPF_WORDS)
		return;
	p->fetch[p->fetches++] =
		(struct gt_bpf_fetch){ (uint8_t)param, (uint8_t)what, (uint16_t)bytes };
}

/* Functions whose texts and handles name kernels: what the guest's hooks read. */
static void add_names(struct gt_bpf_plan *p, const char *name)
{
	if (!strcmp(name, "cuModuleGetFunction") || !strcmp(name, "cuLibraryGetKernel")) {
		add_fetch(p, 0, GT_BPF_BYTES, 8);
		add_fetch(p, 2, GT_BPF_TEXT, GT_BPF_FETCH_MAX);
		use_parameter(p, 2);
	} else if (!strcmp(name, "cuKernelGetFunction")) {
		add_fetch(p, 0, GT_BPF_BYTES, 8);
		use_parameter(p, 1);
	}
}

static enum gt_bpf_size size_of_record(const struct gt_bpf_plan *p)
{
	if (p->fetches > 1 ||
		(p->fetches &&
			(p->fetch[0].what != GT_BPF_BYTES ||
				p->fetch[0].bytes > GT_BPF_SMALL_PIECE)))
		return GT_BPF_ANY_SIZE;
	return p->words <= GT_BPF_SMALL_WORDS ? GT_BPF_SMALL : GT_BPF_WIDE;
}

void gt_call_plan_make(struct gt_call_plan *plan, const struct gt_api *api, int mode)
{
	struct gt_api_field all[GT_FIELDS_MAX];
	unsigned n = mode == GT_ARGS_NONE ? 0 : gt_api_fields(api, all);

	memset(plan, 0, sizeof(*plan));
	for (unsigned i = 0; i < n; i++) {
		struct gt_arg a = { all[i].param, all[i].how, all[i].role, all[i].key, all[i].at };

		if (mode == GT_ARGS_KEY && !a.key)
			continue;
		plan->fields[plan->nfields++] = a;
		use_parameter(&plan->bpf, a.param + (a.how == GT_FROM_SUM));
		if (a.how == GT_FROM_STR)
			add_fetch(&plan->bpf, a.param, GT_BPF_TEXT, GT_BPF_FETCH_MAX);
		else if (bytes_of(&a))
			add_fetch(&plan->bpf, gt_arg_memory(&a), GT_BPF_BYTES, bytes_of(&a));
	}
	add_names(&plan->bpf, api->name);
	plan->bpf.size = (uint8_t)size_of_record(&plan->bpf);
}

static const char *data(const struct gt_bpf_call *call)
{
	return ((const struct gt_bpf_call_with_pieces *)call)->data;
}

size_t gt_call_size(const struct gt_bpf_call *call)
{
	size_t size = sizeof(*call) + 8ul * call->words;

	for (unsigned i = 0; i < GT_BPF_FETCHES; i++)
		size += (call->bytes[i] + 7u) & ~7u;
	return size;
}

static const char *piece(const struct gt_call_plan *plan, const struct gt_bpf_call *call,
	unsigned param, unsigned what, unsigned *bytes)
{
	const char *at = data(call) + 8ul * call->words;

	for (unsigned i = 0; i < plan->bpf.fetches; at += (call->bytes[i++] + 7u) & ~7u)
		if (plan->bpf.fetch[i].param == param && plan->bpf.fetch[i].what == what) {
			*bytes = call->bytes[i];
			return at;
		}
	*bytes = 0;
	return NULL;
}

uint64_t gt_call_word(const struct gt_bpf_call *call, unsigned param)
{
	return param < call->words ? gt_u64_at((const uint8_t *)data(call) + 8ul * param) : 0;
}

const uint8_t *gt_call_memory(const struct gt_call_plan *plan, const struct gt_bpf_call *call,
	unsigned param, unsigned bytes)
{
	unsigned there;
	const char *p = piece(plan, call, param, GT_BPF_BYTES, &there);

	return there >= bytes ? (const uint8_t *)p : NULL;
}

const char *gt_call_text(
	const struct gt_call_plan *plan, const struct gt_bpf_call *call, unsigned param)
{
	unsigned there;
	const char *p = piece(plan, call, param, GT_BPF_TEXT, &there);

	return there && there <= GT_BPF_FETCH_MAX && !p[there - 1] ? p : NULL;
}

bool gt_call_needs_no_memory(const struct gt_arg *a)
{
	return a->how != GT_FROM_STR && !bytes_of(a);
}

uint64_t gt_call_value(
	const struct gt_call_plan *plan, const struct gt_bpf_call *call, const struct gt_arg *a)
{
	unsigned bytes = bytes_of(a);
	const uint8_t *p = NULL;

	if (a->param + (a->how == GT_FROM_SUM) >= call->words || a->how == GT_FROM_STR)
		return 0;
	/* an array of sizes that is longer than the copy has no sum */
	if (a->how == GT_FROM_SUM &&
		gt_call_word(call, a->param + 1u) > GT_BPF_FETCH_MAX / sizeof(uint64_t))
		return 0;
	if (bytes)
		p = gt_call_memory(plan, call, gt_arg_memory(a), a->how == GT_FROM_SUM ? 8 : bytes);
	/* records begin at whole words */
	return gt_arg_value_of(a, (const uint64_t *)(const void *)data(call), call->ret, p);
}
