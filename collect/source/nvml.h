/* -e nvml: the counters that NVIDIA's management library (libnvidia-ml.so.1) has for every GPU of
 * the machine, sampled at an interval. The recorder uses it as gt_source_nvml (source.h). The other
 * declarations are for its unit test. */
#ifndef GT_NVML_H
#define GT_NVML_H
#include "collect/source/source.h"

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

struct gt_nvml; /* the state of gt_source_nvml */
extern const struct gt_source gt_source_nvml;

/* As gt_source_nvml.open with another library; NULL: libnvidia-ml.so.1 as dlopen finds it. The
 * files that the library opens are closed on exec. */
struct gt_nvml *gt_nvml_open(const char *library, struct gt_err *err);
/* As gt_source_nvml.start with another interval than --nvml-interval, in ns. The first sample is
 * finished even if recording ends meanwhile. */
int gt_nvml_start(
	struct gt_nvml *n, int64_t interval, int64_t from, int64_t until, struct gt_err *err);

struct gt_nvml_totals {
	uint64_t values;  /* rows written */
	uint64_t lost;    /* values dropped because the queue was full */
	uint64_t failed;  /* values that a query failed to read, perhaps only for a while */
	uint64_t rounds;  /* times that all devices were queried */
	uint64_t skipped; /* rounds left out because an earlier one took too long */
	uint32_t devices;
	bool stuck; /* the driver did not return from a query */
};
void gt_nvml_totals(struct gt_nvml *n, struct gt_nvml_totals *totals);
#endif
