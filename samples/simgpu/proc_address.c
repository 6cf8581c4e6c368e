/* cuGetProcAddress: from a name, a CUDA version and a default-stream flag to an entry point.
 *
 * A name has a row for each ABI it ever had here: the version it came with, and whether stream 0 means the thread's own. The
 * answer is the newest row that is not newer than the version asked for; with flag 2 a name that has per-thread rows is looked
 * up in these alone. As the real driver (580) has it: _v2 succeeds with a null pointer and a status when there is no answer,
 * the older form returns NOT_FOUND and leaves the pointer as it was. */
#include "samples/simgpu/sim.h"

#include <string.h>

enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };
enum { FOUND, NO_SYMBOL, NO_VERSION };	/* CUdriverProcAddressQueryResult */

static bool has_per_thread(const char *name)
{
	size_t i = 0;

	while (i < sim_entries_n && (!sim_entries[i].per_thread || strcmp(sim_entries[i].name, name)))
		i++;
	return i < sim_entries_n;
}

static const struct sim_entry *best(const char *name, int version, bool per_thread, int *status)
{
	const struct sim_entry *b = NULL;

	*status = NO_SYMBOL;
	for (size_t i = 0; i < sim_entries_n; i++) {
		const struct sim_entry *e = &sim_entries[i];

		if (e->per_thread != per_thread || strcmp(e->name, name))
			continue;
		if (e->version <= version && (!b || e->version > b->version))
			b = e;
		*status = b ? FOUND : NO_VERSION;
	}
	return b;
}

static bool valid(const char *name, void **fn, int version, uint64_t flags)
{
	return name && fn && flags <= (LEGACY_STREAM | PER_THREAD_STREAM) && version <= SIM_DRIVER_VERSION;
}

CUresult cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
	const struct sim_entry *e;
	int found;

	if (!valid(name, fn, version, flags))
		return CUDA_ERROR_INVALID_VALUE;
	e = best(name, version, flags & PER_THREAD_STREAM && has_per_thread(name), &found);
	*fn = e ? (void *)e->at : NULL;
	if (status)
		*status = found;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags)
{
	void *at;

	if (!valid(name, fn, version, flags))
		return CUDA_ERROR_INVALID_VALUE;
	cuGetProcAddress_v2(name, &at, version, flags, NULL);
	if (at)
		*fn = at;
	return at ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
