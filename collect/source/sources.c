/* The table of sources, the sources of the guest, and what gtcollect does with all of them. */
#include "collect/source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/cuda/gpu_rows.h"
#include "formats/names/globs.h"

/* ---- sources of the guest ---- */

static void enable_api(struct gt_session *s) { memset(s->gate, GT_GATE_ON, gt_api_count); }

static void enable_ioctl(struct gt_session *s)
{
	s->ioctls = 1;
	memset(s->gate + GT_ID_IOCTL, GT_GATE_ON, GT_IDS - GT_ID_IOCTL);
}

/* GPU work is joined to the calls that launch it and wait for it, so their gates open, too. */
static void enable_gpu(struct gt_session *s)
{
	s->gpu = 1;
	s->gpu_more |= GT_GPU_MORE_OVERHEAD; /* a record or two a buffer */
	for (uint32_t id = 0; id < gt_api_count; id++)
		if (gt_api_makes_work(gt_api[id].op) || gt_api[id].role >= GT_API_STREAM_END ||
			gt_gpu_wait_of_call(gt_api[id].name))
			s->gate[id] = GT_GATE_ON;
}

static void enable_runtime(struct gt_session *s)
{
	enable_gpu(s);
	s->gpu_more |= GT_GPU_MORE_RUNTIME;
}

static void enable_um(struct gt_session *s)
{
	enable_gpu(s);
	s->gpu_more |= GT_GPU_MORE_MANAGED;
}

static void enable_nvtx(struct gt_session *s) { s->nvtx = 1; }

static const struct gt_source gt_source_api = {
	/* calls of the CUDA driver API */
	.name = "api",
	.by_default = true,
	.with_inject = true,
	.with_ebpf = true,
	.enable = enable_api,
};
/* requests to the kernel driver; open, close and mmap of its files */
static const struct gt_source gt_source_ioctl = {
	.name = "ioctl",
	.by_default = true,
	.with_ebpf = true,
	.enable = enable_ioctl,
};
static const struct gt_source gt_source_gpu = {
	/* GPU work */
	.name = "gpu",
	.needs = "CUPTI or CUDA events",
	.by_default = true,
	.with_inject = true,
	.always_injected = true,
	.enable = enable_gpu,
};
static const struct gt_source gt_source_nvtx = {
	/* the program's annotations */
	.name = "nvtx",
	.by_default = true,
	.with_inject = true,
	.enable = enable_nvtx,
};
static const struct gt_source gt_source_runtime = {
	/* calls of the CUDA runtime */
	.name = "runtime",
	.needs = "CUPTI",
	.with_inject = true,
	.enable = enable_runtime,
};
static const struct gt_source gt_source_um = {
	/* migrations and faults of managed memory */
	.name = "um",
	.needs = "CUPTI",
	.with_inject = true,
	.enable = enable_um,
};

static const struct gt_source gt_source_sched = {
	/* when threads do not run, and why */
	.name = "sched",
	.needs = "eBPF",
	.with_ebpf = true,
	.only_ebpf = true,
	.with_perf = true,
};

#define RATE_NOT_GIVEN UINT64_MAX
static uint64_t sample_rate = RATE_NOT_GIVEN;
static const struct gt_opt sample_options[] = {
	{ 0, "sample-rate", GT_OPT_U64, &sample_rate, "N",
		"samples of -e samples for each second of processor time of a thread (199)", NULL },
};

static int check_sample_rate(bool is_selected, struct gt_err *err)
{
	if (sample_rate != RATE_NOT_GIVEN && !is_selected)
		return gt_err_set(err, -EINVAL, "--sample-rate needs -e samples");
	if (sample_rate == RATE_NOT_GIVEN)
		sample_rate = 199;
	return sample_rate >= 1 && sample_rate <= 10000
		? 0
		: gt_err_set(err, -EINVAL, "--sample-rate must lie between 1 and 10000");
}

unsigned gt_sources_sample_rate(void) { return (unsigned)sample_rate; }

static const struct gt_source gt_source_samples = {
	/* what threads execute, by perf events; collect/host */
	.name = "samples",
	.needs = "perf events",
	.with_inject = true,
	.with_ebpf = true,
	.with_perf = true,
	.options = sample_options,
	.noptions = 1,
	.check_options = check_sample_rate,
};

/* functions of the kernel driver */
static const struct gt_source gt_source_driver = {
	.name = "driver",
	.needs = "eBPF",
	.with_ebpf = true,
	.only_ebpf = true,
};

/* page faults, also those of managed memory */
static const struct gt_source gt_source_fault = {
	.name = "fault",
	.needs = "eBPF",
	.with_ebpf = true,
	.only_ebpf = true,
};

static const struct gt_source gt_source_usdt = {
	/* probes that programs declare; collect/probes/probe_selection.h */
	.name = "usdt",
	.needs = "eBPF",
	.with_ebpf = true,
	.only_ebpf = true,
	.has_names = true,
};

/* ---- the table ---- */

/* All sources, in the order of --help. A SAMPLED one is defined in a file of its own, a GUEST's
 * above. A test build adds sampled sources by defining GT_SOURCES_MORE. */
#ifndef GT_SOURCES_MORE
#define GT_SOURCES_MORE(SAMPLED)
#endif
/* clang-format off */
#define GT_SOURCES(GUEST, SAMPLED) \
	GUEST(api) \
	GUEST(ioctl) \
	GUEST(gpu) \
	GUEST(nvtx) \
	SAMPLED(nvml) \
	GUEST(runtime) \
	GUEST(um) \
	GUEST(sched) \
	GUEST(samples) \
	GUEST(driver) \
	GUEST(fault) \
	GUEST(usdt) \
	SAMPLED(xid) \
	GT_SOURCES_MORE(SAMPLED)
/* clang-format on */

#define NOTHING(name)
#define DECLARE(name) extern const struct gt_source gt_source_##name;
GT_SOURCES(NOTHING, DECLARE)

#define ROW(name) &gt_source_##name,
const struct gt_source *const gt_source_table[] = { GT_SOURCES(ROW, ROW) NULL };

const struct gt_source *gt_source_find(const char *name, size_t len)
{
	for (const struct gt_source *const *s = gt_source_table; *s; s++) {
		size_t n = strlen((*s)->name);

		if ((len == n || ((*s)->has_names && len > n && name[n] == ':')) &&
			!memcmp((*s)->name, name, n))
			return *s;
	}
	return NULL;
}

static void append_name(char list[GT_SOURCES_LIST], const char *separator, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, GT_SOURCES_LIST - n, "%s%s", n ? separator : "", name);
}

const char *gt_sources_names(void)
{
	static char list[GT_SOURCES_LIST];

	list[0] = 0;
	for (const struct gt_source *const *s = gt_source_table; *s; s++)
		append_name(list, " ", (*s)->name);
	return list;
}

const char *gt_sources_default(void)
{
	static char list[GT_SOURCES_LIST];

	list[0] = 0;
	for (const struct gt_source *const *s = gt_source_table; *s; s++)
		if ((*s)->by_default)
			append_name(list, ",", (*s)->name);
	return list;
}

/* ---- -e and --inject ---- */

static void add_sampled(struct gt_sources *own, const struct gt_source *source)
{
	for (unsigned i = 0; i < own->n; i++)
		if (own->active[i].source == source)
			return;
	if (own->n < GT_SOURCES_OWN)
		own->active[own->n++].source = source;
}

static int refuse_word(const char *word, struct gt_err *err)
{
	size_t n = strcspn(word, ",");

	return gt_err_set(err, -EINVAL,
		"-e: invalid value '%.*s'; choose from %s, with commas between",
		(int)(n < 60 ? n : 60), word, gt_sources_names());
}

int gt_sources_enable(
	struct gt_session *s, struct gt_sources *own, const char *list, struct gt_err *err)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		const struct gt_source *source = gt_source_find(p, len);

		if (!source)
			return refuse_word(p, err);
		if (source->enable)
			source->enable(s);
		if (source->open)
			add_sampled(own, source);
		p += len;
		if (!*p)
			return 0;
	}
}

void gt_sources_inject(
	struct gt_session *s, const char *requested, bool with_ebpf, char list[GT_SOURCES_LIST])
{
	s->inject = 1;
	s->ioctls = 0;
	memset(s->gate + GT_ID_IOCTL, GT_GATE_OFF, GT_IDS - GT_ID_IOCTL);
	enable_gpu(s);
	list[0] = 0;
	for (const struct gt_source *const *source = gt_source_table; *source; source++) {
		bool named = false;

		for (const char *p = requested; *p; p += strcspn(p, ","), p += *p == ',')
			named |= gt_source_find(p, strcspn(p, ",")) == *source;
		if ((named && ((*source)->with_inject || (with_ebpf && (*source)->with_ebpf))) ||
			(*source)->always_injected)
			append_name(list, ",", (*source)->name);
	}
}

bool gt_sources_has(const char *list, const char *name)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",:") == strlen(name) && !strncmp(p, name, strlen(name)))
			return true;
	return false;
}

bool gt_sources_of_guest(const char *list)
{
	for (const struct gt_source *const *s = gt_source_table; *s; s++)
		if ((*s)->enable && gt_sources_has(list, (*s)->name))
			return true;
	return false;
}

const struct gt_source *gt_sources_only_ebpf(const char *list)
{
	for (const struct gt_source *const *s = gt_source_table; *s; s++)
		if ((*s)->only_ebpf && gt_sources_has(list, (*s)->name))
			return *s;
	return NULL;
}

bool gt_sources_only_perf(const char *list)
{
	bool has_any = false;

	for (const struct gt_source *const *s = gt_source_table; *s; s++) {
		if (!gt_sources_has(list, (*s)->name))
			continue;
		if (!(*s)->with_perf && !(*s)->open)
			return false;
		has_any |= (*s)->with_perf;
	}
	return has_any;
}

int gt_sources_ebpf(
	const char *requested, bool may_leave_out, char list[GT_SOURCES_LIST], struct gt_err *err)
{
	list[0] = 0;
	for (const char *p = requested; *p; p += strcspn(p, ","), p += *p == ',') {
		const struct gt_source *source = gt_source_find(p, strcspn(p, ","));

		if (!source)
			return refuse_word(p, err);
		if (gt_sources_has(list, source->name))
			continue;
		if (source->with_ebpf || source->open)
			append_name(list, ",", source->name);
		else if (!may_leave_out)
			return gt_err_set(err, -EINVAL,
				"-e %s: eBPF does not see it (leave out --via, or -e %s)",
				source->name, source->name);
	}
	return 0;
}

void gt_sources_without(const char *all, const char *some, char list[GT_SOURCES_LIST])
{
	list[0] = 0;
	for (const struct gt_source *const *s = gt_source_table; *s; s++)
		if (gt_sources_has(all, (*s)->name) && !gt_sources_has(some, (*s)->name))
			append_name(list, ",", (*s)->name);
}

/* ---- sampled sources ---- */

static void *open_source(const struct gt_source *source, struct gt_err *err)
{
	void *state = source->open(err);

	if (!state && err->code == -ENOENT && source->needs)
		gt_err_append(err, " (it needs %s)", source->needs);
	return state;
}

int gt_sources_open(struct gt_sources *own, struct gt_err *err)
{
	for (unsigned i = 0; i < own->n; i++) {
		own->active[i].state = open_source(own->active[i].source, err);
		if (!own->active[i].state)
			return err->code;
	}
	return 0;
}

void gt_sources_missing(const struct gt_sources *own, void (*note)(const char *text))
{
	for (unsigned i = 0; i < own->n; i++) {
		const struct gt_active_source *a = &own->active[i];
		const char *text = a->source->missing ? a->source->missing(a->state) : NULL;

		if (text)
			note(text);
	}
}

int gt_sources_start(struct gt_sources *own, int64_t from, int64_t until, struct gt_err *err)
{
	int code = 0;

	for (unsigned i = 0; !code && i < own->n; i++)
		code = own->active[i].source->start(own->active[i].state, from, until, err);
	return code;
}

unsigned gt_sources_poll(const struct gt_sources *own, struct pollfd *fds)
{
	unsigned n = 0;

	for (unsigned i = 0; i < own->n; i++)
		if (own->active[i].source->fd)
			fds[n++] = (struct pollfd){ .fd = own->active[i].source->fd(
							    own->active[i].state),
				.events = POLLIN };
	return n;
}

static int write_metadata(
	const struct gt_source *source, void *state, struct gt_writer *w, struct gt_err *err)
{
	char *json = source->metadata(state);
	int code = json ? gt_writer_meta(w, json, err) : 0;

	free(json);
	return code;
}

int64_t gt_sources_drain(struct gt_sources *own, struct gt_writer *w, bool last, struct gt_err *err)
{
	int64_t rows = 0;

	for (unsigned i = 0; i < own->n; i++) {
		const struct gt_source *source = own->active[i].source;
		void *state = own->active[i].state;
		int64_t n = source->drain(state, w, err);
		int code = 0;

		if (n >= 0 &&
			(last || (source->metadata_changed && source->metadata_changed(state))))
			code = write_metadata(source, state, w, err);
		if (n < 0 || code)
			return n < 0 ? n : code;
		rows += n;
	}
	return rows;
}

void gt_sources_stop(struct gt_sources *own)
{
	for (unsigned i = 0; i < own->n; i++)
		own->active[i].source->stop(own->active[i].state);
}

void gt_sources_totals(const struct gt_active_source *of, struct gt_source_totals *t)
{
	*t = (struct gt_source_totals){ 0 };
	of->source->totals(of->state, t);
}

bool gt_sources_are_simulated(const struct gt_sources *own)
{
	struct gt_source_totals t;
	bool simulated = false;

	for (unsigned i = 0; i < own->n; i++) {
		gt_sources_totals(&own->active[i], &t);
		simulated |= t.simulated;
	}
	return simulated;
}

void gt_sources_report(const struct gt_sources *own, const char *program, FILE *to)
{
	for (unsigned i = 0; i < own->n; i++)
		if (own->active[i].source->report)
			own->active[i].source->report(own->active[i].state, program, to);
}

void gt_sources_close(struct gt_sources *own)
{
	for (unsigned i = 0; i < own->n; i++)
		if (own->active[i].state)
			own->active[i].source->close(own->active[i].state);
	own->n = 0;
}

/* ---- filters ---- */

static const char *gate_name(unsigned id)
{
	static const char *const files[] = { "ioctl", "open", "close", "mmap", "munmap" };

	return id >= GT_ID_IOCTL    ? files[id - GT_ID_IOCTL]
		: id < gt_api_count ? gt_api[id].name
				    : NULL;
}

static unsigned gate_category(unsigned id)
{
	return id < gt_api_count    ? gt_api[id].category
		: id == GT_ID_IOCTL ? GT_CAT_IOCTL
				    : GT_CAT_FILE;
}

/* Does any of the globs match? Counts the matches of each in hits. */
static bool any_matches(const struct gt_opt_list *globs, unsigned id, unsigned *hits)
{
	bool found = false;

	for (size_t i = 0; i < globs->n; i++)
		if (gt_glob_matches_call(globs->items[i], gate_name(id), gate_category(id))) {
			found = true;
			if (i < 64)
				hits[i]++;
		}
	return found;
}

static const char *first_useless(const struct gt_opt_list *globs, const unsigned *hits)
{
	for (size_t i = 0; i < globs->n && i < 64; i++)
		if (!hits[i])
			return globs->items[i];
	return NULL;
}

unsigned gt_sources_filter(struct gt_session *s, const struct gt_opt_list *filter,
	const struct gt_opt_list *exclude, uint32_t sample, const char **useless)
{
	unsigned in[64] = { 0 }, out[64] = { 0 }, open = 0;

	s->sample = sample;
	for (unsigned id = 0; id < GT_IDS; id++) {
		if (!gate_name(id) || !s->gate[id])
			continue;
		if (filter->n && !any_matches(filter, id, in))
			s->gate[id] = GT_GATE_OFF;
		if (any_matches(exclude, id, out))
			s->gate[id] = GT_GATE_OFF;
		if (s->gate[id] && sample > 1)
			s->gate[id] = GT_GATE_SAMPLE;
		open += s->gate[id] != GT_GATE_OFF;
	}
	*useless = first_useless(filter, in);
	if (!*useless)
		*useless = first_useless(exclude, out);
	return open;
}

/* ---- stacks ---- */

static bool has_stack_by_default(const struct gt_api *api)
{
	return gt_api_makes_work(api->op) || gt_api_is_memory(api->op) || api->op == GT_OP_SYNC ||
		api->role == GT_API_GRAPH_NODE || gt_gpu_wait_of_call(api->name);
}

static bool is_word(const struct gt_opt_list *list, const char *word)
{
	return list->n == 1 && !strcmp(list->items[0], word);
}

void gt_sources_stacks(struct gt_session *s, const struct gt_opt_list *stacks, const char **useless)
{
	bool by_default = !stacks->n || is_word(stacks, "launch"), all = is_word(stacks, "all"),
	     globs = !by_default && !all && !is_word(stacks, "none");
	unsigned hits[64] = { 0 };

	for (unsigned id = 0; id < gt_api_count; id++) {
		s->stack_of[id] = s->gate[id] != GT_GATE_OFF &&
			(all || (by_default && has_stack_by_default(&gt_api[id])) ||
				(globs && any_matches(stacks, id, hits)));
		if (s->stack_of[id] &&
			(gt_api[id].op == GT_OP_SYNC || gt_gpu_wait_of_call(gt_api[id].name)))
			s->stack_of[id] = GT_STACK_WHOLE;
		s->stacks |= s->stack_of[id];
	}
	*useless = globs ? first_useless(stacks, hits) : NULL;
}
