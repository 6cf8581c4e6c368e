/* cuGetProcAddress: finds an entry point by name, CUDA version and default-stream flag.
 *
 * A name has a row for each of its ABIs: the version that introduced it, and whether stream 0 means
 * the thread's own. The result is the newest row that is not newer than the requested version. With
 * flag 2, a name that has per-thread rows is searched in these alone. As in the real driver (580):
 * if there is no result, _v2 succeeds with a null pointer and a status; the older form returns
 * NOT_FOUND and leaves the pointer unchanged. */
#include "samples/simgpu/sim.h"

#include <string.h>

enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };
enum { FOUND, NO_SYMBOL, NO_VERSION }; /* CUdriverProcAddressQueryResult */

static bool has_per_thread(const char *name)
{
	size_t i = 0;

	while (i < sim_entries_n &&
		(!sim_entries[i].per_thread || strcmp(sim_entries[i].name, name)))
		i++;
	return i < sim_entries_n;
}

static const struct sim_entry *find_newest(
	const char *name, int version, bool per_thread, int *status)
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

static bool is_valid_query(const char *name, void **fn, int version, uint64_t flags)
{
	return name && fn && flags <= (LEGACY_STREAM | PER_THREAD_STREAM) &&
		version <= SIM_DRIVER_VERSION;
}

CUresult cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
	const struct sim_entry *e;
	int found;

	if (!is_valid_query(name, fn, version, flags))
		return CUDA_ERROR_INVALID_VALUE;
	e = find_newest(name, version, flags & PER_THREAD_STREAM && has_per_thread(name), &found);
	*fn = e ? (void *)e->at : NULL;
	if (status)
		*status = found;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *name, void **fn, int version, uint64_t flags)
{
	void *at;

	if (!is_valid_query(name, fn, version, flags))
		return CUDA_ERROR_INVALID_VALUE;
	cuGetProcAddress_v2(name, &at, version, flags, NULL);
	if (at)
		*fn = at;
	return at ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
