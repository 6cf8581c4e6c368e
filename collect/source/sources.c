#include "collect/source/source.h"
#include "formats/names/globs.h"
#include "formats/cuda/gpu_rows.h"

#include <stdio.h>
#include <string.h>

static void enable_api(struct gt_session *s, struct gt_sources *own) { memset(s->gate, GT_GATE_ON, gt_api_count); }

static void enable_nvml(struct gt_session *s, struct gt_sources *own) { own->nvml = true; }

static void enable_ioctl(struct gt_session *s, struct gt_sources *own)
{
	s->ioctls = 1;
	memset(s->gate + GT_ID_IOCTL, GT_GATE_ON, GT_IDS - GT_ID_IOCTL);
}

/* With the calls that make it work, or nothing could be joined to anything, and those that wait for it. */
static void enable_gpu(struct gt_session *s, struct gt_sources *own)
{
	s->gpu = 1;
	s->gpu_more |= GT_GPU_MORE_OVERHEAD;		/* a record or two a buffer */
	for (uint32_t id = 0; id < gt_api_count; id++)
		if (gt_api_makes_work(gt_api[id].op) || gt_api_begins_capture(gt_api[id].name) || gt_api_ends_capture(gt_api[id].name) ||
		    gt_api_ends_stream(gt_api[id].name) || gt_api_makes_node(gt_api[id].name) || gt_api_copies_graph(gt_api[id].name) ||
		    gt_gpu_wait_of_call(gt_api[id].name))
			s->gate[id] = GT_GATE_ON;
}

static void enable_runtime(struct gt_session *s, struct gt_sources *own)
{
	enable_gpu(s, own);
	s->gpu_more |= GT_GPU_MORE_RUNTIME;
}

static void enable_um(struct gt_session *s, struct gt_sources *own)
{
	enable_gpu(s, own);
	s->gpu_more |= GT_GPU_MORE_MANAGED;
}

static void enable_nvtx(struct gt_session *s, struct gt_sources *own) { s->nvtx = 1; }

#define SOURCE(name) { #name, enable_##name },
static const struct source {
	const char *name;
	void (*enable)(struct gt_session *s, struct gt_sources *own);
} sources[] = { GT_SOURCES(SOURCE) };

static const struct source *find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (strlen(sources[i].name) == len && !memcmp(sources[i].name, name, len))
			return &sources[i];
	return NULL;
}

int gt_sources_enable(struct gt_session *s, struct gt_sources *own, const char *list, struct gt_err *err)
{
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		const struct source *found = find(p, len);

		if (!found)
			return gt_err_set(err, -EINVAL, "-e '%.100s': there are" GT_SOURCES(GT_SOURCE_WORD) ", with commas between", list);
		found->enable(s, own);
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
	enable_gpu(s, NULL);
	list[0] = 0;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		bool asked = false;

		for (const char *p = wanted; *p; p += strcspn(p, ","), p += *p == ',')
			asked |= find(p, strcspn(p, ",")) == &sources[i];
		if ((asked && sources[i].enable != enable_ioctl) || sources[i].enable == enable_gpu)
			n += (size_t)snprintf(list + n, GT_SOURCES_LIST - n, "%s%s", n ? "," : "", sources[i].name);
	}
}

static const char *name_of(unsigned id)
{
	static const char *const files[] = { "ioctl", "open", "close", "mmap", "munmap" };

	return id >= GT_ID_IOCTL ? files[id - GT_ID_IOCTL] : id < gt_api_count ? gt_api[id].name : NULL;
}

static unsigned category_of(unsigned id)
{
	return id < gt_api_count ? gt_api[id].category : id == GT_ID_IOCTL ? GT_CAT_IOCTL : GT_CAT_FILE;
}

static bool matches(const char *glob, unsigned id)
{
	const char *name = name_of(id);
	char base[128];

	snprintf(base, sizeof(base), "%.*s", (int)gt_api_base_length(name), name);
	return gt_glob_matches(glob, name, category_of(id)) || gt_glob_matches(glob, base, category_of(id));
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

unsigned gt_sources_filter(struct gt_session *s, const struct gt_opt_list *filter, const struct gt_opt_list *exclude,
			   uint32_t sample, const char **useless)
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
