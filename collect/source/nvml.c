/* Device counters, sampled. NVML is loaded in gtcollect, and never in the traced program: the
 * counters are those of the machine's GPUs, whichever process uses them.
 *
 * A question to NVML takes from microseconds to tens of milliseconds, at times much longer, and
 * the recorder must not wait so long. So a thread asks, and puts the answers in a bounded queue,
 * from which the recorder's thread makes rows at its passes. A full queue drops the newest
 * values and counts them. The time of a value is the middle of its question.
 *
 * A value is written when it changed, and once a second in any case, so that a reader of one
 * epoch need not read the epochs before. A counter that a device does not have is refused
 * (NVML_ERROR_NOT_SUPPORTED and the like) and not asked for again. Any other error may be
 * temporary: the value is missing in this round, which is a loss, and is asked for in the next
 * round.
 *
 * nvml.h is not needed: the few functions are declared below. They do not change, because NVML
 * gives a new signature a new name (_v2). */
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
#include "formats/text/printable.h"
#include "formats/trace/clock.h"
#include "formats/io/json_build.h"

#define LIBRARY "libnvidia-ml.so.1"
#define SECOND 1000000000LL   /* ns */
#define QUEUE 8192u           /* values; a power of two */
#define PATIENCE (5 * SECOND) /* with a driver that does not come back, at the end */
#define DEVICES_MAX 256u
#define TEXT 96 /* what NVML's longest strings need */

/* ---- NVML as it is, by hand: names, structs, numbers ---- */

struct nvml_memory {
	unsigned long long total, free, used;
}; /* bytes */
/* percent of its own last period (up to 1 s) in which it was busy */
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
	X(utilization, nvmlDeviceGetUtilizationRates, (nvml_device d, struct nvml_utilization * u)) \
	X(clock, nvmlDeviceGetClockInfo, (nvml_device d, int which, unsigned *mhz)) \
	X(power, nvmlDeviceGetPowerUsage, (nvml_device d, unsigned *mw)) \
	X(temperature, nvmlDeviceGetTemperature, (nvml_device d, int sensor, unsigned *celsius)) \
	X(reasons, nvmlDeviceGetCurrentClocksEventReasons, (nvml_device d, unsigned long long *bits)) \
	X(old_reasons, nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device d, unsigned long long *bits)) \
	/* before driver 535 */
/* clang-format on */
struct nvml_api {
#define X(field, symbol, args) int(*field) args;
	FUNCTIONS(X)
#undef X
	const char *(*words)(int code); /* nvmlErrorString */
};

/* ---- what we keep ---- */

struct seen {
	bool known;
	uint64_t value;
	int64_t time;
}; /* what the queue took last */
struct device {
	nvml_device h;
	char name[TEXT], uuid[TEXT], bus_id[33];
	uint64_t memory; /* bytes; 0 unknown */
	int error;       /* why it cannot be asked at all, or 0 */
	/* why it has no such value, or 0; written under the lock */
	int refused[GT_NVML_COUNTER_COUNT];
	struct seen seen[GT_NVML_COUNTER_COUNT]; /* the thread's */
	uint32_t track;                          /* the writer's */
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
	/* the thread and its shared state, all under the lock */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t turn; /* something that is waited for has come */
	bool stop, done;
	struct value queue[QUEUE];
	uint64_t head, tail; /* values taken, values put */
	struct loss missing; /* not yet reported; lost or failed */
	uint64_t lost, failed, rounds, skipped, refusals;
	int last_failure;
	/* the writer's */
	bool running, stuck;
	uint32_t source, types[GT_NVML_COUNTER_COUNT];
	int64_t told;
	uint64_t values, refusals_told;
};

static const struct {
	const char *name;
	uint8_t kind;
} counters[] = {
#define X(e, word, as) { #word, GT_F_##as },
	GT_NVML_COUNTERS(X)
#undef X
};

/* ---- questions ---- */

#define ASK(fn, ...) ((fn) ? (fn)(__VA_ARGS__) : NVML_FUNCTION_NOT_FOUND)

static int ask_memory(const struct nvml_api *a, nvml_device d, uint64_t *v)
{
	struct nvml_memory m = { 0 };
	int code = ASK(a->memory, d, &m);

	v[0] = m.used;
	return code;
}

static int ask_utilization(const struct nvml_api *a, nvml_device d, uint64_t *v)
{
	struct nvml_utilization u = { 0 };
	int code = ASK(a->utilization, d, &u);

	v[0] = u.gpu;
	v[1] = u.memory;
	return code;
}

#define ASK_ONE(what, type, ...)                                                                   \
	static int ask_##what(const struct nvml_api *a, nvml_device d, uint64_t *v)                \
	{                                                                                          \
		type one = 0;                                                                      \
		int code = ASK(__VA_ARGS__, &one);                                                 \
                                                                                                   \
		v[0] = one;                                                                        \
		return code;                                                                       \
	}
ASK_ONE(sm_clock, unsigned, a->clock, d, NVML_CLOCK_SM)
ASK_ONE(memory_clock, unsigned, a->clock, d, NVML_CLOCK_MEM)
ASK_ONE(power, unsigned, a->power, d)
ASK_ONE(temperature, unsigned, a->temperature, d, NVML_TEMPERATURE_GPU)
ASK_ONE(reasons, unsigned long long, a->reasons ? a->reasons : a->old_reasons, d)

static const struct question {
	int (*ask)(const struct nvml_api *a, nvml_device d, uint64_t *v);
	uint8_t counter, n; /* the first it answers, and how many */
} questions[] = {
	{ ask_memory, GT_NVML_MEMORY_USED, 1 },
	{ ask_utilization, GT_NVML_UTILIZATION, 2 },
	{ ask_sm_clock, GT_NVML_SM_CLOCK, 1 },
	{ ask_memory_clock, GT_NVML_MEMORY_CLOCK, 1 },
	{ ask_power, GT_NVML_POWER, 1 },
	{ ask_temperature, GT_NVML_TEMPERATURE, 1 },
	{ ask_reasons, GT_NVML_THROTTLE, 1 },
};
#define QUESTIONS (sizeof(questions) / sizeof(*questions))

static bool is_final(int code)
{
	return code == NVML_NOT_SUPPORTED || code == NVML_NO_PERMISSION ||
		code == NVML_FUNCTION_NOT_FOUND;
}

/* "3 (Not Supported)" */
static const char *in_words(const struct gt_nvml *n, int code, char *to, size_t size)
{
	const char *words = n->api.words ? n->api.words(code) : NULL;

	snprintf(to, size, words ? "%d (%.80s)" : "%d", code, words);
	return to;
}

/* ---- opening ---- */

#define FDS 1024

static void each_open(bool *open)
{
	for (int fd = 0; fd < FDS; fd++)
		open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* What NVML opened is none of the program's business. */
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
			{ "nvmlErrorString", offsetof(struct nvml_api, words) },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		void *f = dlsym(library, all[i].symbol);

		memcpy((char *)a + all[i].at, &f, sizeof(f));
	}
}

/* The library stays mapped for good: a driver's library may have threads, and to unload it would
 * gain nothing. */
static int load(struct gt_nvml *n, const char *library, struct gt_err *err)
{
	void *h = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map = NULL;

	if (!h)
		return gt_err_set(err, -ENOENT, "-e nvml: %.150s (it comes with the NVIDIA driver)",
			dlerror());
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
		in_words(n, code, words, sizeof(words)));
}

/* The marker is in the simulator's file, its names and versions, and is believed wherever it is. */
static void note_simulated(struct gt_nvml *n, const char *text)
{
	n->simulated |= strcasestr(text, "simulated") != NULL;
}

static void describe(struct gt_nvml *n, struct device *d)
{
	struct nvml_memory m = { 0 };
	struct nvml_pci pci = { .bus_id = "" };

	if (ASK(n->api.name, d->h, d->name, TEXT))
		d->name[0] = 0;
	if (ASK(n->api.uuid, d->h, d->uuid, TEXT))
		d->uuid[0] = 0;
	d->name[TEXT - 1] = d->uuid[TEXT - 1] = 0;
	if (!ASK(n->api.pci, d->h, &pci))
		memcpy(d->bus_id, pci.bus_id, sizeof(pci.bus_id));
	if (!ASK(n->api.memory, d->h, &m))
		d->memory = m.total;
	note_simulated(n, d->name);
}

static int list_devices(struct gt_nvml *n, struct gt_err *err)
{
	unsigned count = 0, dead = 0;
	int code = n->api.count(&count);

	if (code)
		return fail(n, "nvmlDeviceGetCount_v2", code, err);
	if (!count)
		return gt_err_set(err, -ENODEV, "-e nvml: NVML knows of no device");
	n->ndevices = count < DEVICES_MAX ? count : DEVICES_MAX;
	n->devices = calloc(n->ndevices, sizeof(*n->devices));
	if (!n->devices)
		return gt_err_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n->ndevices; i++) {
		struct device *d = &n->devices[i];

		d->track = GT_NONE;
		d->error = n->api.handle(i, &d->h);
		if (!d->error)
			describe(n, d);
		else
			dead++;
	}
	return dead < n->ndevices
		? 0
		: fail(n, "nvmlDeviceGetHandleByIndex_v2", n->devices[0].error, err);
}

static int start(struct gt_nvml *n, struct gt_err *err)
{
	int code = n->api.init();

	if (code)
		return fail(n, "nvmlInit_v2", code, err);
	n->started = true;
	if (ASK(n->api.driver, n->driver, TEXT))
		n->driver[0] = 0;
	if (ASK(n->api.version, n->version, TEXT))
		n->version[0] = 0;
	n->driver[TEXT - 1] = n->version[TEXT - 1] = 0;
	note_simulated(n, n->driver);
	note_simulated(n, n->version);
	return list_devices(n, err);
}

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
	pthread_cond_init(&n->turn, &attr);
	pthread_condattr_destroy(&attr);
	n->source = GT_NONE;
	n->refusals = 1; /* news: what there is at all */
	for (unsigned i = 0; i < GT_NVML_COUNTER_COUNT; i++)
		n->types[i] = GT_NONE;
	each_open(before);
	if (load(n, library ? library : LIBRARY, err) || start(n, err)) {
		gt_nvml_close(n);
		return NULL;
	}
	close_new_on_exec(before);
	return n;
}

void gt_nvml_close(struct gt_nvml *n)
{
	if (!n)
		return;
	gt_nvml_stop(n);
	if (n->stuck)
		return; /* its thread may come back and look at all this */
	if (n->started && n->api.shutdown)
		n->api.shutdown();
	pthread_cond_destroy(&n->turn);
	pthread_mutex_destroy(&n->lock);
	free(n->devices);
	free(n);
}

/* ---- the thread ---- */

static void miss(struct gt_nvml *n, int64_t time, uint64_t count)
{
	if (!n->missing.count)
		n->missing.from = time;
	n->missing.to = time;
	n->missing.count += count;
}

/* Would the next round come too late to write the value within a second of the last time? Rounds
 * come a little late at times. */
static bool must_repeat(const struct gt_nvml *n, const struct seen *s, int64_t time)
{
	return time + n->interval + n->interval / 2 > s->time + SECOND;
}

static void offer(
	struct gt_nvml *n, uint32_t device, unsigned counter, int64_t time, uint64_t value)
{
	struct seen *s = &n->devices[device].seen[counter];
	bool room;

	if (s->known && s->value == value && !must_repeat(n, s, time))
		return;
	pthread_mutex_lock(&n->lock);
	room = n->tail - n->head < QUEUE;
	if (room) {
		n->queue[n->tail++ % QUEUE] = (struct value){ time, value, device, counter };
	} else {
		miss(n, time, 1);
		n->lost++;
	}
	pthread_mutex_unlock(&n->lock);
	*s = (struct seen){ room, value, time };
}

/* An error. The last known value is not valid any more. */
static void refuse(
	struct gt_nvml *n, struct device *d, const struct question *q, int code, int64_t time)
{
	pthread_mutex_lock(&n->lock);
	for (unsigned i = 0; i < q->n; i++) {
		d->seen[q->counter + i].known = false;
		if (is_final(code))
			d->refused[q->counter + i] = code;
	}
	if (is_final(code)) {
		n->refusals++;
	} else {
		n->failed += q->n;
		n->last_failure = code;
		miss(n, time, q->n);
	}
	pthread_mutex_unlock(&n->lock);
}

static bool stopped(struct gt_nvml *n)
{
	bool stop;

	pthread_mutex_lock(&n->lock);
	stop = n->stop && n->rounds;
	pthread_mutex_unlock(&n->lock);
	return stop;
}

/* Asks all devices everything. Only the first round is finished when the end has come. */
static void go_round(struct gt_nvml *n)
{
	uint64_t v[2];

	for (uint32_t i = 0; i < n->ndevices; i++) {
		struct device *d = &n->devices[i];

		for (size_t k = 0; !d->error && k < QUESTIONS; k++) {
			const struct question *q = &questions[k];
			int64_t time;
			int code;

			if (d->refused[q->counter])
				continue;
			if (stopped(n))
				return;
			time = gt_clock_monotonic();
			code = q->ask(&n->api, d->h, v);
			time += (gt_clock_monotonic() - time) / 2;
			for (unsigned c = 0; !code && c < q->n; c++)
				offer(n, i, q->counter + c, time, v[c]);
			if (code)
				refuse(n, d, q, code, time);
		}
	}
	pthread_mutex_lock(&n->lock);
	n->rounds++;
	pthread_mutex_unlock(&n->lock);
}

/* Waits under the lock until something has come, or the time. */
static void wait_turn(struct gt_nvml *n, int64_t until)
{
	struct timespec t = { until / SECOND, until % SECOND };

	pthread_cond_timedwait(&n->turn, &n->lock, &t);
}

/* False when there is to be no round any more. One that was due when the end came is made if it is
 * the first. */
static bool await(struct gt_nvml *n, int64_t due)
{
	bool go;

	pthread_mutex_lock(&n->lock);
	while (!n->stop && gt_clock_monotonic() < due)
		wait_turn(n, due);
	go = n->stop ? !n->rounds && gt_clock_monotonic() >= due : true;
	pthread_mutex_unlock(&n->lock);
	return go;
}

/* Rounds keep to the beat; what a slow one ran over is left out. */
static int64_t next_beat(struct gt_nvml *n, int64_t due)
{
	int64_t late = gt_clock_monotonic() - (due += n->interval);
	int64_t beats = late < 0 ? 0 : late / n->interval + 1;

	pthread_mutex_lock(&n->lock);
	n->skipped += (uint64_t)beats;
	pthread_mutex_unlock(&n->lock);
	return due + beats * n->interval;
}

static void *sample(void *arg)
{
	struct gt_nvml *n = arg;
	int64_t now = gt_clock_monotonic(), due = n->from > now ? n->from : now;

	while ((!n->until || due < n->until) && await(n, due)) {
		go_round(n);
		due = next_beat(n, due);
	}
	pthread_mutex_lock(&n->lock);
	n->done = true;
	pthread_cond_broadcast(&n->turn);
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
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
	code = pthread_create(&n->thread, NULL, sample, n);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code)
		return gt_err_set(err, -code, "-e nvml: cannot start a thread: %s", strerror(code));
	pthread_setname_np(n->thread, "gt-nvml");
	n->running = true;
	return 0;
}

void gt_nvml_stop(struct gt_nvml *n)
{
	int64_t patience = gt_clock_monotonic() + PATIENCE;

	if (!n->running)
		return;
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_broadcast(&n->turn);
	while (!n->done && gt_clock_monotonic() < patience)
		wait_turn(n, patience);
	n->stuck = !n->done;
	pthread_mutex_unlock(&n->lock);
	if (n->stuck)
		pthread_detach(n->thread);
	else
		pthread_join(n->thread, NULL);
	n->running = false;
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

static int write_missing(struct gt_nvml *n, struct gt_writer *w, struct gt_err *err)
{
	int64_t now = gt_clock_monotonic();
	struct loss l;

	if (n->running && now - n->told < SECOND)
		return 0;
	pthread_mutex_lock(&n->lock);
	l = n->missing;
	n->missing.count = 0;
	pthread_mutex_unlock(&n->lock);
	if (!l.count)
		return 0;
	n->told = now;
	return gt_writer_lost(w, GT_SCOPE_DEVICE, GT_NONE, l.from, l.to, l.count, err);
}

int64_t gt_nvml_write(struct gt_nvml *n, struct gt_writer *w, struct gt_err *err)
{
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
		code = write_missing(n, w, err);
	return code ? code : (int64_t)(n->values - before);
}

/* ---- reports ---- */

void gt_nvml_totals(struct gt_nvml *n, struct gt_nvml_totals *t)
{
	memset(t, 0, sizeof(*t));
	if (!n)
		return;
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

bool gt_nvml_simulated(const struct gt_nvml *n) { return n && n->simulated; }

bool gt_nvml_metadata_changed(struct gt_nvml *n)
{
	bool news;

	if (!n)
		return false;
	pthread_mutex_lock(&n->lock);
	news = n->refusals != n->refusals_told;
	pthread_mutex_unlock(&n->lock);
	return news;
}

static void put_text(struct gt_json *o, const char *key, const char *s)
{
	if (*s)
		gt_json_put(o, key, gt_json_text(s, strlen(s)));
}

static struct gt_json *device_json(const struct gt_nvml *n, uint32_t i)
{
	const struct device *d = &n->devices[i];
	struct gt_json *o = gt_json_object(), *refused = gt_json_array();
	char words[120];

	gt_json_put(o, "index", gt_json_int(i));
	put_text(o, "name", d->name);
	put_text(o, "uuid", d->uuid);
	if (d->memory)
		gt_json_put(o, "memory_bytes", gt_json_int((int64_t)d->memory));
	put_text(o, "pci_bus_id", d->bus_id);
	for (unsigned c = 0; c < GT_NVML_COUNTER_COUNT; c++)
		if (d->refused[c])
			gt_json_add(
				refused, gt_json_text(counters[c].name, strlen(counters[c].name)));
	gt_json_put(o, "refused", refused);
	if (d->error)
		put_text(o, "error", in_words(n, d->error, words, sizeof(words)));
	return o;
}

char *gt_nvml_metadata(struct gt_nvml *n)
{
	struct gt_json *all = gt_json_object(), *o = gt_json_object(), *devices = gt_json_array();

	if (n) {
		pthread_mutex_lock(&n->lock);
		n->refusals_told = n->refusals;
		put_text(o, "driver_version", n->driver);
		put_text(o, "version", n->version);
		gt_json_put(o, "interval_ns", gt_json_int(n->interval));
		gt_json_put(o, "simulated", gt_json_bool(n->simulated));
		for (uint32_t i = 0; i < n->ndevices; i++)
			gt_json_add(devices, device_json(n, i));
		gt_json_put(o, "rounds", gt_json_int((int64_t)n->rounds));
		gt_json_put(o, "skipped_rounds", gt_json_int((int64_t)n->skipped));
		gt_json_put(o, "values", gt_json_int((int64_t)n->values));
		gt_json_put(o, "lost_values", gt_json_int((int64_t)n->lost));
		gt_json_put(o, "failed_values", gt_json_int((int64_t)n->failed));
		pthread_mutex_unlock(&n->lock);
	}
	gt_json_put(o, "devices", devices);
	gt_json_put(all, "nvml", o);
	return gt_json_done(all);
}

void gt_nvml_report(struct gt_nvml *n, const char *program, FILE *to)
{
	char words[120];

	if (!n)
		return;
	pthread_mutex_lock(&n->lock);
	for (uint32_t i = 0; i < n->ndevices; i++) {
		const struct device *d = &n->devices[i];

		if (d->error)
			gt_message(to, program, "nvml: device %u cannot be asked: %s", i,
				in_words(n, d->error, words, sizeof(words)));
		for (unsigned c = 0; c < GT_NVML_COUNTER_COUNT; c++)
			if (d->refused[c])
				gt_message(to, program, "nvml: device %u (%s) has no %s: %s", i,
					d->name, counters[c].name,
					in_words(n, d->refused[c], words, sizeof(words)));
	}
	if (n->failed)
		gt_message(to, program,
			"nvml: %" PRIu64 " value%s could not be read, the last one because of %s",
			n->failed, n->failed == 1 ? "" : "s",
			in_words(n, n->last_failure, words, sizeof(words)));
	if (n->stuck)
		gt_message(
			to, program, "nvml: the driver did not come back from the last question");
	pthread_mutex_unlock(&n->lock);
}

void gt_nvml_describe(const struct gt_nvml *n, FILE *to)
{
	fprintf(to, "%u device%s, %s; driver %s", n->ndevices, n->ndevices == 1 ? "" : "s",
		n->devices[0].name[0] ? n->devices[0].name : "without a name",
		n->driver[0] ? n->driver : "unknown");
}

/* ---- as a source of events ---- */

static void *source_open(struct gt_err *err) { return gt_nvml_open(NULL, err); }
static int source_start(void *state, const struct gt_source_times *t, struct gt_err *err)
{
	return gt_nvml_start(state, t->interval, t->from, t->until, err);
}
static int64_t source_drain(void *state, struct gt_writer *w, struct gt_err *err)
{
	return gt_nvml_write(state, w, err);
}
static void source_stop(void *state) { gt_nvml_stop(state); }
static char *source_metadata(void *state) { return gt_nvml_metadata(state); }
static bool source_metadata_changed(void *state) { return gt_nvml_metadata_changed(state); }
static void source_report(void *state, const char *program, FILE *to)
{
	gt_nvml_report(state, program, to);
}
static void source_close(void *state) { gt_nvml_close(state); }

static void source_totals(void *state, struct gt_source_totals *t)
{
	struct gt_nvml_totals totals;

	gt_nvml_totals(state, &totals);
	*t = (struct gt_source_totals){ .rows = totals.values,
		.lost = totals.lost,
		.failed = totals.failed,
		.simulated = gt_nvml_simulated(state) };
}

static bool source_doctor(FILE *to)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_nvml *n = gt_nvml_open(NULL, &err);

	if (!n) {
		fputs(err.text, to);
		return false;
	}
	fputs("the counters of ", to);
	gt_nvml_describe(n, to);
	return true;
}

const struct gt_source gt_source_nvml = {
	.name = "nvml",
	.records = "counters of every GPU; needs NVML, which comes with the driver",
	.with_inject = true,
	.unit = "counter value",
	.open = source_open,
	.start = source_start,
	.drain = source_drain,
	.stop = source_stop,
	.metadata = source_metadata,
	.metadata_changed = source_metadata_changed,
	.totals = source_totals,
	.report = source_report,
	.doctor = source_doctor,
	.close = source_close,
};
