/* Shared by the files of -e nvml: nvml.c (the source: rows, metadata, reports), nvml_library.c
 * (NVML's functions, its devices, the queries) and nvml_thread.c (the thread that samples).
 *
 * NVIDIA's nvml.h is not needed: the few functions are declared below. They do not change, because
 * NVML gives a new signature a new name (_v2). */
#ifndef GT_NVML_INTERNAL_H
#define GT_NVML_INTERNAL_H
#include <pthread.h>
#include <stddef.h>
#include "collect/source/nvml.h"

#define SECOND 1000000000LL /* ns */
#define QUEUE 8192u         /* values; a power of two */
#define TEXT 96             /* bytes; NVML's longest strings fit */

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
struct gt_nvml_api {
#define X(field, symbol, args) int(*field) args;
	FUNCTIONS(X)
#undef X
	const char *(*error_string)(int code);
};

/* ---- state ---- */

/* The last value that was put into the queue. */
struct gt_nvml_queued {
	bool valid;
	uint64_t value;
	int64_t time;
};
struct gt_nvml_device {
	nvml_device h;
	char name[TEXT], uuid[TEXT], bus_id[33];
	uint64_t memory; /* bytes; 0 unknown */
	int error;       /* NVML gives no handle of the device: its error code; or 0 */
	/* error code of a counter that the device does not have, or 0; written under the lock */
	int refused[GT_NVML_COUNTER_COUNT];
	struct gt_nvml_queued last[GT_NVML_COUNTER_COUNT]; /* used by the sampling thread only */
	uint32_t track;                                    /* used by the writing thread only */
};
struct gt_nvml_value {
	int64_t time;
	uint64_t value;
	uint32_t device, counter;
};
struct gt_nvml_loss {
	uint64_t count;
	int64_t from, to;
};

struct gt_nvml {
	struct gt_nvml_api api;
	bool started, simulated;
	char driver[TEXT], version[TEXT];
	uint32_t ndevices;
	struct gt_nvml_device *devices;
	int64_t interval, from, until;
	pthread_t thread;
	pthread_mutex_t lock;
	/* under the lock */
	pthread_cond_t changed; /* stop or done has been set */
	bool stop, done;
	struct gt_nvml_value queue[QUEUE];
	uint64_t head, tail;            /* values taken from the queue, values put into it */
	struct gt_nvml_loss unreported; /* lost or failed values that are not in the file yet */
	uint64_t lost, failed, rounds, skipped, refusals;
	int last_failure;
	/* used by the writing thread only */
	bool running, stuck;
	uint32_t source, types[GT_NVML_COUNTER_COUNT];
	int64_t losses_written_at;
	uint64_t values, refusals_written;
};

/* ---- nvml_library.c ---- */

/* Makes a query to a device; v: its values. Returns NVML's error code. */
struct gt_nvml_query {
	int (*query)(const struct gt_nvml_api *a, nvml_device d, uint64_t *v);
	uint8_t counter, n; /* the first counter that it gives, and how many */
};
extern const struct gt_nvml_query gt_nvml_queries[];
extern const size_t gt_nvml_nqueries;

/* Loads the library, starts it and lists its devices. 0 or negative. */
int gt_nvml_load(struct gt_nvml *n, const char *library, struct gt_err *err);
/* Writes "3 (Not Supported)". Returns `to`. */
const char *gt_nvml_error_text(const struct gt_nvml *n, int code, char *to, size_t size);

/* ---- nvml_thread.c ---- */

/* gt_source_nvml.stop. Waits up to 5 s for a query that runs; then `stuck` is set, and the thread
 * keeps the state. */
void gt_nvml_stop(void *state);
#endif
