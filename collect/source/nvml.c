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
 * This file is the source: its options, rows, metadata and reports. nvml_library.c has NVML's
 * functions, nvml_thread.c the thread. */
#define _GNU_SOURCE
#include "collect/source/nvml_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/numbers.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"
#include "formats/io/json_build.h"

#define LIBRARY "libnvidia-ml.so.1"
#define INTERVAL_MIN 1000000LL
#define INTERVAL_MAX 3600000000000LL

#define INTERVAL_DEFAULT 100000000LL
#define NOT_GIVEN INT64_MIN

static int64_t interval_option = NOT_GIVEN;
static const struct gt_opt options[] = {
	{ 0, "nvml-interval", GT_OPT_NS, &interval_option, "TIME",
		"interval of the NVML counters (100ms)", NULL },
};

static int check_options(bool is_selected, struct gt_err *err)
{
	if (interval_option != NOT_GIVEN && !is_selected)
		return gt_err_set(err, -EINVAL, "--nvml-interval needs -e nvml");
	if (interval_option == NOT_GIVEN)
		interval_option = INTERVAL_DEFAULT;
	return interval_option >= INTERVAL_MIN && interval_option <= INTERVAL_MAX
		? 0
		: gt_err_set(err, -EINVAL, "--nvml-interval must lie between 1ms and 3600s");
}

static const struct {
	const char *name;
	uint8_t kind;
} counters[] = {
#define X(e, word, as) { #word, GT_F_##as },
	GT_NVML_COUNTERS(X)
#undef X
};

/* ---- opening, start and end ---- */

static void close_nvml(void *state)
{
	struct gt_nvml *n = state;

	gt_nvml_stop(n);
	if (n->stuck)
		return; /* its thread may return from the query and use this state */
	if (n->started && n->api.shutdown)
		n->api.shutdown();
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n->devices);
	free(n);
}

struct gt_nvml *gt_nvml_open(const char *library, struct gt_err *err)
{
	struct gt_nvml *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;

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
	if (gt_nvml_load(n, library ? library : LIBRARY, err)) {
		close_nvml(n);
		return NULL;
	}
	return n;
}

static void *open_nvml(struct gt_err *err) { return gt_nvml_open(NULL, err); }

static int start(void *state, int64_t from, int64_t until, struct gt_err *err)
{
	return gt_nvml_start(state, interval_option, from, until, err);
}

/* ---- rows ---- */

static void make_track(struct gt_nvml *n, struct gt_writer *w, uint32_t i)
{
	struct gt_nvml_device *d = &n->devices[i];
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
	struct gt_nvml *n, struct gt_writer *w, const struct gt_nvml_value *v, struct gt_err *err)
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
	struct gt_nvml_loss l;

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
	struct gt_nvml_value some[64];
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
	const struct gt_nvml_device *d = &n->devices[i];
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
		put_text(o, "error", gt_nvml_error_text(n, d->error, words, sizeof(words)));
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
		const struct gt_nvml_device *d = &n->devices[i];

		if (d->error)
			gt_message(to, program, "nvml: device %u cannot be queried: %s", i,
				gt_nvml_error_text(n, d->error, words, sizeof(words)));
		for (unsigned c = 0; c < GT_NVML_COUNTER_COUNT; c++)
			if (d->refused[c])
				gt_message(to, program, "nvml: device %u (%s) has no %s: %s", i,
					d->name, counters[c].name,
					gt_nvml_error_text(n, d->refused[c], words, sizeof(words)));
	}
	if (n->failed)
		gt_message(to, program,
			"nvml: %" PRIu64 " value%s could not be read, the last one because of %s",
			n->failed, gt_plural(n->failed, "s"),
			gt_nvml_error_text(n, n->last_failure, words, sizeof(words)));
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
	.stop = gt_nvml_stop,
	.metadata = metadata,
	.metadata_changed = metadata_changed,
	.totals = totals,
	.report = report,
	.doctor = doctor,
	.close = close_nvml,
};
