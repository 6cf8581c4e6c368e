/* A simulated libnvidia-ml.so.1: NVIDIA's management library for simulated devices. It has the
 * entry points that a monitor of memory, clocks, power and temperature needs, and no others.
 *
 * All values of a device follow from its index and a phase, 0 to 9. The phase advances every
 * SIM_NVML_STEP ms of CLOCK_MONOTONIC (default 100): phase = time / step % 10. SIM_NVML_PHASE fixes
 * it.
 *
 *     memory used         (device + 1) GiB + phase * 64 MiB
 *     utilization         10 * phase + device %
 *     memory utilization  5 * phase + device %
 *     clock reasons       phase 0: 1, 8 and 9: 0x24, otherwise 0
 *     SM clock            1980 - 15 * phase - device MHz
 *     memory clock        3201 MHz, constant
 *     power               100000 + 1000 * phase + 10 * device mW
 *     temperature         30 + phase + device C
 *
 * SIM_NVML_DEVICES  number of devices (2)
 * SIM_NVML_FAIL     FUNCTION:CODE[:DEVICE[:TIMES]], separated by commas: such a call returns CODE;
 *                   for DEVICE only, or for any (* or none); always, or the first TIMES times
 * SIM_NVML_SLOW     FUNCTION:MS[:DEVICE[:TIMES]] likewise: such a call takes MS ms
 *
 * nvmlInit_v2 reads them. It also opens a file without close-on-exec (a memfd, sim:nvml), which
 * child programs inherit. If SIM_NVML_OLD is defined at compile time, functions that older drivers
 * lack are left out. */
#define _GNU_SOURCE
#include "samples/simgpu/sim.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TOTAL (143771ull << 20) /* bytes, as on an H200 */
#define RULES 32

enum {
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NO_PERMISSION = 4,
	INSUFFICIENT_SIZE = 7,
	DRIVER_NOT_LOADED = 9,
	TIMEOUT = 10,
	FUNCTION_NOT_FOUND = 13,
	GPU_IS_LOST = 15,
	UNKNOWN = 999
};
struct memory {
	unsigned long long total, free, used;
};
struct utilization {
	unsigned gpu, memory;
};
struct pci {
	char legacy[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};
_Static_assert(
	sizeof(struct memory) == 24 && sizeof(struct pci) == 68, "nvmlMemory_t, nvmlPciInfo_t");
/* device -1: any; left -1: unlimited */
struct rule {
	char function[64];
	int value, device, left;
};

static struct device {
	unsigned index;
} device[SIM_MAX_DEVICES];
static unsigned ndevices;
static int users, phase, step, file;
static struct rule fail[RULES], slow[RULES];

static int number(const char *variable, int fallback)
{
	return getenv(variable) ? atoi(getenv(variable)) : fallback;
}

static void read_rules(struct rule *r, const char *variable)
{
	const char *s = getenv(variable);

	memset(r, 0, RULES * sizeof(*r));
	for (int i = 0; s && *s && i < RULES; i++) {
		char device_word[16] = "*";

		r[i].left = -1;
		sscanf(s, "%63[^:]:%d:%15[^:,]:%d", r[i].function, &r[i].value, device_word,
			&r[i].left);
		r[i].device = *device_word == '*' ? -1 : atoi(device_word);
		s += strcspn(s, ",");
		s += *s == ',';
	}
}

static int apply_rule(struct rule *r, const char *function, int index)
{
	for (int i = 0; i < RULES && r[i].function[0]; i++)
		if (!strcmp(r[i].function, function) && (r[i].device < 0 || r[i].device == index) &&
			r[i].left) {
			r[i].left -= r[i].left > 0;
			return r[i].value;
		}
	return 0;
}

/* Begins every entry point. */
static int enter(const char *function, const struct device *d, bool of_device)
{
	int index = of_device && d >= device && d < device + ndevices ? (int)d->index : -1;
	int ms = apply_rule(slow, function, index);
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	if (ms)
		nanosleep(&t, NULL);
	if (!users)
		return UNINITIALIZED;
	if (of_device && index < 0)
		return INVALID_ARGUMENT;
	return apply_rule(fail, function, index);
}
#define ENTER_NVML(d)                                                                              \
	do {                                                                                       \
		int rc_ = enter(__func__, d, true);                                                \
		if (rc_)                                                                           \
			return rc_;                                                                \
	} while (0)

static unsigned current_phase(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return phase >= 0 ? (unsigned)phase
			  : (unsigned)((t.tv_sec * 1000LL + t.tv_nsec / 1000000) / step % 10);
}

static int copy_text(const char *text, char *to, unsigned size)
{
	if (!to || strlen(text) >= size)
		return to ? INSUFFICIENT_SIZE : INVALID_ARGUMENT;
	strcpy(to, text);
	return SUCCESS;
}

#define OPEN __attribute__((visibility("default")))
#define DECLARE(name, ...)                                                                         \
	OPEN int name(__VA_ARGS__);                                                                \
	int name(__VA_ARGS__)

DECLARE(nvmlInit_v2, void)
{
	int rc;

	file = file ? file : memfd_create("sim:nvml", 0);
	ndevices = (unsigned)number("SIM_NVML_DEVICES", 2);
	ndevices = ndevices < SIM_MAX_DEVICES ? ndevices : SIM_MAX_DEVICES;
	phase = number("SIM_NVML_PHASE", -1);
	step = number("SIM_NVML_STEP", 100);
	step = step > 0 ? step : 1;
	read_rules(fail, "SIM_NVML_FAIL");
	read_rules(slow, "SIM_NVML_SLOW");
	for (unsigned i = 0; i < ndevices; i++)
		device[i].index = i;
	users++;
	rc = enter(__func__, NULL, false);
	users -= rc != 0;
	return rc;
}

DECLARE(nvmlShutdown, void)
{
	int rc = enter(__func__, NULL, false);

	users -= !rc;
	return rc;
}

DECLARE(nvmlSystemGetDriverVersion, char *to, unsigned size)
{
	int rc = enter(__func__, NULL, false);

	return rc ? rc : copy_text("580.0.simulated", to, size);
}

DECLARE(nvmlSystemGetNVMLVersion, char *to, unsigned size)
{
	int rc = enter(__func__, NULL, false);

	return rc ? rc : copy_text("13.0.simulated", to, size);
}

DECLARE(nvmlDeviceGetCount_v2, unsigned *n)
{
	int rc = enter(__func__, NULL, false);

	if (!rc)
		*n = ndevices;
	return rc;
}

DECLARE(nvmlDeviceGetHandleByIndex_v2, unsigned index, struct device **d)
{
	if (index >= ndevices)
		return users ? INVALID_ARGUMENT : UNINITIALIZED;
	ENTER_NVML(&device[index]);
	*d = &device[index];
	return SUCCESS;
}

DECLARE(nvmlDeviceGetName, struct device *d, char *to, unsigned size)
{
	ENTER_NVML(d);
	return copy_text(SIM_NAME, to, size);
}

DECLARE(nvmlDeviceGetUUID, struct device *d, char *to, unsigned size)
{
	char uuid[64];

	ENTER_NVML(d);
	snprintf(uuid, sizeof(uuid), "GPU-51300000-0000-0000-0000-%012u", d->index);
	return copy_text(uuid, to, size);
}

DECLARE(nvmlDeviceGetPciInfo_v3, struct device *d, struct pci *pci)
{
	ENTER_NVML(d);
	memset(pci, 0, sizeof(*pci));
	pci->bus = d->index + 1;
	snprintf(pci->legacy, sizeof(pci->legacy), "0000:%02X:00.0", pci->bus);
	snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02X:00.0", pci->bus);
	return SUCCESS;
}

DECLARE(nvmlDeviceGetMemoryInfo, struct device *d, struct memory *m)
{
	ENTER_NVML(d);
	m->used = ((d->index + 1ull) << 30) + ((unsigned long long)current_phase() << 26);
	m->total = TOTAL;
	m->free = TOTAL - m->used;
	return SUCCESS;
}

DECLARE(nvmlDeviceGetUtilizationRates, struct device *d, struct utilization *u)
{
	unsigned p = current_phase();

	ENTER_NVML(d);
	u->gpu = 10 * p + d->index;
	u->memory = 5 * p + d->index;
	return SUCCESS;
}

DECLARE(nvmlDeviceGetClockInfo, struct device *d, int which, unsigned *mhz)
{
	ENTER_NVML(d);
	if (which < 0 || which > 3)
		return INVALID_ARGUMENT;
	*mhz = which == 2 ? 3201 : 1980 - 15 * current_phase() - d->index;
	return SUCCESS;
}

DECLARE(nvmlDeviceGetPowerUsage, struct device *d, unsigned *mw)
{
	ENTER_NVML(d);
	*mw = 100000 + 1000 * current_phase() + 10 * d->index;
	return SUCCESS;
}

DECLARE(nvmlDeviceGetTemperature, struct device *d, int sensor, unsigned *celsius)
{
	ENTER_NVML(d);
	if (sensor)
		return INVALID_ARGUMENT;
	*celsius = 30 + current_phase() + d->index;
	return SUCCESS;
}

static unsigned long long throttle_reasons(void)
{
	unsigned p = current_phase();

	return !p ? 1 : p >= 8 ? 0x24 : 0;
}

#ifndef SIM_NVML_OLD
DECLARE(nvmlDeviceGetCurrentClocksEventReasons, struct device *d, unsigned long long *bits)
{
	ENTER_NVML(d);
	*bits = throttle_reasons();
	return SUCCESS;
}
#endif

DECLARE(nvmlDeviceGetCurrentClocksThrottleReasons, struct device *d, unsigned long long *bits)
{
	ENTER_NVML(d);
	*bits = throttle_reasons();
	return SUCCESS;
}

OPEN const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
	switch (code) {
	case SUCCESS: return "Success";
	case UNINITIALIZED: return "Uninitialized";
	case INVALID_ARGUMENT: return "Invalid Argument";
	case NOT_SUPPORTED: return "Not Supported";
	case NO_PERMISSION: return "Insufficient Permissions";
	case INSUFFICIENT_SIZE: return "Insufficient Size";
	case DRIVER_NOT_LOADED: return "Driver Not Loaded";
	case TIMEOUT: return "Timeout";
	case FUNCTION_NOT_FOUND: return "Function Not Found";
	case GPU_IS_LOST: return "GPU is lost";
	default: return "Unknown Error";
	}
}
