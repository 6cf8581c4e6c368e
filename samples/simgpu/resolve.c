/* cuGetProcAddress: from a name, a CUDA version and a default-stream flag to an entry point.
 *
 * A name has a row for each ABI it ever had here: the version it came with, and whether stream 0 means the thread's own. The
 * answer is the newest row that is not newer than the version asked for; with flag 2 a per-thread row goes before others. */
#include "samples/simgpu/sim.h"

#include <string.h>

enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };
enum { FOUND, NO_SYMBOL, NO_VERSION };	/* CUdriverProcAddressQueryResult */

static const struct sim_entry *best(const char *name, int version, bool per_thread, int *status)
{
	const struct sim_entry *b = NULL;

	*status = NO_SYMBOL;
	for (size_t i = 0; i < sim_entries_n; i++) {
		const struct sim_entry *e = &sim_entries[i];

		if (strcmp(e->name, name))
			continue;
		if (e->version > version || (e->per_thread && !per_thread)) {
			*status = b ? FOUND : NO_VERSION;
			continue;
		}
		if (!b || e->per_thread > b->per_thread || (e->per_thread == b->per_thread && e->version > b->version))
			b = e;
		*status = FOUND;
	}
	return b;
}

CUresult cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
	const struct sim_entry *e;
	int found;

	if (!name || !fn || flags > PER_THREAD_STREAM || version > SIM_DRIVER_VERSION)
		return CUDA_ERROR_INVALID_VALUE;
	*fn = NULL;
	if (status)
		*status = FOUND;
	if (!*name)		/* how the runtime asks whether there is such a function */
		return CUDA_SUCCESS;
	e = best(name, version, flags == PER_THREAD_STREAM, &found);
	if (status)
		*status = found;
	if (e)
		*fn = (void *)e->at;
	return e ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, fn, version, flags, NULL);
}
