/* NVML itself: loads the library, lists its devices, and queries their counters. */
#define _GNU_SOURCE
#include "collect/source/nvml_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "collect/ipc/guest_server.h"

#define DEVICES_MAX 256u
#define CALL(fn, ...) ((fn) ? (fn)(__VA_ARGS__) : NVML_FUNCTION_NOT_FOUND)

/* ---- queries ---- */

static int query_memory(const struct gt_nvml_api *a, nvml_device d, uint64_t *v)
{
	struct nvml_memory m = { 0 };
	int code = CALL(a->memory, d, &m);

	v[0] = m.used;
	return code;
}

static int query_utilization(const struct gt_nvml_api *a, nvml_device d, uint64_t *v)
{
	struct nvml_utilization u = { 0 };
	int code = CALL(a->utilization, d, &u);

	v[0] = u.gpu;
	v[1] = u.memory;
	return code;
}

#define QUERY_ONE(what, type, ...)                                                                 \
	static int query_##what(const struct gt_nvml_api *a, nvml_device d, uint64_t *v)           \
	{                                                                                          \
		type one = 0;                                                                      \
		int code = CALL(__VA_ARGS__, &one);                                                \
                                                                                                   \
		v[0] = one;                                                                        \
		return code;                                                                       \
	}
QUERY_ONE(sm_clock, unsigned, a->clock, d, NVML_CLOCK_SM)
QUERY_ONE(memory_clock, unsigned, a->clock, d, NVML_CLOCK_MEM)
QUERY_ONE(power, unsigned, a->power, d)
QUERY_ONE(temperature, unsigned, a->temperature, d, NVML_TEMPERATURE_GPU)
QUERY_ONE(reasons, unsigned long long, a->reasons ? a->reasons : a->old_reasons, d)

const struct gt_nvml_query gt_nvml_queries[] = {
	{ query_memory, GT_NVML_MEMORY_USED, 1 },
	{ query_utilization, GT_NVML_UTILIZATION, 2 },
	{ query_sm_clock, GT_NVML_SM_CLOCK, 1 },
	{ query_memory_clock, GT_NVML_MEMORY_CLOCK, 1 },
	{ query_power, GT_NVML_POWER, 1 },
	{ query_temperature, GT_NVML_TEMPERATURE, 1 },
	{ query_reasons, GT_NVML_THROTTLE, 1 },
};
const size_t gt_nvml_nqueries = sizeof(gt_nvml_queries) / sizeof(*gt_nvml_queries);

const char *gt_nvml_error_text(const struct gt_nvml *n, int code, char *to, size_t size)
{
	const char *words = n->api.error_string ? n->api.error_string(code) : NULL;

	snprintf(to, size, words ? "%d (%.80s)" : "%d", code, words);
	return to;
}

/* ---- opening ---- */

#define FDS 1024

static void list_open_fds(bool *open)
{
	for (int fd = 0; fd < FDS; fd++)
		open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* The traced program must not inherit the files that NVML opened. */
static void close_new_on_exec(const bool *before)
{
	for (int fd = 0; fd < FDS; fd++)
		if (!before[fd] && fcntl(fd, F_GETFD) >= 0)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void look_up(struct gt_nvml_api *a, void *library)
{
	static const struct {
		const char *symbol;
		size_t at;
	} all[] = {
#define X(field, symbol, args) { #symbol, offsetof(struct gt_nvml_api, field) },
		FUNCTIONS(X)
#undef X
			{ "nvmlErrorString", offsetof(struct gt_nvml_api, error_string) },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		void *f = dlsym(library, all[i].symbol);

		memcpy((char *)a + all[i].at, &f, sizeof(f));
	}
}

/* The library is never unloaded: it may have threads. */
static int load(struct gt_nvml *n, const char *library, struct gt_err *err)
{
	void *h = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map = NULL;

	if (!h)
		return gt_err_set(err, -ENOENT, "-e nvml: %.120s", dlerror());
	look_up(&n->api, h);
	if (!dlinfo(h, RTLD_DI_LINKMAP, &map) && map)
		n->simulated = gt_is_simulator_file(map->l_name);
	if (!n->api.init || !n->api.count || !n->api.handle)
		return gt_err_set(err, -ENOSYS, "-e nvml: %.100s lacks %s", library,
			!n->api.init            ? "nvmlInit_v2"
				: !n->api.count ? "nvmlDeviceGetCount_v2"
						: "nvmlDeviceGetHandleByIndex_v2");
	return 0;
}

static int fail(struct gt_nvml *n, const char *function, int code, struct gt_err *err)
{
	char words[120];

	return gt_err_set(err, -EIO, "-e nvml: %s fails with %s", function,
		gt_nvml_error_text(n, code, words, sizeof(words)));
}

/* The simulator has the marker in its file name, device names and versions. One is enough. */
static void note_simulated(struct gt_nvml *n, const char *text)
{
	n->simulated |= strcasestr(text, "simulated") != NULL;
}

static void read_properties(struct gt_nvml *n, struct gt_nvml_device *d)
{
	struct nvml_memory m = { 0 };
	struct nvml_pci pci = { .bus_id = "" };

	if (CALL(n->api.name, d->h, d->name, TEXT))
		d->name[0] = 0;
	if (CALL(n->api.uuid, d->h, d->uuid, TEXT))
		d->uuid[0] = 0;
	d->name[TEXT - 1] = d->uuid[TEXT - 1] = 0;
	if (!CALL(n->api.pci, d->h, &pci))
		memcpy(d->bus_id, pci.bus_id, sizeof(pci.bus_id));
	if (!CALL(n->api.memory, d->h, &m))
		d->memory = m.total;
	note_simulated(n, d->name);
}

static int list_devices(struct gt_nvml *n, struct gt_err *err)
{
	unsigned count = 0, errors = 0;
	int code = n->api.count(&count);

	if (code)
		return fail(n, "nvmlDeviceGetCount_v2", code, err);
	if (!count)
		return gt_err_set(err, -ENODEV, "-e nvml: NVML reports no device");
	n->ndevices = count < DEVICES_MAX ? count : DEVICES_MAX;
	n->devices = calloc(n->ndevices, sizeof(*n->devices));
	if (!n->devices)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n->ndevices; i++) {
		struct gt_nvml_device *d = &n->devices[i];

		d->track = GT_NONE;
		d->error = n->api.handle(i, &d->h);
		if (!d->error)
			read_properties(n, d);
		else
			errors++;
	}
	return errors < n->ndevices
		? 0
		: fail(n, "nvmlDeviceGetHandleByIndex_v2", n->devices[0].error, err);
}

static int init_library(struct gt_nvml *n, struct gt_err *err)
{
	int code = n->api.init();

	if (code)
		return fail(n, "nvmlInit_v2", code, err);
	n->started = true;
	if (CALL(n->api.driver, n->driver, TEXT))
		n->driver[0] = 0;
	if (CALL(n->api.version, n->version, TEXT))
		n->version[0] = 0;
	n->driver[TEXT - 1] = n->version[TEXT - 1] = 0;
	note_simulated(n, n->driver);
	note_simulated(n, n->version);
	return list_devices(n, err);
}

int gt_nvml_load(struct gt_nvml *n, const char *library, struct gt_err *err)
{
	bool before[FDS];
	int code;

	list_open_fds(before);
	code = load(n, library, err);
	if (!code)
		code = init_library(n, err);
	if (!code)
		close_new_on_exec(before);
	return code;
}
