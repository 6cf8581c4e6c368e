#include "collect/source/source.h"
#include "formats/names/globs.h"
#include "formats/cuda/gpu_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	.name = "api",
	.records = "calls of the CUDA driver API",
	.with_inject = true,
	.enable = enable_api,
};
static const struct gt_source gt_source_ioctl = {
	.name = "ioctl",
	.records = "requests to the kernel driver; open, close and mmap of its files",
	.enable = enable_ioctl,
};
static const struct gt_source gt_source_gpu = {
	.name = "gpu",
	.records = "GPU work; needs CUPTI or CUDA events",
	.with_inject = true,
	.always_injected = true,
	.enable = enable_gpu,
};
static const struct gt_source gt_source_nvtx = {
	.name = "nvtx",
	.records = "the program's NVTX annotations",
	.with_inject = true,
	.enable = enable_nvtx,
};
static const struct gt_source gt_source_runtime = {
	.name = "runtime",
	.records = "calls of the CUDA runtime; needs CUPTI",
	.with_inject = true,
	.enable = enable_runtime,
};
static const struct gt_source gt_source_um = {
	.name = "um",
	.records = "migrations and faults of managed memory; needs CUPTI",
	.with_inject = true,
	.enable = enable_um,
};

/* The others are defined in files of their own. */
extern const struct gt_source gt_source_nvml;
#define DECLARE(name) extern const struct gt_source gt_source_##name;
GT_SOURCES_MORE(DECLARE)

#define ROW(name) &gt_source_##name,
const struct gt_source *const gt_source_table[] = { GT_SOURCES(ROW) NULL };

const struct gt_source *gt_source_find(const char *name, size_t len)
{
	for (const struct gt_source *const *s = gt_source_table; *s; s++)
		if (strlen((*s)->name) == len && !memcmp((*s)->name, name, len))
			return *s;
	return NULL;
}

static void add_own(struct gt_sources *own, const struct gt_source *source)
{
	for (unsigned i = 0; i < own->n; i++)
		if (own->active[i].source == source)
			return;
	if (own->n < GT_SOURCES_OWN)
		own->active[own->n++].source = source;
}

int gt_sources_enable(
	struct gt_session *s, struct gt_sources *own, const char *list, struct gt_err *err)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		const struct gt_source *found = gt_source_find(p, len);

		if (!found)
			return gt_err_set(err, -EINVAL,
				"-e '%.100s': there are" GT_SOURCES(
					GT_SOURCE_WORD) ", with commas between",
				list);
		if (found->enable)
			found->enable(s);
		if (found->open)
			add_own(own, found);
		p += len;
		if (!*p)
			return 0;
	}
}

void gt_sources_inject(struct gt_session *s, const char *wanted, char list[GT_SOURCES_LIST])
{
	size_t n = 0;

	s->inject = 1;
	s->ioctls = 0;
	memset(s->gate + GT_ID_IOCTL, GT_GATE_OFF, GT_IDS - GT_ID_IOCTL);
	enable_gpu(s);
	list[0] = 0;
	for (const struct gt_source *const *source = gt_source_table; *source; source++) {
		bool named = false;

		for (const char *p = wanted; *p; p += strcspn(p, ","), p += *p == ',')
			named |= gt_source_find(p, strcspn(p, ",")) == *source;
		if ((named && (*source)->with_inject) || (*source)->always_injected)
			n += (size_t)snprintf(list + n, GT_SOURCES_LIST - n, "%s%s", n ? "," : "",
				(*source)->name);
	}
}

/* ---- gtcollect's own ---- */

#define EACH(own, a) (struct gt_active_source *a = (own)->active; a < (own)->active + (own)->n; a++)

int gt_sources_open(struct gt_sources *own, struct gt_err *err)
{
	for
		EACH(own, a)
	if (!(a->state = a->source->open(err)))
		return err->code;
	return 0;
}

int gt_sources_start(
	struct gt_sources *own, const struct gt_source_times *times, struct gt_err *err)
{
	int rc = 0;

	for
		EACH(own, a)
	if (a->state && !rc)
		rc = a->source->start(a->state, times, err);
	return rc;
}

unsigned gt_sources_poll(const struct gt_sources *own, struct pollfd *fds)
{
	unsigned n = 0;

	for (const struct gt_active_source *a = own->active; a < own->active + own->n; a++) {
		int fd = a->state && a->source->fd ? a->source->fd(a->state) : -1;

		if (fd >= 0)
			fds[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	return n;
}

static int put_metadata(struct gt_active_source *a, struct gt_writer *w, struct gt_err *err)
{
	char *json = a->source->metadata(a->state);
	int rc = json ? gt_writer_meta(w, json, err) : 0;

	free(json);
	return rc;
}

int64_t gt_sources_drain(struct gt_sources *own, struct gt_writer *w, bool last, struct gt_err *err)
{
	int64_t rows = 0;

	for
		EACH(own, a)
		{
			int64_t n = a->state ? a->source->drain(a->state, w, err) : 0;

			if (n >= 0 && a->state &&
				(last ||
					(a->source->metadata_changed &&
						a->source->metadata_changed(a->state)))) {
				int rc = put_metadata(a, w, err);

				n = rc < 0 ? rc : n;
			}
			if (n < 0)
				return n;
			rows += n;
		}
	return rows;
}

void gt_sources_stop(struct gt_sources *own)
{
	for
		EACH(own, a)
	if (a->state)
		a->source->stop(a->state);
}

void gt_sources_totals(const struct gt_active_source *of, struct gt_source_totals *t)
{
	*t = (struct gt_source_totals){ 0 };
	if (of->state)
		of->source->totals(of->state, t);
}

bool gt_sources_simulated(const struct gt_sources *own)
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
	for (const struct gt_active_source *a = own->active; a < own->active + own->n; a++)
		if (a->state && a->source->report)
			a->source->report(a->state, program, to);
}

void gt_sources_close(struct gt_sources *own)
{
	for
		EACH(own, a)
	if (a->state)
		a->source->close(a->state);
	own->n = 0;
}

/* ---- filters ---- */

static const char *name_of(unsigned id)
{
	static const char *const files[] = { "ioctl", "open", "close", "mmap", "munmap" };

	return id >= GT_ID_IOCTL    ? files[id - GT_ID_IOCTL]
		: id < gt_api_count ? gt_api[id].name
				    : NULL;
}

static unsigned category_of(unsigned id)
{
	return id < gt_api_count    ? gt_api[id].category
		: id == GT_ID_IOCTL ? GT_CAT_IOCTL
				    : GT_CAT_FILE;
}

static bool matches(const char *glob, unsigned id)
{
	const char *name = name_of(id);
	char base[128];

	snprintf(base, sizeof(base), "%.*s", (int)gt_api_base_length(name), name);
	return gt_glob_matches(glob, name, category_of(id)) ||
		gt_glob_matches(glob, base, category_of(id));
}

/* Does any of the globs match? Counts each that does in hits. */
static bool any(const struct gt_opt_list *globs, unsigned id, unsigned *hits)
{
	bool found = false;

	for (size_t i = 0; i < globs->n; i++)
		if (matches(globs->items[i], id)) {
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
		if (!name_of(id) || !s->gate[id])
			continue;
		if (filter->n && !any(filter, id, in))
			s->gate[id] = GT_GATE_OFF;
		if (any(exclude, id, out))
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
