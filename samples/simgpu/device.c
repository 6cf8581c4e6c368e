/* Errors, initialisation and devices. After fork the driver is unusable in the child, as the real
 * one is. */
#include "samples/simgpu/sim.h"
#include "samples/simgpu/observe.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct sim_config sim_config;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int state; /* 0, READY, FORKED */
static struct sim_obj *spare[SIM_KINDS];
static uint64_t random_state;
enum { READY = 1, FORKED = 2 };

/* clang-format off */
#define ERRORS(X) \
	X(0, CUDA_SUCCESS, "no error") \
	X(1, CUDA_ERROR_INVALID_VALUE, "invalid argument") \
	X(2, CUDA_ERROR_OUT_OF_MEMORY, "out of memory") \
	X(3, CUDA_ERROR_NOT_INITIALIZED, "initialization error") \
	X(4, CUDA_ERROR_DEINITIALIZED, "driver shutting down") \
	X(34, CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library") \
	X(100, CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected") \
	X(101, CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal") \
	X(200, CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid") \
	X(201, CUDA_ERROR_INVALID_CONTEXT, "invalid device context") \
	X(205, CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed") \
	X(206, CUDA_ERROR_UNMAP_FAILED, "unmapping of buffer object failed") \
	X(209, CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device") \
	X(215, CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture") \
	X(217, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "peer access is not supported between these two devices") \
	X(218, CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed") \
	X(300, CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid") \
	X(301, CUDA_ERROR_FILE_NOT_FOUND, "file not found") \
	X(304, CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS") \
	X(400, CUDA_ERROR_INVALID_HANDLE, "invalid resource handle") \
	X(401, CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state") \
	X(500, CUDA_ERROR_NOT_FOUND, "named symbol not found") \
	X(600, CUDA_ERROR_NOT_READY, "device not ready") \
	X(700, CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered") \
	X(701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch") \
	X(702, CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated") \
	X(704, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is already enabled") \
	X(705, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access has not been enabled") \
	X(708, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "cannot set while device is active in this process") \
	X(709, CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed") \
	X(712, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped") \
	X(713, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region") \
	X(719, CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure") \
	X(720, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch") \
	X(800, CUDA_ERROR_NOT_PERMITTED, "operation not permitted") \
	X(801, CUDA_ERROR_NOT_SUPPORTED, "operation not supported") \
	X(900, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing") \
	X(901, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "operation failed due to a previous error during capture") \
	X(902, CUDA_ERROR_STREAM_CAPTURE_MERGE, "operation would result in a merge of separate capture sequences") \
	X(903, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began") \
	X(904, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "capturing stream has unjoined work") \
	X(905, CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "dependency created on uncaptured work in another stream") \
	X(906, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "operation would make the legacy stream depend on a capturing one") \
	X(907, CUDA_ERROR_CAPTURED_EVENT, "operation not permitted on an event last recorded in a capturing stream") \
	X(910, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph update was not performed because it violated the constraints") \
	X(999, CUDA_ERROR_UNKNOWN, "unknown error")
/* clang-format on */
#define ROW(code, name, text) { code, #name, text },
static const struct error {
	int code;
	const char *name, *text;
} errors[] = { ERRORS(ROW) };

static const struct error *error_of(CUresult rc)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].code == rc)
			return &errors[i];
	return NULL;
}

CUresult cuGetErrorName(CUresult rc, const char **name)
{
	const struct error *e = error_of(rc);

	if (name)
		*name = e ? e->name : NULL;
	return e && name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult rc, const char **text)
{
	const struct error *e = error_of(rc);

	if (text)
		*text = e ? e->text : NULL;
	return e && text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void sim_lock(void) { pthread_mutex_lock(&lock); }

void sim_unlock(void) { pthread_mutex_unlock(&lock); }

pthread_mutex_t *sim_mutex(void) { return &lock; }

void *sim_new(enum sim_kind kind, size_t size)
{
	struct sim_obj *o = spare[kind];

	if (o)
		spare[kind] = o->next;
	else if (!(o = malloc(size)))
		return NULL;
	memset(o, 0, size);
	o->kind = kind;
	return o;
}

void sim_drop(void *obj)
{
	struct sim_obj *o = obj;

	o->next = spare[o->kind];
	spare[o->kind] = o;
	o->kind = SIM_FREE;
}

bool sim_is(const void *obj, enum sim_kind kind)
{
	return obj && ((const struct sim_obj *)obj)->kind == kind;
}

uint64_t sim_random(void)
{
	uint64_t x = random_state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* "8G", "512m", "1000": bytes. */
static uint64_t env_size(const char *name, uint64_t fallback)
{
	static const char units[] = "kmgt";
	const char *s = getenv(name), *unit;
	char *end;
	unsigned long long n;

	if (!s || !*s)
		return fallback;
	n = strtoull(s, &end, 0);
	unit = *end ? strchr(units, *end | 32) : NULL;
	return unit ? n << 10 * (unit - units + 1) : n;
}

static void read_config(void)
{
	const char *speed = getenv("SIMGPU_SPEED");

	sim_config.devices = env_size("SIMGPU_DEVICES", 1);
	if (sim_config.devices < 0 || sim_config.devices > SIM_MAX_DEVICES)
		sim_config.devices = SIM_MAX_DEVICES;
	sim_config.memory = (env_size("SIMGPU_MEM", 8ull << 30) + 0x1fffff) & ~0x1fffffull;
	sim_config.seed = env_size("SIMGPU_SEED", 1);
	sim_config.ioctls = env_size("SIMGPU_IOCTL", 1) != 0;
	sim_config.speed = speed ? strtod(speed, NULL) : 1;
	if (!(sim_config.speed > 0 && sim_config.speed < 1e9))
		sim_config.speed = 1;
	random_state = sim_config.seed;
}

static void after_fork(void)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	lock = fresh;
	sim_current = NULL;
	sim_watched = 0;
	if (state == READY)
		state = FORKED;
}

/* Loads a tool as the real driver does in cuInit. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *lib = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(void);

	*(void **)&begin = lib ? dlsym(lib, "InitializeInjection") : NULL;
	if (begin)
		begin();
}

CUresult cuInit(unsigned flags)
{
	int rc = CUDA_SUCCESS;
	bool first;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	first = !state;
	if (state == FORKED) {
		rc = CUDA_ERROR_NOT_INITIALIZED;
	} else if (!state) {
		read_config();
		if (!sim_config.devices) {
			rc = CUDA_ERROR_NO_DEVICE;
		} else if (!(rc = sim_memory_init()) && !(rc = sim_queue_start())) {
			sim_files_open();
			pthread_atfork(NULL, NULL, after_fork);
			state = READY;
		}
	}
	sim_unlock();
	if (first && !rc)
		inject();
	return rc;
}

int sim_ready(void)
{
	return atomic_load_explicit(&state, memory_order_acquire) == READY
		? CUDA_SUCCESS
		: CUDA_ERROR_NOT_INITIALIZED;
}

int sim_enter(struct sim_ctx **ctx)
{
	int rc = sim_ready();

	if (rc)
		return rc;
	sim_lock();
	if (!sim_current)
		return sim_leave(CUDA_ERROR_INVALID_CONTEXT);
	if (!sim_is(sim_current, SIM_CTX))
		return sim_leave(709);
	*ctx = sim_current;
	return sim_current->error ? sim_leave(sim_current->error) : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = (int)env_size("SIMGPU_DRIVER", SIM_DRIVER_VERSION);
	return CUDA_SUCCESS;
}

CUresult cuProfilerStart(void)
{
	return sim_current    ? CUDA_SUCCESS
		: sim_ready() ? CUDA_ERROR_NOT_INITIALIZED
			      : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuProfilerStop(void) { return cuProfilerStart(); }

CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	if (!table || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table = NULL;
	return CUDA_ERROR_NOT_FOUND; /* there are no private tables */
}

int sim_device_error(const void *out, int dev)
{
	int rc = sim_ready();

	return rc                                      ? rc
		: !out                                 ? CUDA_ERROR_INVALID_VALUE
		: dev < 0 || dev >= sim_config.devices ? CUDA_ERROR_INVALID_DEVICE
						       : 0;
}
CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
	DEVICE_OR_RETURN(dev, ordinal);
	*dev = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	DEVICE_OR_RETURN(count, 0);
	*count = sim_config.devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	DEVICE_OR_RETURN(name, dev);
	if (len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, len, "%s", SIM_NAME);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	DEVICE_OR_RETURN(uuid, dev);
	memcpy(uuid->bytes, "simulated-gpu-00", 16);
	uuid->bytes[14] += dev / 10;
	uuid->bytes[15] += dev % 10;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) { return cuDeviceGetUuid(uuid, dev); }

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	DEVICE_OR_RETURN(bytes, dev);
	*bytes = sim_config.memory;
	return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	DEVICE_OR_RETURN(major && minor ? major : NULL, dev);
	*major = 9;
	*minor = 0;
	return CUDA_SUCCESS;
}

/* Values of an H200 for the attributes that programs query; the value of others is 0, "not
 * available". */
static const struct {
	short attribute;
	int value;
} attributes[] = {
	{ 1, 1024 },
	{ 2, 1024 },
	{ 3, 1024 },
	{ 4, 64 },
	{ 5, 0x7fffffff },
	{ 6, 65535 },
	{ 7, 65535 },
	{ 8, 49152 },
	{ 9, 65536 },
	{ 10, 32 },
	{ 11, 0x7fffffff },
	{ 12, 65536 },
	{ 13, 1980000 },
	{ 14, 512 },
	{ 15, 1 },
	{ 16, SIM_SMS },
	{ 19, 1 },
	{ 30, 512 },
	{ 31, 1 },
	{ 32, 1 },
	{ 36, 3201000 },
	{ 37, 6144 },
	{ 38, 62914560 },
	{ 39, 2048 },
	{ 40, 2 },
	{ 41, 1 },
	{ 51, 32 },
	{ 75, 9 },
	{ 76, 0 },
	{ 78, 1 },
	{ 79, 1 },
	{ 80, 1 },
	{ 81, 233472 },
	{ 82, 65536 },
	{ 83, 1 },
	{ 86, 0 },
	{ 87, 2 },
	{ 89, 1 },
	{ 90, 1 },
	{ 91, 1 },
	{ 92, 1 },
	{ 93, 1 },
	{ 95, 1 },
	{ 97, 232448 },
	{ 99, 1 },
	{ 102, 1 },
	{ 106, 32 },
	{ 111, 1024 },
	{ 115, 1 },
	{ 122, 1 },
	{ 134, -1 },
};

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice dev)
{
	DEVICE_OR_RETURN(value, dev);
	if (attribute < 1 || attribute > 148)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attribute == 33 ? 0x18 + dev : 0;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (attributes[i].attribute == attribute)
			*value = attributes[i].value;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	DEVICE_OR_RETURN(id, dev);
	if (len < 13)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(id, len, "0000:%02X:00.0", (0x18 + dev) & 0xff);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *id)
{
	char own[16];

	DEVICE_OR_RETURN(dev, 0);
	for (int i = 0; id && i < sim_config.devices; i++)
		if (!cuDeviceGetPCIBusId(own, sizeof(own), i) && !strcasecmp(own, id)) {
			*dev = i;
			return CUDA_SUCCESS;
		}
	return id ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	DEVICE_OR_RETURN(can, dev);
	DEVICE_OR_RETURN(can, peer);
	*can = 0; /* no device can access another */
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice dev, CUdevice peer)
{
	(void)attribute;
	return cuDeviceCanAccessPeer(value, dev, peer);
}
