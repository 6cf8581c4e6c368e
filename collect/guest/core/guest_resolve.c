/* dlsym and cuGetProcAddress return a wrapper where the program asks for a driver function.
 *
 * The real lookup always runs first, and its result decides. A function that it does not find
 * stays not found. A function that the table lacks is returned unchanged, and its name is
 * recorded. Lookups by the driver itself, and by NVIDIA's tools that intercept it, never get a
 * wrapper: otherwise they would call themselves.
 *
 * glibc's dlsym identifies its caller by the return address (RTLD_NEXT, and RTLD_DEFAULT in a
 * library loaded RTLD_LOCAL). So the guest's dlsym has no frame: it calls gt_dlsym_hook and jumps
 * to the real dlsym with all registers unchanged (GT_TAIL_JUMP). */
#define _GNU_SOURCE
#include "collect/guest/core/guest_resolve.h"

#include <dlfcn.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_fast_path.h"
#include "collect/guest/core/guest_hooks.h"

void *gt_real[GT_API_MAX];
uint32_t gt_driver_generation = 1;
void *(*gt_real_dlsym)(void *, const char *)__attribute__((visibility("hidden")));

/* Calls of a function that is never recorded need no wrapper: the program gets the real function,
 * and its calls cost nothing extra. The gates, which say this, are constant after the attach. */
static bool is_never_recorded(uint32_t id)
{
	return !gt_after_by_id[id] &&
		(gt_passive || (gt_shared && gt_shared->gate[id] == GT_GATE_OFF));
}

/* Stores the real function behind a wrapper. Returns the address for the program: the wrapper, or
 * the real function if calls are never recorded. */
static void *set_real(uint32_t id, void *real)
{
	void *before = __atomic_exchange_n(&gt_real[id], real, __ATOMIC_ACQ_REL);

	if (gt_unlikely(before && before != real)) {
		__atomic_fetch_add(&gt_driver_generation, 1, __ATOMIC_RELEASE);
		gt_fast_path_disable(id);
	}
	return is_never_recorded(id) ? real : gt_wrapper[id];
}

/* For a program that is linked with libcuda: without the guest it would use the next definition
 * after the guest's. */
void *gt_resolve_function(uint32_t id)
{
	int saved = errno;
	void *real = gt_find_next_definition(gt_api[id].name, NULL);

	if (real)
		set_real(id, real);
	errno = saved;
	return real;
}

/* ---- dlsym ---- */

static bool is_driver_name(const char *name)
{
	return name && name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

/* RTLD_DEFAULT finds the guest's export first. Returns the definition that the caller would find
 * without the guest: a global one, or one in the libraries that the caller's library was loaded
 * with. */
static void *find_default(const char *name, const void *caller)
{
	struct gt_object o;
	void *real = gt_real_dlsym(RTLD_NEXT, name);

	if (!real && gt_object_at(caller, &o) && gt_object_needs(&o, "libcuda.so"))
		real = gt_find_driver_function(name);
	return real;
}

/* RTLD_NEXT searches the libraries after the caller. It finds the guest's export only if the
 * caller is before the guest in load order. */
static bool finds_only_ours(const char *name, const void *caller)
{
	struct gt_object o;

	return gt_object_at(caller, &o) && !o.after_guest && !gt_real_dlsym(RTLD_NEXT, name);
}

/* Other libraries that intercept the driver export its names, too. If they got a wrapper of the
 * guest as the real function, calls would loop between them and the guest. */
static bool exports_too(const void *caller, const char *name)
{
	struct gt_object o;

	return gt_object_at(caller, &o) && gt_object_symbol(&o, name);
}

static struct gt_tail answer(void *value)
{
	return (struct gt_tail){ .value = value, .answered = 1 };
}

/* Returns the result for a function that the real lookup has found. */
static struct gt_tail substitute(const char *name, uint32_t id, void *real, const void *caller)
{
	return answer(
		gt_is_driver_code(caller) || exports_too(caller, name) ? real : set_real(id, real));
}

static struct gt_tail by_default(const char *name, uint32_t id, const void *caller)
{
	void *real = find_default(name, caller);

	return real ? substitute(name, id, real, caller) : answer(NULL);
}

static struct gt_tail by_handle(void *handle, const char *name, uint32_t id, const void *caller)
{
	void *real = gt_real_dlsym(handle, name);
	struct gt_object o;

	if (real && gt_is_guest_code(real)) /* the handle of the main program */
		return by_default(name, id, caller);
	if (!real || !gt_object_at(real, &o) || !gt_object_has_name(&o, "libcuda.so"))
		return answer(real);
	if (id != GT_NONE)
		return substitute(name, id, real, caller);
	gt_record_unknown_function(name);
	return answer(real);
}

static bool is_cupti_name(const char *name) { return name && !strncmp(name, "cupti", 5); }

/* CUPTI's functions that have a wrapper (guest_cupti_sharing.c). A lookup by RTLD_DEFAULT finds
 * the guest's exports first; it must find nothing if CUPTI is not loaded. */
static struct gt_tail cupti(void *handle, const char *name, const void *caller)
{
	static const struct gt_tail go_on = { NULL, 0 };
	void *wrapper = gt_cupti_wrapper(name), *real;
	struct gt_object o;

	if (!wrapper || handle == RTLD_NEXT || gt_is_driver_code(caller))
		return go_on;
	if (handle == RTLD_DEFAULT)
		return gt_real_dlsym(RTLD_NEXT, name) ||
				(gt_object_at(caller, &o) && gt_object_needs(&o, "libcupti.so"))
			? go_on
			: answer(NULL);
	real = gt_real_dlsym(handle, name);
	return answer(real && gt_object_at(real, &o) && gt_object_has_name(&o, "libcupti.so")
			? wrapper
			: real);
}

void gt_dlsym_find_function(void)
{
	if (!gt_real_dlsym)
		gt_real_dlsym = gt_find_next_definition("dlsym", NULL);
}

/* The jump below calls it with dlsym's arguments and return address. */
struct gt_tail gt_dlsym_hook(void *handle, const char *name, void *caller)
	__attribute__((visibility("hidden"), used));
struct gt_tail gt_dlsym_hook(void *handle, const char *name, void *caller)
{
	static const struct gt_tail go_on = { NULL, 0 };
	uint32_t id;

	if (gt_unlikely(!gt_real_dlsym))
		gt_dlsym_find_function();
	if (gt_unlikely(is_cupti_name(name)) && !gt_inside && gt_real_dlsym)
		return cupti(handle, name, caller);
	if (gt_likely(!is_driver_name(name)) || gt_inside || !gt_real_dlsym)
		return go_on;
	id = gt_api_find(name);
	if (handle == RTLD_NEXT)
		return id != GT_NONE && finds_only_ours(name, caller) ? answer(NULL) : go_on;
	if (handle == RTLD_DEFAULT)
		return id != GT_NONE ? by_default(name, id, caller) : go_on;
	return by_handle(handle, name, id, caller);
}

#ifdef GT_HOSTED
GT_TAIL_JUMP(gt_hosted_dlsym, gt_dlsym_hook, gt_real_dlsym);
#else
GT_TAIL_JUMP(dlsym, gt_dlsym_hook, gt_real_dlsym);
#endif

/* ---- cuGetProcAddress ---- */

#define NEWEST 13000 /* the table's CUDA version */
enum { PER_THREAD = 2 };

/* Builds "base[_vN][suffix]"; false: it does not fit. */
static bool build_name(
	char to[128], const char *base, size_t len, unsigned version, const char *suffix)
{
	if (len + 12 > 128)
		return false;
	memcpy(to, base, len);
	if (version > 1) {
		memcpy(to + len, "_v", 2);
		to[len + 2] = (char)('0' + version);
		len += 3;
	}
	memcpy(to + len, suffix, strlen(suffix) + 1);
	return true;
}

/* The entry that the driver's rules select: the newest version that is not newer than the
 * requested one, and the variant for per-thread default streams if that is requested and exists. */
static uint32_t by_rule(const char *name, size_t len, int version, bool per_thread)
{
	static const char *const suffixes[] = { "_ptsz", "_ptds", "" };
	uint32_t best = GT_NONE, id;
	char full[128];

	for (unsigned s = per_thread ? 0 : 2; s < 3 && best == GT_NONE; s++)
		for (unsigned v = 1; v <= 9; v++)
			if (build_name(full, name, len, v, suffixes[s]) &&
				(id = gt_api_find(full)) != GT_NONE &&
				gt_api[id].since <= (uint32_t)version &&
				(best == GT_NONE || gt_api[id].since >= gt_api[best].since))
				best = id;
	return best;
}

/* The exported function at this address. If several names share the address, they are one
 * function: the entry `first`, found by rule, has priority. *exported: at least one name has this
 * address. */
static uint32_t by_address(const struct gt_object *o, const char *name, size_t len,
	const void *function, uint32_t first, bool *exported)
{
	static const char *const suffixes[] = { "", "_ptsz", "_ptds" };
	uint32_t found = GT_NONE;
	char full[128];

	*exported = true;
	if (first != GT_NONE && gt_object_symbol(o, gt_api[first].name) == function)
		return first;
	*exported = false;
	for (unsigned s = 0; s < 3; s++)
		for (unsigned v = 1; v <= 9; v++)
			if (build_name(full, name, len, v, suffixes[s]) &&
				gt_object_symbol(o, full) == function) {
				*exported = true;
				if (found == GT_NONE)
					found = gt_api_find(full);
			}
	return found;
}

static uint32_t identify(const char *name, void *function, int version, uint64_t flags)
{
	size_t len = strlen(name);
	uint32_t id = by_rule(name, len, version, flags & PER_THREAD), found;
	struct gt_object o;
	bool exported;

	if (!gt_object_at(function, &o))
		return version <= NEWEST ? id : GT_NONE;
	found = by_address(&o, name, len, function, id, &exported);
	if (exported)
		return found;
	/* newer than the table: possibly a version that the table lacks */
	return version <= NEWEST ? id : GT_NONE;
}

/* cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags, ...) */
void gt_after_get_proc(int32_t ret, const uint64_t *params, const void *caller)
{
	const char *name = (const char *)params[0];
	void **function = (void **)params[1];
	int version = (int)params[2];
	uint64_t flags = params[3];
	int saved = errno;
	uint32_t id;

	if (ret || !name || !function || !*function || gt_is_driver_code(caller) ||
		gt_is_guest_code(*function))
		return;
	id = identify(name, *function, version, flags);
	if (id == GT_NONE)
		gt_record_unknown_function(name);
	else if (!exports_too(caller, gt_api[id].name))
		*function = set_real(id, *function);
	errno = saved;
}
