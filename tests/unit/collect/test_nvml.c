/* Counters from the simulated NVML: which are read and when, which the device does not support,
 * which fail, which are lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>
#include "collect/source/nvml.h"
#include "formats/trace/clock.h"
#include "tests/unit/traces.h"
#include "tests/unit/t.h"

#define MS 1000000LL
#define LONG (60000 * MS) /* limit of a wait for an expected event */
#define ROWS 40000

static struct gt_nvml *n;
static struct gt_nvml_totals totals;
static struct gt_source_totals as_source;
static struct gt_err err;
static struct row {
	uint32_t device;
	unsigned counter;
	uint64_t value;
	int64_t time;
} rows[ROWS];
static size_t nrows;
static uint64_t lost_rows, lost_sum;
static char *said; /* the metadata */

/* The constants of the simulator's values: see samples/simgpu/sim_nvml.c. */
static uint64_t value_of(unsigned counter, uint32_t device, unsigned phase)
{
	const uint64_t v[] = { ((device + 1ull) << 30) + ((uint64_t)phase << 26),
		10 * phase + device, 5 * phase + device, 1980 - 15 * phase - device, 3201,
		100000 + 1000 * phase + 10 * device, 30 + phase + device,
		!phase               ? 1
			: phase >= 8 ? 0x24
				     : 0 };

	return v[counter];
}

static const char *library(void)
{
	static char path[4200];

	snprintf(path, sizeof(path), "%s/sim/libnvidia-ml.so.1",
		getenv("B") ? getenv("B") : "build");
	return path;
}

/* Sets SIM_NVML_* from "DEVICES=3 PHASE=0 FAIL=..." and opens. */
static bool open_with(const char *knobs)
{
	static const char *const all[] = { "DEVICES", "PHASE", "STEP", "FAIL", "SLOW" };
	char copy[300], name[40], *save = NULL;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		snprintf(name, sizeof(name), "SIM_NVML_%s", all[i]);
		unsetenv(name);
	}
	snprintf(copy, sizeof(copy), "%s", knobs);
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		char *value = strchr(p, '=');

		*value++ = 0;
		snprintf(name, sizeof(name), "SIM_NVML_%s", p);
		setenv(name, value, 1);
	}
	err = (struct gt_err)GT_ERR_INIT;
	n = gt_nvml_open(library(), &err);
	return n;
}

static bool begin(const char *knobs, int64_t interval)
{
	return open_with(knobs) && !gt_nvml_start(n, interval, 0, 0, &err);
}

static uint64_t rounds(void)
{
	gt_nvml_totals(n, &totals);
	return totals.rounds;
}

static void until_rounds(uint64_t so_many)
{
	while (rounds() < so_many)
		usleep(1000);
}

static unsigned counter_of(const char *name)
{
	static const char *const names[] = {
#define X(e, word, kind) #word,
		GT_NVML_COUNTERS(X)
#undef X
	};
	unsigned i = 0;

	while (i < GT_NVML_COUNTER_COUNT && strcmp(names[i], name))
		i++;
	return i;
}

static bool take(const struct gt_event *ev)
{
	const struct gt_track *t = &ev->seg->tracks[ev->track];

	if (ev->kind == GT_LOST) {
		lost_rows++;
		lost_sum += ev->args[0];
		return ev->args[1] == GT_SCOPE_DEVICE;
	}
	if (ev->kind != GT_COUNTER || nrows == ROWS || t->kind != GT_TRACK_DEVICE ||
		strcmp(gt_str(ev->seg, t->source), "nvml"))
		return false;
	rows[nrows++] = (struct row){ (uint32_t)t->id,
		counter_of(gt_type_name(ev->seg, ev->row.type)), ev->args[0], ev->row.start };
	return t->parent == GT_NONE && ev->row.end == ev->row.start &&
		rows[nrows - 1].counter < GT_NVML_COUNTER_COUNT;
}

/* Writes a trace of the counters, closes NVML, reads the trace back into rows. */
static bool end(void)
{
	struct gt_writer_options o = { .rows_sorted = true };
	FILE *f = tmpfile();
	int fd = dup(fileno(f));
	struct gt_writer *w = gt_writer_open(dup(fd), &o, &err);
	struct gt_reader *r;
	struct gt_event ev;
	struct gt_filter all = { 0 };
	struct gt_iter *it;
	bool good = w && gt_source_nvml.drain(n, w, &err) >= 0;

	gt_source_nvml.stop(n);
	good = good && gt_source_nvml.drain(n, w, &err) >= 0;
	gt_nvml_totals(n, &totals);
	free(said);
	said = gt_source_nvml.metadata(n);
	good = good && !gt_source_nvml.metadata_changed(n);
	gt_source_nvml.close(n);
	n = NULL;
	good = !gt_writer_close(w, &err) && good;
	nrows = lost_rows = lost_sum = 0;
	lseek(fd, 0, SEEK_SET);
	r = gt_reader_open_fd(fd, &err);
	it = r ? gt_iter_open(r, &all, &err) : NULL;
	while (it && good && gt_iter_next(it, &ev, &err) > 0)
		good = take(&ev);
	gt_iter_close(it);
	gt_reader_close(r);
	fclose(f);
	return good && it && totals.values == nrows && totals.lost + totals.failed == lost_sum;
}

static size_t count(int device, int counter)
{
	size_t c = 0;

	for (size_t i = 0; i < nrows; i++)
		c += (device < 0 || rows[i].device == (uint32_t)device) &&
			(counter < 0 || rows[i].counter == (unsigned)counter);
	return c;
}

/* ---- readings ---- */

/* Counters of rounds are written once, unless rounds were made or due for nearly a second. */
static void values_are_the_simulators(void)
{
	CHECK(begin("PHASE=9 DEVICES=3", 10 * MS));
	until_rounds(3);
	CHECK(end());
	CHECK(nrows == 3 * GT_NVML_COUNTER_COUNT || totals.rounds + totals.skipped > 80);
	for (size_t i = 0; i < nrows; i++)
		CHECK(rows[i].value == value_of(rows[i].counter, rows[i].device, 9));
	for (int d = 0; d < 3; d++)
		for (int c = 0; c < GT_NVML_COUNTER_COUNT; c++)
			CHECK(count(d, c) >= 1);
}

/* On a busy machine the clock and the query of it may be far apart, but not every time. */
static void values_are_of_their_time(void)
{
	size_t good = 0;

	CHECK(begin("STEP=50", 5 * MS));
	until_rounds(60);
	CHECK(end());
	CHECK(count(-1, -1) > 30);
	for (size_t i = 0; i < nrows; i++)
		for (int64_t t = rows[i].time - 5 * MS; t <= rows[i].time + 5 * MS; t += 10 * MS)
			if (rows[i].value ==
				value_of(rows[i].counter, rows[i].device,
					(unsigned)(t / (50 * MS) % 10))) {
				good++;
				break;
			}
	CHECK(good > nrows / 2);
}

static void times_of_a_device_grow(void)
{
	int64_t last[2] = { 0 };

	CHECK(begin("STEP=1", 2 * MS));
	until_rounds(20);
	CHECK(end());
	for (size_t i = 0; i < nrows; i++) {
		CHECK(rows[i].time >= last[rows[i].device]);
		last[rows[i].device] = rows[i].time;
	}
	CHECK(last[0] && last[1] && last[0] < gt_clock_monotonic() &&
		last[0] > gt_clock_monotonic() - 3600000 * MS);
}

/* ---- when ---- */

/* A busy machine delays the rounds, and later they are on time again. */
static void rounds_keep_to_the_beat(void)
{
	int64_t begun = gt_clock_monotonic(), started, now, beats;
	bool kept = false;

	/* three rounds that overrun */
	CHECK(begin("SLOW=nvmlDeviceGetMemoryInfo:15:1:3", 10 * MS));
	until_rounds(1);
	started = now = gt_clock_monotonic();
	while (!kept && now < started + LONG) {
		usleep(1000);
		now = gt_clock_monotonic();
		beats = (int64_t)(rounds() + totals.skipped);
		kept = now > started + 400 * MS && beats >= (now - started) / (10 * MS) - 2;
	}
	gt_source_nvml.stop(n);
	now = gt_clock_monotonic();
	CHECK(end());
	beats = (int64_t)(totals.rounds + totals.skipped);
	CHECK(kept && totals.skipped >= 2 && beats <= (now - begun) / (10 * MS) + 2);
}

static void what_does_not_change_is_written_once_a_second(void)
{
	int64_t last[2] = { 0 }, begun = gt_clock_monotonic();
	size_t constant;

	CHECK(begin("PHASE=3", 20 * MS));
	until_rounds(115); /* 2.3 s, and longer if the machine is suspended */
	CHECK(end());
	constant = count(0, GT_NVML_MEMORY_CLOCK);
	CHECK(constant >= 3 &&
		(int64_t)constant <= (gt_clock_monotonic() - begun) / (900 * MS) + 2);
	for (size_t i = 0; i < nrows && !totals.skipped; i++)
		if (rows[i].counter == GT_NVML_POWER) {
			CHECK(!last[rows[i].device] ||
				rows[i].time - last[rows[i].device] < 1100 * MS);
			last[rows[i].device] = rows[i].time;
		}
}

static void the_first_sample_is_whole_however_short_the_program(void)
{
	/* two of the five when the devices are listed */
	CHECK(begin("SLOW=nvmlDeviceGetMemoryInfo:30:*:5", 3600000 * MS));
	CHECK(end());
	CHECK(totals.rounds == 1 && nrows == 2 * GT_NVML_COUNTER_COUNT && !totals.lost &&
		!totals.failed);
}

static void later_rounds_are_broken_off_at_the_end(void)
{
	CHECK(begin("PHASE=1 DEVICES=16", 1 * MS));
	until_rounds(1);
	gt_source_nvml.stop(n);
	CHECK(end());
	CHECK(totals.rounds >= 1 && !totals.stuck && count(15, GT_NVML_THROTTLE) >= 1);
}

static void samples_begin_and_end_on_command(void)
{
	int64_t now = gt_clock_monotonic();

	CHECK(open_with("") && !gt_nvml_start(n, 10 * MS, now + 3600000 * MS, 0, &err));
	CHECK(end());
	CHECK(!totals.rounds && !nrows);
	totals.rounds = 0;
	/* on a busy machine it may end before it begins */
	for (int64_t ms = 10; !totals.rounds && ms < 10000; ms *= 4) {
		CHECK(open_with("STEP=1") &&
			!gt_nvml_start(
				n, ms * MS, 0, gt_clock_monotonic() + ms * 45 / 10 * MS, &err));
		usleep((useconds_t)ms * 20000);
		CHECK(end());
		CHECK(totals.rounds <= 5);
	}
	CHECK(totals.rounds);
}

/* ---- refusals and failures ---- */

static void what_a_device_refuses_is_left_out(void)
{
	char *told = NULL;
	size_t size;
	FILE *f;

	/* not supported, no permission, no such function */
	for (int code = 3; code <= 13; code += code == 3 ? 1 : 9) {
		char knobs[100];

		snprintf(knobs, sizeof(knobs), "FAIL=nvmlDeviceGetUtilizationRates:%d:1", code);
		CHECK(begin(knobs, 5 * MS));
		until_rounds(3);
		f = open_memstream(&told, &size);
		gt_source_nvml.report(n, "x", f);
		fclose(f);
		CHECK(end());
		CHECK(count(0, GT_NVML_UTILIZATION) && count(0, GT_NVML_MEMORY_UTILIZATION) &&
			count(1, GT_NVML_POWER));
		CHECK(!count(1, GT_NVML_UTILIZATION) && !count(1, GT_NVML_MEMORY_UTILIZATION));
		CHECK(!totals.failed && !lost_rows);
		CHECK(strstr(said,
			      "\"refused\":[\"utilization_percent\",\"memory_utilization_percent\"]") &&
			strstr(said, "\"refused\":[]"));
		CHECK(strstr(told,
			"x: nvml: device 1 (NVIDIA H200 (Simulated)) has no utilization_percent: "));
		CHECK(strstr(told,
			code == 3           ? ": 3 (Not Supported)\n"
				: code == 4 ? ": 4 (Insufficient Permissions)\n"
					    : ": 13 (Function"));
		free(told);
	}
}

static void a_device_that_cannot_be_had_leaves_the_others(void)
{
	/* one round, however late its end is noticed */
	CHECK(begin("FAIL=nvmlDeviceGetHandleByIndex_v2:4:0", 3600000 * MS));
	until_rounds(1);
	CHECK(end());
	CHECK(!count(0, -1) && count(1, -1) == GT_NVML_COUNTER_COUNT);
	CHECK(strstr(said, "\"error\":\"4 (Insufficient Permissions)\""));
}

static void what_fails_for_a_while_is_lost_and_comes_back(void)
{
	CHECK(begin(
		"FAIL=nvmlDeviceGetPowerUsage:10:0:2,nvmlDeviceGetUtilizationRates:999:1:1 PHASE=2",
		5 * MS));
	until_rounds(5);
	CHECK(end());
	CHECK(totals.failed == 4 && !totals.lost && lost_sum == 4 && lost_rows >= 1);
	CHECK(count(0, GT_NVML_POWER) >= 1 && count(1, GT_NVML_UTILIZATION) >= 1 &&
		strstr(said, "\"failed_values\":4"));
}

static void each_function_may_fail(void)
{
	static const char *const needed[] = { "nvmlInit_v2", "nvmlDeviceGetCount_v2",
		"nvmlDeviceGetHandleByIndex_v2" };
	static const char *const told[] = { "nvmlSystemGetDriverVersion",
		"nvmlSystemGetNVMLVersion", "nvmlDeviceGetName", "nvmlDeviceGetUUID",
		"nvmlDeviceGetPciInfo_v3", "nvmlShutdown" };
	static const char *const keys[] = { "driver_version", "\"version", "\"name", "uuid",
		"pci_bus_id" };
	static const struct {
		const char *function;
		unsigned counters, first;
	} read[] = {
		{ "nvmlDeviceGetMemoryInfo", 1, GT_NVML_MEMORY_USED },
		{ "nvmlDeviceGetUtilizationRates", 2, GT_NVML_UTILIZATION },
		{ "nvmlDeviceGetClockInfo", 2, GT_NVML_SM_CLOCK },
		{ "nvmlDeviceGetPowerUsage", 1, GT_NVML_POWER },
		{ "nvmlDeviceGetTemperature", 1, GT_NVML_TEMPERATURE },
		{ "nvmlDeviceGetCurrentClocksEventReasons", 1, GT_NVML_THROTTLE },
	};
	char knobs[200], wanted[200];

	for (size_t i = 0; i < 3; i++) {
		snprintf(knobs, sizeof(knobs), "FAIL=%s:999", needed[i]);
		snprintf(wanted, sizeof(wanted), "-e nvml: %s fails with 999 (Unknown Error)",
			needed[i]);
		CHECK(!open_with(knobs) && err.code == -EIO && !strcmp(err.text, wanted));
	}
	for (size_t i = 0; i < 6; i++) {
		snprintf(knobs, sizeof(knobs), "FAIL=%s:999", told[i]);
		CHECK(begin(knobs, 5 * MS));
		gt_source_nvml.totals(n, &as_source);
		CHECK(as_source.simulated);
		until_rounds(1);
		CHECK(end());
		CHECK(nrows >= 2 * GT_NVML_COUNTER_COUNT && !lost_rows &&
			(i == 5 || !strstr(said, keys[i])));
	}
	for (size_t i = 0; i < 6; i++) {
		snprintf(knobs, sizeof(knobs), "FAIL=%s:15", read[i].function);
		CHECK(begin(knobs, 3600000 * MS));
		until_rounds(1);
		CHECK(end());
		CHECK(lost_sum == 2 * read[i].counters &&
			nrows == 2 * (GT_NVML_COUNTER_COUNT - read[i].counters));
		CHECK(!count(0, (int)read[i].first));
	}
}

static void no_device_is_an_error(void)
{
	CHECK(!open_with("DEVICES=0") && err.code == -ENODEV &&
		!strcmp(err.text, "-e nvml: NVML reports no device"));
}

static void no_library_is_an_error(void)
{
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_nvml_open("./libnvidia-ml.so.1", &err) && err.code == -ENOENT);
	CHECK(strstr(err.text, "-e nvml: ./libnvidia-ml.so.1: cannot open"));
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_nvml_open("libm.so.6", &err) && err.code == -ENOSYS &&
		strstr(err.text, "libm.so.6 lacks nvmlInit_v2"));
}

/* ---- losses ---- */

static void a_full_queue_loses_and_counts(void)
{
	CHECK(begin("DEVICES=16 STEP=1", 1 * MS));
	do
		usleep(1000);
	while (rounds(), !totals.lost);
	usleep(20000);
	CHECK(end());
	CHECK(totals.lost > 0 && lost_sum == totals.lost && nrows >= 8192);
	CHECK(strstr(said, "\"lost_values\":") && !strstr(said, "\"lost_values\":0"));
}

/* ---- metadata and messages ---- */

static void metadata_names_what_there_is(void)
{
	CHECK(begin("", 50 * MS));
	until_rounds(1);
	CHECK(end());
	CHECK(strstr(said,
		"{\"nvml\":{\"driver_version\":\"580.0.simulated\",\"version\":\"13.0.simulated\",\"interval_ns\":50000000,\"simulated\":true,"));
	CHECK(strstr(said,
		"{\"index\":1,\"name\":\"NVIDIA H200 (Simulated)\",\"uuid\":\"GPU-51300000-0000-0000-0000-000000000001\","
		"\"memory_bytes\":150754820096,\"pci_bus_id\":\"00000000:02:00.0\",\"refused\":[]}"));
}

static void it_may_be_closed_before_its_start(void)
{
	CHECK(open_with(""));
	gt_source_nvml.close(n);
	free(said);
}

T_MAIN(T(values_are_the_simulators), T(values_are_of_their_time), T(times_of_a_device_grow),
	T(rounds_keep_to_the_beat), T(what_does_not_change_is_written_once_a_second),
	T(the_first_sample_is_whole_however_short_the_program),
	T(later_rounds_are_broken_off_at_the_end), T(samples_begin_and_end_on_command),
	T(what_a_device_refuses_is_left_out), T(a_device_that_cannot_be_had_leaves_the_others),
	T(what_fails_for_a_while_is_lost_and_comes_back), T(each_function_may_fail),
	T(no_device_is_an_error), T(no_library_is_an_error), T(a_full_queue_loses_and_counts),
	T(metadata_names_what_there_is), T(it_may_be_closed_before_its_start))
