/* Device counters, sampled. NVML is loaded in gtcollect, and never in the traced program: the
 * counters are those of the machine's GPUs, whichever process uses them.
 *
 * An NVML query takes from microseconds to tens of milliseconds, at times much longer. The recorder
 * must not wait so long. So a thread of its own makes the queries and puts the values into a
 * bounded queue. The recorder's thread takes them from there at its passes and writes rows. A full
 * queue drops the newest values and counts them. The time of a value is the middle of its query.
 *
 * A value is written when it has changed, and at least once a second, so that a reader of one epoch
 * need not read earlier epochs. If a device does not have a counter (NVML_ERROR_NOT_SUPPORTED and
 * similar), the counter is refused and not queried again. Any other error may be temporary: the
 * value is lost in this round, and the next round queries it again.
 *
 * NVIDIA's nvml.h is not needed: the few functions are declared below. They do not change, because
 * NVML gives a new signature a new name (_v2). */
#define _GNU_SOURCE
#include "collect/source/nvml.h"
#include "collect/source/source.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "collect/ipc/guest_server.h"
#include "formats/base/numbers.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"
#include "formats/io/json_build.h"

#define LIBRARY "libnvidia-ml.so.1"
#define SECOND 1000000000LL       /* ns */
#define QUEUE 8192u               /* values; a power of two */
#define STOP_TIMEOUT (5 * SECOND) /* for a query that runs when recording ends */
#define DEVICES_MAX 256u
#define TEXT 96 /* bytes; NVML's longest strings fit */
#define INTERVAL_MIN 1000000LL
#define INTERVAL_MAX 3600000000000LL

static int64_t interval_option = 100000000LL;
static const struct gt_opt options[] = {
	{ 0, "nvml-interval", GT_OPT_NS, &interval_option, "TIME",
		"interval of the NVML counters (100ms)", NULL },
};

static int check_options(struct gt_err *err)
{
	return interval_option >= INTERVAL_MIN && interval_option <= INTERVAL_MAX
		? 0
		: gt_err_set(err, -EINVAL, "--nvml-interval must lie between 1ms and 3600s");
}

/* ---- declarations of NVML ---- */

struct nvml_memory {
	unsigned long long total, free, used; /* bytes */
};
/* percent of NVML's last sampling period (up to 1 s) in which the GPU, or its memory, was busy */
struct nvml_utilization {
	unsigned gpu, memory;
};
/* "00000000:3B:00.0" */
struct nvml_pci {
	char legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};
_Static_assert(sizeof(struct nvml_memory) == 24 && sizeof(struct nvml_utilization) == 8,
	"nvmlMemory_t, nvmlUtilization_t");
_Static_assert(
	sizeof(struct nvml_pci) == 68 && offsetof(struct nvml_pci, bus_id) == 36, "nvmlPciInfo_t");
/* of nvmlReturn_t; 0 is success */
enum { NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4, NVML_FUNCTION_NOT_FOUND = 13 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };
typedef struct nvmlDevice_st *nvml_device;

/* clang-format off */
#define FUNCTIONS(X) /* all return nvmlReturn_t, which is an int */ \
	X(init, nvmlInit_v2, (void)) \
	X(shutdown, nvmlShutdown, (void)) \
	X(driver, nvmlSystemGetDriverVersion, (char *to, unsigned size)) \
	X(version, nvmlSystemGetNVMLVersion, (char *to, unsigned size)) \
	X(count, nvmlDeviceGetCount_v2, (unsigned *n)) \
	X(handle, nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvml_device *d)) \
	X(name, nvmlDeviceGetName, (nvml_device d, char *to, unsigned size)) \
	X(uuid, nvmlDeviceGetUUID, (nvml_device d, char *to, unsigned size)) \
	X(pci, nvmlDeviceGetPciInfo_v3, (nvml_device d, struct nvml_pci * pci)) \
	X(memory, nvmlDeviceGetMemoryInfo, (nvml_device d, struct nvml_memory * m)) \
	X(utilization, nvmlDeviceGetUtilizationRates, \
		(nvml_device d, struct nvml_utilization * u)) \
	X(clock, nvmlDeviceGetClockInfo, (nvml_device d, int which, unsigned *mhz)) \
	X(power, nvmlDeviceGetPowerUsage, (nvml_device d, unsigned *mw)) \
	X(temperature, nvmlDeviceGetTemperature, (nvml_device d, int sensor, unsigned *celsius)) \
	X(reasons, nvmlDeviceGetCurrentClocksEventReasons, \
		(nvml_device d, unsigned long long *bits)) \
	X(old_reasons, nvmlDeviceGetCurrentClocksThrottleReasons, /* before driver 535 */ \
		(nvml_device d, unsigned long long *bits))
/* clang-format on */
struct nvml_api {
#define X(field, symbol, args) int(*field) args;
	FUNCTIONS(X)
#undef X
	const char *(*error_string)(int code);
};

/* ---- state ---- */

/* The last value that was put into the queue. */
struct queued_value {
	bool valid;
	uint64_t value;
	int64_t time;
};
struct device {
	nvml_device h;
	char name[TEXT], uuid[TEXT], bus_id[33];
	uint64_t memory; /* bytes; 0 unknown */
	int error;       /* NVML gives no handle of the device: its error code; or 0 */
	/* error code of a counter that the device does not have, or 0; written under the lock */
	int refused[GT_NVML_COUNTER_COUNT];
	struct queued_value last[GT_NVML_COUNTER_COUNT]; /* used by the sampling thread only */
	uint32_t track;                                  /* used by the writing thread only */
};
struct value {
	int64_t time;
	uint64_t value;
	uint32_t device, counter;
};
struct loss {
	uint64_t count;
	int64_t from, to;
};

struct gt_nvml {
	struct nvml_api api;
	bool started, simulated;
	char driver[TEXT], version[TEXT];
	uint32_t ndevices;
	struct device *devices;
	int64_t interval, from, until;
	pthread_t thread;
	pthread_mutex_t lock;
	/* under the lock */
	pthread_cond_t changed; /* stop or done has been set */
	bool stop, done;
	struct value queue[QUEUE];
	uint64_t head, tail;    /* values taken from the queue, values put into it */
	struct loss unreported; /* lost or failed values that are not in the file yet */
	uint64_t lost, failed, rounds, skipped, refusals;
	int last_failure;
	/* used by the writing thread only */
	bool running, stuck;
	uint32_t source, types[GT_NVML_COUNTER_COUNT];
	int64_t losses_written_at;
	uint64_t values, refusals_written;
};

static const struct {
	const char *name;
	uint8_t kind;
} counters[] = {
#define X(e, word, as) { #word, GT_F_##as },
	GT_NVML_COUNTERS(X)
#undef X
};

/* ---- queries ---- */

#define CALL(fn, ...) ((fn) ? (fn)(__VA_ARGS__) : NVML_FUNCTION_NOT_FOUND)

static int query_memory(const struct nvml_api *a, nvml_device d, uint64_t *v)
{
	struct nvml_memory m = { 0 };
	int code = CALL(a->memory, d, &m);

	v[0] = m.used;
	return code;
}

static int query_utilization(const struct nvml_api *a, nvml_device d, uint64_t *v)
{
	struct nvml_utilization u = { 0 };
	int code = CALL(a->utilization, d, &u);

	v[0] = u.gpu;
	v[1] = u.memory;
	return code;
}

#define QUERY_ONE(what, type, ...)                                                                 \
	static int query_##what(const struct nvml_api *a, nvml_device d, uint64_t *v)              \
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

static const struct query {
	int (*query)(const struct nvml_api *a, nvml_device d, uint64_t *v);
	uint8_t counter, n; /* the first counter that it gives, and how many */
} queries[] = {
	{ query_memory, GT_NVML_MEMORY_USED, 1 },
	{ query_utilization, GT_NVML_UTILIZATION, 2 },
	{ query_sm_clock, GT_NVML_SM_CLOCK, 1 },
	{ query_memory_clock, GT_NVML_MEMORY_CLOCK, 1 },
	{ query_power, GT_NVML_POWER, 1 },
	{ query_temperature, GT_NVML_TEMPERATURE, 1 },
	{ query_reasons, GT_NVML_THROTTLE, 1 },
};
#define QUERIES (sizeof(queries) / sizeof(*queries))

static bool is_final(int code)
{
	return code == NVML_NOT_SUPPORTED || code == NVML_NO_PERMISSION ||
		code == NVML_FUNCTION_NOT_FOUND;
}

/* "3 (Not Supported)" */
static const char *error_text(const struct gt_nvml *n, int code, char *to, size_t size)
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

static void look_up(struct nvml_api *a, void *library)
{
	static const struct {
		const char *symbol;
		size_t at;
	} all[] = {
#define X(field, symbol, args) { #symbol, offsetof(struct nvml_api, field) },
		FUNCTIONS(X)
#undef X
			{ "nvmlErrorString", offsetof(struct nvml_api, error_string) },
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
		error_text(n, code, words, sizeof(words)));
}

/* The simulator has the marker in its file name, device names and versions. One is enough. */
static void note_simulated(struct gt_nvml *n, const char *text)
{
	n->simulated |= strcasestr(text, "simulated") != NULL;
}

static void read_properties(struct gt_nvml *n, struct device *d)
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
		struct device *d = &n->devices[i];

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

static void close_nvml(void *state);

struct gt_nvml *gt_nvml_open(const char *library, struct gt_err *err)
{
	struct gt_nvml *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;
	bool before[FDS];

	if (!n) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->changed, &attr);
	pthread_condattr_destroy(&attr);
	n->source = GT_NONE;
	n->refusals = 1; /* so that the first metadata counts as changed */
	for (unsigned i = 0; i < GT_NVML_COUNTER_COUNT; i++)
		n->types[i] = GT_NONE;
	list_open_fds(before);
	if (load(n, library ? library : LIBRARY, err) || init_library(n, err)) {
		close_nvml(n);
		return NULL;
	}
	close_new_on_exec(before);
	return n;
}

static void *open_nvml(struct gt_err *err) { return gt_nvml_open(NULL, err); }

/* ---- the thread ---- */

static void add_loss(struct gt_nvml *n, int64_t time, uint64_t count)
{
	if (!n->unreported.count)
		n->unreported.from = time;
	n->unreported.to = time;
	n->unreported.count += count;
}

/* Would the next round be too late to write the value within a second of the last time? A round may
 * be half an interval late. */
static bool must_repeat(const struct gt_nvml *n, const struct queued_value *last, int64_t time)
{
	return time + n->interval + n->interval / 2 > last->time + SECOND;
}

static void enqueue(
	struct gt_nvml *n, uint32_t device, unsigned counter, int64_t time, uint64_t value)
{
	struct queued_value *last = &n->devices[device].last[counter];
	bool has_space;

	if (last->valid && last->value == value && !must_repeat(n, last, time))
		return;
	pthread_mutex_lock(&n->lock);
	has_space = n->tail - n->head < QUEUE;
	if (has_space) {
		n->queue[n->tail++ % QUEUE] = (struct value){ time, value, device, counter };
	} else {
		add_loss(n, time, 1);
		n->lost++;
	}
	pthread_mutex_unlock(&n->lock);
	*last = (struct queued_value){ has_space, value, time };
}

/* The query failed: the value that was put into the queue last is not valid any more. */
static void note_error(
	struct gt_nvml *n, struct device *d, const struct query *q, int code, int64_t time)
{
	pthread_mutex_lock(&n->lock);
	for (unsigned i = 0; i < q->n; i++) {
		d->last[q->counter + i].valid = false;
		if (is_final(code))
			d->refused[q->counter + i] = code;
	}
	if (is_final(code)) {
		n->refusals++;
	} else {
		n->failed += q->n;
		n->last_failure = code;
		add_loss(n, time, q->n);
	}
	pthread_mutex_unlock(&n->lock);
}

static bool must_stop(struct gt_nvml *n)
{
	bool stop;

	pthread_mutex_lock(&n->lock);
	stop = n->stop && n->rounds;
	pthread_mutex_unlock(&n->lock);
	return stop;
}

/* Makes all queries to all devices. When recording ends, only the first round is finished. */
static void sample_all(struct gt_nvml *n)
{
	uint64_t v[2];

	for (uint32_t i = 0; i < n->ndevices; i++) {
		struct device *d = &n->devices[i];

		for (size_t k = 0; !d->error && k < QUERIES; k++) {
			const struct query *q = &queries[k];
			int64_t time;
			int code;

			if (d->refused[q->counter])
				continue;
			if (must_stop(n))
				return;
			time = gt_clock_monotonic();
			code = q->query(&n->api, d->h, v);
			time += (gt_clock_monotonic() - time) / 2;
			for (unsigned c = 0; !code && c < q->n; c++)
				enqueue(n, i, q->counter + c, time, v[c]);
			if (code)
				note_error(n, d, q, code, time);
		}
	}
	pthread_mutex_lock(&n->lock);
	n->rounds++;
	pthread_mutex_unlock(&n->lock);
}

/* Waits under the lock until stop or done is set, or until the time. */
static void wait_for_change(struct gt_nvml *n, int64_t until)
{
	struct timespec t = { until / SECOND, until % SECOND };

	pthread_cond_timedwait(&n->changed, &n->lock, &t);
}

/* Waits until a round is due. False: recording ends. The first round is made nevertheless if it is
 * due. */
static bool wait_for_round(struct gt_nvml *n, int64_t due)
{
	bool go;

	pthread_mutex_lock(&n->lock);
	while (!n->stop && gt_clock_monotonic() < due)
		wait_for_change(n, due);
	go = n->stop ? !n->rounds && gt_clock_monotonic() >= due : true;
	pthread_mutex_unlock(&n->lock);
	return go;
}

/* Deadlines are multiples of the interval. Those that a slow round missed are skipped. */
static int64_t next_deadline(struct gt_nvml *n, int64_t due)
{
	int64_t late = gt_clock_monotonic() - (due += n->interval);
	int64_t skipped = late < 0 ? 0 : late / n->interval + 1;

	pthread_mutex_lock(&n->lock);
	n->skipped += (uint64_t)skipped;
	pthread_mutex_unlock(&n->lock);
	return due + skipped * n->interval;
}

static void *sample(void *arg)
{
	struct gt_nvml *n = arg;
	int64_t now = gt_clock_monotonic(), due = n->from > now ? n->from : now;

	while ((!n->until || due < n->until) && wait_for_round(n, due)) {
		sample_all(n);
		due = next_deadline(n, due);
	}
	pthread_mutex_lock(&n->lock);
	n->done = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

int gt_nvml_start(
	struct gt_nvml *n, int64_t interval, int64_t from, int64_t until, struct gt_err *err)
{
	sigset_t all, before;
	int code;

	n->interval = interval;
	n->from = from;
	n->until = until;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the main thread handles signals */
	code = pthread_create(&n->thread, NULL, sample, n);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code)
		return gt_err_set(err, -code, "-e nvml: cannot start a thread: %s", strerror(code));
	pthread_setname_np(n->thread, "gt-nvml");
	n->running = true;
	return 0;
}

static int start(void *state, int64_t from, int64_t until, struct gt_err *err)
{
	return gt_nvml_start(state, interval_option, from, until, err);
}

static void stop(void *state)
{
	int64_t timeout = gt_clock_monotonic() + STOP_TIMEOUT;
	struct gt_nvml *n = state;

	if (!n->running)
		return;
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_broadcast(&n->changed);
	while (!n->done && gt_clock_monotonic() < timeout)
		wait_for_change(n, timeout);
	n->stuck = !n->done;
	pthread_mutex_unlock(&n->lock);
	if (n->stuck)
		pthread_detach(n->thread);
	else
		pthread_join(n->thread, NULL);
	n->running = false;
}

static void close_nvml(void *state)
{
	struct gt_nvml *n = state;

	stop(n);
	if (n->stuck)
		return; /* its thread may return from the query and use this state */
	if (n->started && n->api.shutdown)
		n->api.shutdown();
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n->devices);
	free(n);
}

/* ---- rows ---- */

static void make_track(struct gt_nvml *n, struct gt_writer *w, uint32_t i)
{
	struct device *d = &n->devices[i];
	struct gt_track track = {
		.parent = GT_NONE, .name = GT_NONE, .kind = GT_TRACK_DEVICE, .id = i, .ns_id = i
	};

	if (n->source == GT_NONE)
		n->source = gt_writer_string(w, "nvml");
	track.source = n->source;
	if (d->name[0])
		track.name = gt_writer_string(w, d->name);
	d->track = gt_writer_track(w, &track);
}

static void make_type(struct gt_nvml *n, struct gt_writer *w, unsigned counter)
{
	struct gt_field field = { gt_writer_string(w, "value"), counters[counter].kind,
		GT_R_VALUE };
	struct gt_type type = { .name = gt_writer_string(w, counters[counter].name),
		.category = GT_CAT_OTHER,
		.layer = GT_LAYER_GPU,
		.nfields = 1,
		.fields = &field };

	n->types[counter] = gt_writer_type(w, &type);
}

static int write_value(
	struct gt_nvml *n, struct gt_writer *w, const struct value *v, struct gt_err *err)
{
	struct gt_row row = { .start = v->time, .end = v->time, .nargs = 1 };

	if (n->devices[v->device].track == GT_NONE)
		make_track(n, w, v->device);
	if (n->types[v->counter] == GT_NONE)
		make_type(n, w, v->counter);
	row.type = n->types[v->counter];
	n->values++;
	return gt_writer_row(w, GT_COUNTER, n->devices[v->device].track, &row, &v->value, err);
}

static int write_losses(struct gt_nvml *n, struct gt_writer *w, struct gt_err *err)
{
	int64_t now = gt_clock_monotonic();
	struct loss l;

	if (n->running && now - n->losses_written_at < SECOND)
		return 0;
	pthread_mutex_lock(&n->lock);
	l = n->unreported;
	n->unreported.count = 0;
	pthread_mutex_unlock(&n->lock);
	if (!l.count)
		return 0;
	n->losses_written_at = now;
	return gt_writer_loss(w, GT_SCOPE_DEVICE, GT_NONE, l.from, l.to, l.count, err);
}

static int64_t drain(void *state, struct gt_writer *w, struct gt_err *err)
{
	struct gt_nvml *n = state;
	struct value some[64];
	uint64_t got, before = n->values;
	int code = 0;

	do {
		pthread_mutex_lock(&n->lock);
		for (got = 0; got < sizeof(some) / sizeof(*some) && n->head < n->tail; got++)
			some[got] = n->queue[n->head++ % QUEUE];
		pthread_mutex_unlock(&n->lock);
		for (uint64_t i = 0; !code && i < got; i++)
			code = write_value(n, w, &some[i], err);
	} while (!code && got);
	if (!code)
		code = write_losses(n, w, err);
	return code ? code : (int64_t)(n->values - before);
}

/* ---- reports ---- */

void gt_nvml_totals(struct gt_nvml *n, struct gt_nvml_totals *t)
{
	pthread_mutex_lock(&n->lock);
	*t = (struct gt_nvml_totals){ .values = n->values,
		.lost = n->lost,
		.failed = n->failed,
		.rounds = n->rounds,
		.skipped = n->skipped,
		.devices = n->ndevices,
		.stuck = n->stuck };
	pthread_mutex_unlock(&n->lock);
}

static void totals(void *state, struct gt_source_totals *t)
{
	struct gt_nvml *n = state;
	struct gt_nvml_totals all;

	gt_nvml_totals(n, &all);
	*t = (struct gt_source_totals){ .rows = all.values,
		.lost = all.lost,
		.failed = all.failed,
		.simulated = n->simulated };
}

static bool metadata_changed(void *state)
{
	struct gt_nvml *n = state;
	bool changed;

	pthread_mutex_lock(&n->lock);
	changed = n->refusals != n->refusals_written;
	pthread_mutex_unlock(&n->lock);
	return changed;
}

static void put_text(json_t *o, const char *key, const char *s)
{
	if (*s)
		json_object_set_new(o, key, gt_json_text(s, strlen(s)));
}

static json_t *device_json(const struct gt_nvml *n, uint32_t i)
{
	const struct device *d = &n->devices[i];
	json_t *o = json_object(), *refused = json_array();
	char words[120];

	json_object_set_new(o, "index", json_integer(i));
	put_text(o, "name", d->name);
	put_text(o, "uuid", d->uuid);
	if (d->memory)
		json_object_set_new(o, "memory_bytes", json_integer((int64_t)d->memory));
	put_text(o, "pci_bus_id", d->bus_id);
	for (unsigned c = 0; c < GT_NVML_COUNTER_COUNT; c++)
		if (d->refused[c])
			json_array_append_new(
				refused, gt_json_text(counters[c].name, strlen(counters[c].name)));
	json_object_set_new(o, "refused", refused);
	if (d->error)
		put_text(o, "error", error_text(n, d->error, words, sizeof(words)));
	return o;
}

/* One JSON object with the key "nvml": driver_version, version, interval_ns, simulated, devices
 * (index, name, uuid, memory_bytes, pci_bus_id, refused, error), rounds, skipped_rounds, values,
 * lost_values, failed_values. */
static char *metadata(void *state)
{
	json_t *all = json_object(), *o = json_object(), *devices = json_array();
	struct gt_nvml *n = state;

	pthread_mutex_lock(&n->lock);
	n->refusals_written = n->refusals;
	put_text(o, "driver_version", n->driver);
	put_text(o, "version", n->version);
	json_object_set_new(o, "interval_ns", json_integer(n->interval));
	json_object_set_new(o, "simulated", json_boolean(n->simulated));
	for (uint32_t i = 0; i < n->ndevices; i++)
		json_array_append_new(devices, device_json(n, i));
	json_object_set_new(o, "rounds", json_integer((int64_t)n->rounds));
	json_object_set_new(o, "skipped_rounds", json_integer((int64_t)n->skipped));
	json_object_set_new(o, "values", json_integer((int64_t)n->values));
	json_object_set_new(o, "lost_values", json_integer((int64_t)n->lost));
	json_object_set_new(o, "failed_values", json_integer((int64_t)n->failed));
	pthread_mutex_unlock(&n->lock);
	json_object_set_new(o, "devices", devices);
	json_object_set_new(all, "nvml", o);
	return gt_json_finish(all);
}

static void report(void *state, const char *program, FILE *to)
{
	struct gt_nvml *n = state;
	char words[120];

	pthread_mutex_lock(&n->lock);
	for (uint32_t i = 0; i < n->ndevices; i++) {
		const struct device *d = &n->devices[i];

		if (d->error)
			gt_message(to, program, "nvml: device %u cannot be queried: %s", i,
				error_text(n, d->error, words, sizeof(words)));
		for (unsigned c = 0; c < GT_NVML_COUNTER_COUNT; c++)
			if (d->refused[c])
				gt_message(to, program, "nvml: device %u (%s) has no %s: %s", i,
					d->name, counters[c].name,
					error_text(n, d->refused[c], words, sizeof(words)));
	}
	if (n->failed)
		gt_message(to, program,
			"nvml: %" PRIu64 " value%s could not be read, the last one because of %s",
			n->failed, gt_plural(n->failed, "s"),
			error_text(n, n->last_failure, words, sizeof(words)));
	if (n->stuck)
		gt_message(to, program, "nvml: the driver did not return from the last query");
	pthread_mutex_unlock(&n->lock);
}

static bool doctor(FILE *to)
{
	struct gt_err err = GT_ERR_INIT;
	const struct gt_nvml *n = gt_nvml_open(NULL, &err);

	if (!n) {
		fputs(err.text, to);
		return false;
	}
	fprintf(to, "the counters of %u device%s, %s; driver %s", n->ndevices,
		gt_plural(n->ndevices, "s"),
		n->devices[0].name[0] ? n->devices[0].name : "without a name",
		n->driver[0] ? n->driver : "unknown");
	return true;
}

const struct gt_source gt_source_nvml = {
	.name = "nvml",
	.needs = "NVML, which comes with the NVIDIA driver",
	.with_inject = true,
	.options = options,
	.noptions = sizeof(options) / sizeof(*options),
	.check_options = check_options,
	.unit = "counter value",
	.open = open_nvml,
	.start = start,
	.drain = drain,
	.stop = stop,
	.metadata = metadata,
	.metadata_changed = metadata_changed,
	.totals = totals,
	.report = report,
	.doctor = doctor,
	.close = close_nvml,
};
