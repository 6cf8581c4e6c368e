#include "formats/export/chrome/chrome_head.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64u /* that deviceProperties lists */

/* The number in "13.0", as CUDA writes it: 13000. */
static int64_t cuda_version(const json_t *meta)
{
	const char *text = json_string_value(json_object_get(meta, "cuda_version"));
	int major = 0, minor = 0;

	if (!text || sscanf(text, "%5d.%2d", &major, &minor) < 1)
		return 0;
	return major * 1000 + minor * 10;
}

/* Adds the limits of a GPU that gtcollect recorded, with Kineto's names. */
static void add_limits(json_t *to, const json_t *limits)
{
	static const char *const names[][2] = { { "multiprocessors", "numSms" },
		{ "threads", "maxThreadsPerMultiprocessor" },
		{ "registers", "regsPerMultiprocessor" },
		{ "shared_bytes", "sharedMemPerMultiprocessor" } };
	const char *capability = json_string_value(json_object_get(limits, "compute_capability"));
	unsigned major = 0, minor = 0;

	if (!capability || sscanf(capability, "%u.%u", &major, &minor) != 2)
		return;
	json_object_set_new(to, "computeMajor", json_integer(major));
	json_object_set_new(to, "computeMinor", json_integer(minor));
	json_object_set_new(to, "warpSize", json_integer(32));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		json_t *value = json_object_get(limits, names[i][0]);

		if (value)
			json_object_set(to, names[i][1], value);
	}
}

/* The machine's GPU with this UUID; the first one if the UUID is unknown and all are of one model.
 * NULL: unknown. */
static const json_t *gpu_of_uuid(const json_t *gpus, const char *uuid)
{
	const json_t *first = json_array_get(gpus, 0);

	for (size_t i = 0; i < json_array_size(gpus) && i < DEVICES_MAX; i++) {
		const json_t *gpu = json_array_get(gpus, i);
		const char *text = json_string_value(json_object_get(gpu, "uuid"));

		if (text && !strcmp(strncmp(text, "GPU-", 4) ? text : text + 4, uuid))
			return gpu;
		if (first &&
			!json_equal(json_object_get(gpu, "model"), json_object_get(first, "model")))
			first = NULL;
	}
	return first;
}

static json_t *new_device(size_t id, const json_t *gpu)
{
	json_t *o = json_pack("{s:I}", "id", (json_int_t)id),
	       *model = json_object_get(gpu, "model");

	if (model)
		json_object_set(o, "name", model);
	return o;
}

/* Removes the values of `to` that differ in `other`. */
static void intersect(json_t *to, const json_t *other)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(to, next, key, value)
	{
		if (!json_equal(value, json_object_get(other, key)))
			json_object_del(to, key);
	}
}

/* Adds a device of a process ("gpu_uuids.PID.DEVICE"). Device 0 may be another GPU in another
 * process, and another than the first GPU of the machine. */
static void add_device(json_t **devices, const json_t *meta, const char *key, const json_t *uuid)
{
	unsigned device;
	char limits[64];
	json_t *o;

	if (sscanf(key, "gpu_uuids.%*d.%u", &device) != 1 || device >= DEVICES_MAX ||
		!json_is_string(uuid))
		return;
	o = new_device(device, gpu_of_uuid(json_object_get(meta, "gpus"), json_string_value(uuid)));
	snprintf(limits, sizeof(limits), "gpu_limits.%s", key + strlen("gpu_uuids."));
	add_limits(o, json_object_get(meta, limits));
	if (!devices[device]) {
		devices[device] = o;
		return;
	}
	intersect(devices[device], o);
	json_decref(o);
}

/* By number of the device. A GPU of the machine that no process is known to use has its number
 * there. */
static json_t *device_properties(json_t *meta)
{
	json_t *list = json_array(), *devices[DEVICES_MAX] = { NULL },
	       *gpus = json_object_get(meta, "gpus");
	size_t n = json_array_size(gpus);

	n = n < DEVICES_MAX ? n : DEVICES_MAX;
	for (void *at = json_object_iter(meta); at; at = json_object_iter_next(meta, at))
		add_device(devices, meta, json_object_iter_key(at), json_object_iter_value(at));
	for (size_t i = 0; i < DEVICES_MAX; i++)
		n = devices[i] && i >= n ? i + 1 : n;
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, devices[i] ?: new_device(i, json_array_get(gpus, i)));
	return list;
}

/* Rank and number of ranks, from the variables of launchers. NULL: unknown. */
static json_t *distributed_info(const json_t *meta)
{
	static const char *const keys[][2] = { { "RANK", "WORLD_SIZE" },
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" }, { "PMI_RANK", "PMI_SIZE" } };
	const json_t *environment = json_object_get(meta, "environment");
	json_t *info;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *rank = json_string_value(json_object_get(environment, keys[i][0])),
			   *size = json_string_value(json_object_get(environment, keys[i][1]));

		if (!rank)
			continue;
		info = json_object();
		json_object_set_new(info, "rank", json_integer(atoi(rank)));
		if (size)
			json_object_set_new(info, "world_size", json_integer(atoi(size)));
		return info;
	}
	return NULL;
}

void gt_chrome_add_head(json_t *head, json_t *meta)
{
	json_t *theirs = json_object_get(meta, "kineto"), *info = distributed_info(meta);
	int64_t cuda = cuda_version(meta);

	json_object_set_new(head, "schemaVersion", json_integer(1));
	json_object_set_new(head, "deviceProperties", device_properties(meta));
	if (info)
		json_object_set_new(head, "distributedInfo", info);
	if (cuda)
		json_object_set_new(head, "cuda_driver_version", json_integer(cuda));
	if (theirs)
		json_object_update(head, theirs);
	json_object_del(head, "otherData");
	json_object_del(head, "traceEvents");
	json_object_set_new(head, "displayTimeUnit", json_string("ns"));
}
