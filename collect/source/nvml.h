/* -e nvml: what NVIDIA's management library (libnvidia-ml.so.1) says of every GPU of the machine,
 * at intervals. */
#ifndef GT_NVML_H
#define GT_NVML_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "formats/trace/write/writer.h"

#define GT_NVML_INTERVAL 100000000LL /* ns, the default */
#define GT_NVML_INTERVAL_MIN 1000000LL
#define GT_NVML_INTERVAL_MAX 3600000000000LL

/* The counters: the name says the unit. One row type each, a GT_COUNTER with one field, "value". */
/* clang-format off */
#define GT_NVML_COUNTERS(X) \
	X(MEMORY_USED, memory_used_bytes, U64) X(UTILIZATION, utilization_percent, U64) \
	X(MEMORY_UTILIZATION, memory_utilization_percent, U64) X(SM_CLOCK, sm_clock_mhz, U64) \
	X(MEMORY_CLOCK, memory_clock_mhz, U64) X(POWER, power_mw, U64) \
	X(TEMPERATURE, temperature_celsius, U64) X(THROTTLE, throttle_reasons, HEX)
/* clang-format on */
enum gt_nvml_counter {
#define X(e, name, kind) GT_NVML_##e,
	GT_NVML_COUNTERS(X)
#undef X
		GT_NVML_COUNTER_COUNT
};

struct gt_nvml;

/* Loads the library (NULL: libnvidia-ml.so.1 as dlopen finds it), starts it, and lists the
 * devices; takes as long as the driver takes. The files that it opens are closed on exec. new:
 * close it. NULL if there are no counters. */
struct gt_nvml *gt_nvml_open(const char *library, struct gt_err *err);
/* Samples from a thread of its own: at `from` (CLOCK_MONOTONIC ns; the past means now) and every
 * interval from there, until `until` (0: until stopped). 0 or negative. */
int gt_nvml_start(
	struct gt_nvml *n, int64_t interval, int64_t from, int64_t until, struct gt_err *err);
/* Writes the values sampled since the last time: rows, and losses. From one thread only, the
 * writer's. Returns the number of rows, or negative. */
int64_t gt_nvml_write(struct gt_nvml *n, struct gt_writer *w, struct gt_err *err);
/* Ends the thread; the first sample, if it was begun or due, is finished. A driver that does not
 * return is abandoned after some seconds. Its samples are still to be written. */
void gt_nvml_stop(struct gt_nvml *n);
void gt_nvml_close(struct gt_nvml *n); /* NULL is fine */

struct gt_nvml_totals {
	uint64_t values; /* rows written */
	uint64_t lost;   /* values that were dropped because the queue was full */
	/* readings that went wrong once, and may go well the next time; in values */
	uint64_t failed;
	uint64_t rounds;  /* how often all devices were asked */
	uint64_t skipped; /* how often not, as the round before took too long */
	uint32_t devices;
	bool stuck; /* the driver did not come back */
};
/* The three may be called at any time, from the thread that writes. All are fine with NULL. */
void gt_nvml_totals(struct gt_nvml *n, struct gt_nvml_totals *totals);
bool gt_nvml_simulated(const struct gt_nvml *n);
/* One JSON object with the key "nvml": driver_version, version, interval_ns, simulated, devices
 * (index, name, uuid, memory_bytes, pci_bus_id, refused, error), rounds, skipped_rounds, values,
 * lost_values, failed_values. new: free it; NULL without memory. */
char *gt_nvml_metadata(struct gt_nvml *n);
/* Has something been refused that the last gt_nvml_metadata did not have? */
bool gt_nvml_metadata_changed(struct gt_nvml *n);
/* Lines for -v, each with `program` in front: refused counters and failed reads. */
void gt_nvml_report(struct gt_nvml *n, const char *program, FILE *to);
/* In words, for --doctor: "2 devices, NVIDIA H200; driver 580.159.04". */
void gt_nvml_describe(const struct gt_nvml *n, FILE *to);
#endif
