/* Converts a call's parameters to the argument words of its record, by the table of fields
 * (gt_api_fields). If the driver refused to follow a pointer, the guest does not follow it either
 * (arg_values.h).
 *
 * NAMES OF KERNELS. A launch has only a handle. The kernel's name is known earlier, often from
 * another thread: when the program gets the handle. The names are stored per process. Each thread
 * writes a handle's name to its own ring before the first record with that handle. */
#include "collect/guest/core/guest_args.h"
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/core/guest_resolve.h"

/* ---- names ---- */

static uint32_t hash_handle(uint64_t handle)
{
	return (uint32_t)(handle * 0x9e3779b97f4a7c15ULL >> 40);
}

/* Returns the entry of a handle, and with `add` creates a missing one. NULL: there is none, or
 * the table is full. */
static struct gt_interned_name *name_entry(uint64_t handle, bool add)
{
	uint32_t hash = hash_handle(handle);

	for (uint32_t k = 0; k < 64; k++) {
		struct gt_interned_name *e = &gt_process_state->names[(hash + k) % GT_NAMES];
		uint64_t there = __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE);

		if (there == handle)
			return e;
		if (there)
			continue;
		if (!add)
			return NULL;
		if (__atomic_compare_exchange_n(&e->handle, &there, handle, false, __ATOMIC_ACQ_REL,
			    __ATOMIC_ACQUIRE) ||
			there == handle)
			return e;
	}
	return NULL;
}

static uint64_t store_text(const char *text, uint32_t len)
{
	uint32_t at = __atomic_fetch_add(&gt_process_state->texts_used, len, __ATOMIC_RELAXED);

	if (len > GT_TEXTS || at > GT_TEXTS - len) {
		__atomic_fetch_sub(&gt_process_state->texts_used, len, __ATOMIC_RELAXED);
		return 0;
	}
	memcpy(gt_process_state->texts + at, text, len);
	return (uint64_t)at << 32 | len;
}

static void set_name(uint64_t handle, const char *text)
{
	struct gt_interned_name *e = handle ? name_entry(handle, true) : NULL;
	uint32_t len = e && text ? gt_ring_text_length(text) : 0;
	uint64_t old;

	if (!e)
		return;
	old = __atomic_load_n(&e->text, __ATOMIC_ACQUIRE);
	if (len && (uint32_t)old == len &&
		!memcmp(gt_process_state->texts + (old >> 32), text, len))
		return;
	__atomic_store_n(&e->text, len ? store_text(text, len) : GT_NAME_QUERY, __ATOMIC_RELEASE);
	if (old)
		__atomic_fetch_add(&gt_process_state->names_epoch, 1, __ATOMIC_RELEASE);
}

/* Queries the driver. Its functions for that exist since CUDA 12.3. */
static const char *query_name(uint64_t handle, bool kernel)
{
	static struct gt_driver_function of_kernel, of_function;
	int32_t (*ask)(const char **, uint64_t) =
		(kernel ? gt_driver_function_address(&of_kernel, "cuKernelGetName")
			: gt_driver_function_address(&of_function, "cuFuncGetName"));
	const char *name = NULL;
	GT_GUEST_CODE;

	return ask && !ask(&name, handle) ? name : NULL;
}

uint64_t gt_kernel_name(uint64_t handle)
{
	struct gt_interned_name *e = name_entry(handle, false);
	uint64_t text = e ? __atomic_load_n(&e->text, __ATOMIC_ACQUIRE) : 0;

	if (!handle || text > GT_NAME_QUERY)
		return text;
	set_name(handle, query_name(handle, text == GT_NAME_QUERY));
	e = name_entry(handle, false);
	text = e ? __atomic_load_n(&e->text, __ATOMIC_ACQUIRE) : 0;
	return text > GT_NAME_QUERY ? text : 0;
}

void gt_put_kernel_name(struct gt_tcb *t, uint64_t handle)
{
	uint32_t epoch = __atomic_load_n(&gt_process_state->names_epoch, __ATOMIC_ACQUIRE),
		 at = hash_handle(handle), k;
	const struct gt_interned_name *e;
	const char *text = NULL;
	uint64_t stored;

	if (t->names_epoch != epoch) {
		memset(t->sent_names, 0, sizeof(t->sent_names));
		t->names_epoch = epoch;
	}
	for (k = 0; k < 8 && t->sent_names[(at + k) % GT_SENT_NAMES]; k++)
		if (t->sent_names[(at + k) % GT_SENT_NAMES] == handle)
			return;
	t->sent_names[(at + k % 8) % GT_SENT_NAMES] = handle;
	e = name_entry(handle, false);
	stored = e ? __atomic_load_n(&e->text, __ATOMIC_ACQUIRE) : 0;
	if (stored > GT_NAME_QUERY)
		gt_ring_put_text(t, GT_REC_NAME, handle, gt_process_state->texts + (stored >> 32),
			(uint32_t)stored);
	else if ((text = query_name(handle, stored == GT_NAME_QUERY)))
		gt_ring_put_text(t, GT_REC_NAME, handle, text, gt_ring_text_length(text));
}

/* ---- devices ---- */

enum { DEVICE_ORDINAL = 9 }; /* CUpointer_attribute */

void *gt_driver_function_address(struct gt_driver_function *a, const char *name)
{
	uint32_t now = __atomic_load_n(&gt_driver_generation, __ATOMIC_ACQUIRE);

	if (gt_unlikely(__atomic_load_n(&a->drivers, __ATOMIC_ACQUIRE) != now)) {
		__atomic_store_n(&a->function, gt_find_driver_function(name), __ATOMIC_RELEASE);
		__atomic_store_n(&a->drivers, now, __ATOMIC_RELEASE);
	}
	return __atomic_load_n(&a->function, __ATOMIC_ACQUIRE);
}

/* Memory is on the device of the current context, but memory of a pool is on the pool's device. */
static uint64_t device_of(uint64_t address, bool of_pool)
{
	GT_GUEST_CODE;
	static struct gt_driver_function context, pointer;
	int32_t (*of_context)(int32_t *) = gt_driver_function_address(&context, "cuCtxGetDevice");
	int32_t (*of_pointer)(void *, uint32_t, uint64_t) =
		gt_driver_function_address(&pointer, "cuPointerGetAttribute");
	int32_t device = -1;

	if (of_pool && of_pointer && !of_pointer(&device, DEVICE_ORDINAL, address) && device >= 0)
		return (uint64_t)device;
	return of_context && !of_context(&device) && device >= 0 ? (uint64_t)device : UINT64_MAX;
}

/* The UUID identifies the GPU in the machine: each process may number its devices differently. */
static bool uuid_of(uint64_t device, uint8_t uuid[16])
{
	GT_GUEST_CODE;
	static struct gt_driver_function newer, older;
	int32_t (*ask)(void *, int32_t) = gt_driver_function_address(&newer, "cuDeviceGetUuid_v2");

	if (!ask)
		ask = gt_driver_function_address(&older, "cuDeviceGetUuid");
	return device != UINT64_MAX && ask && !ask(uuid, (int32_t)device);
}

/* Limits are asked for once per device: 64 devices at most, as the recorder writes. Two threads may
 * write the same values. */
static void limits_of(uint64_t device, uint32_t to[GT_DEVICE_LIMITS])
{
	GT_GUEST_CODE;
	static const uint8_t attributes[GT_DEVICE_LIMITS] = { /* CUdevice_attribute */
		[GT_DEVICE_CAPABILITY_MAJOR] = 75,
		[GT_DEVICE_CAPABILITY_MINOR] = 76,
		[GT_DEVICE_MULTIPROCESSORS] = 16,
		[GT_DEVICE_THREADS] = 39,
		[GT_DEVICE_BLOCKS] = 106,
		[GT_DEVICE_REGISTERS] = 82,
		[GT_DEVICE_SHARED] = 81,
		[GT_DEVICE_SHARED_RESERVED] = 111
	};
	static uint32_t known[64][GT_DEVICE_LIMITS];
	static struct gt_driver_function attribute;
	int32_t (*ask)(int32_t *, int32_t, int32_t) =
		gt_driver_function_address(&attribute, "cuDeviceGetAttribute");

	memset(to, 0, GT_DEVICE_LIMITS * sizeof(*to));
	if (device >= 64 || !ask)
		return;
	/* the capability last: where it is known, all others are */
	for (unsigned i = GT_DEVICE_LIMITS;
		i-- && !__atomic_load_n(known[device], __ATOMIC_ACQUIRE);) {
		int32_t value = 0;

		if (!ask(&value, attributes[i], (int32_t)device) && value > 0)
			__atomic_store_n(&known[device][i], (uint32_t)value, __ATOMIC_RELEASE);
	}
	memcpy(to, known[device], GT_DEVICE_LIMITS * sizeof(*to));
}

/* Writes the device of an allocation to the ring, unless the thread's last allocation was on the
 * same device. */
static void put_device(struct gt_tcb *t, const struct gt_api *api, uint64_t address)
{
	struct gt_ev_device e;
	uint64_t device, now;
	bool known;

	if (api->memkind == GT_MEM_HOST || api->memkind == GT_MEM_PHYSICAL ||
		api->memkind == GT_MEM_MANAGED)
		return;
	device = device_of(address, api->memkind == GT_MEM_POOL);
	if ((uint32_t)device + 2 == t->device)
		return;
	e.device = device;
	known = uuid_of(device, e.uuid);
	limits_of(device, e.limits);
	now = gt_now(t);
	if (gt_ring_put_event(t, GT_EV_DEVICE, now, now, &e, known ? sizeof(e) : sizeof(e.device)))
		t->device = (uint32_t)device + 2;
	else
		gt_ring_count_drop(t, now, now);
}

/* ---- hooks of single functions ---- */

static bool is_attached(void) { return gt_process_state && gt_process_state->pid; }

/* cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) */
void gt_after_get_function(int32_t ret, const uint64_t *params, const void *caller)
{
	const uint64_t *function = (const uint64_t *)params[0];
	const char *name = (const char *)params[2];

	(void)caller;
	if (!ret && function && name && is_attached())
		set_name(*function, name);
}

/* cuLibraryGetKernel(CUkernel *, CUlibrary, const char *) */
void gt_after_get_kernel(int32_t ret, const uint64_t *params, const void *caller)
{
	gt_after_get_function(ret, params, caller);
}

/* cuKernelGetFunction(CUfunction *function, CUkernel): the function inherits the kernel's name */
void gt_after_kernel_function(int32_t ret, const uint64_t *params, const void *caller)
{
	const uint64_t *function = (const uint64_t *)params[0], kernel = params[1];
	struct gt_interned_name *from, *to;
	const char *name;
	uint64_t text, old;

	(void)caller;
	if (ret || !function || !is_attached())
		return;
	from = name_entry(kernel, false);
	text = from ? __atomic_load_n(&from->text, __ATOMIC_ACQUIRE) : GT_NAME_QUERY;
	if (text > GT_NAME_QUERY) {
		to = name_entry(*function, true);
		old = to ? __atomic_exchange_n(&to->text, text, __ATOMIC_ACQ_REL) : text;
		if (old && old != text)
			__atomic_fetch_add(&gt_process_state->names_epoch, 1, __ATOMIC_RELEASE);
	} else if ((name = query_name(kernel, true)))
		set_name(*function, name);
}

/* cuLibraryEnumerateKernels(CUkernel *kernels, unsigned size, CUlibrary): notes that these handles
 * are kernels; their names are queried at first use */
void gt_after_kernels(int32_t ret, const uint64_t *params, const void *caller)
{
	int32_t (*count)(uint32_t *, uint64_t) = gt_find_driver_function("cuLibraryGetKernelCount");
	const uint64_t *kernels = (const uint64_t *)params[0], library = params[2];
	uint32_t size = (uint32_t)params[1], n = 0;

	(void)caller;
	if (ret || !kernels || !is_attached() || !count || count(&n, library))
		return;
	for (uint32_t i = 0; i < n && i < size; i++)
		if (kernels[i] && !name_entry(kernels[i], false))
			set_name(kernels[i], NULL);
}

void gt_after_profiler_start(int32_t ret, const uint64_t *params, const void *caller)
{
	(void)params, (void)caller;
	if (!ret)
		gt_set_range_active(GT_RANGE_PROFILER, true);
}

void gt_after_profiler_stop(int32_t ret, const uint64_t *params, const void *caller)
{
	(void)ret, (void)params, (void)caller;
	gt_set_range_active(GT_RANGE_PROFILER, false);
}

/* ---- values ---- */

uint64_t gt_arg_value(struct gt_tcb *t, const struct gt_arg *a, const uint64_t *params, int32_t ret)
{
	uint64_t word = params[a->param];

	if (a->how == GT_FROM_STR)
		return word && gt_inputs_were_read(ret) ? gt_ring_put_string(t, (const char *)word)
							: 0;
	return gt_arg_value_of(a, params, ret, (const uint8_t *)params[gt_arg_memory(a)]);
}

static bool is_recorded(const struct gt_tcb *t, const struct gt_arg *a)
{
	return t->args == GT_ARGS_ALL || a->key;
}

uint32_t gt_call_open_args(const struct gt_call *c, const uint64_t *params)
{
	uint64_t *to = gt_call_claim_entry(c)->args;
	uint32_t n = 0;

	for (uint32_t i = gt_args_first[c->id];
		i < gt_args_first[c->id + 1] && n < GT_RING_OPEN_ARGS; i++) {
		const struct gt_arg *a = &gt_args[i];

		if (!is_recorded(c->t, a))
			continue;
		if (a->how > GT_FROM_I32 && a->how != GT_FROM_TIMES && a->how != GT_FROM_AREA)
			/* an output, or memory that must not be read before the driver has read it
			 */
			break;
		to[n++] = gt_arg_value(c->t, a, params, 0);
	}
	return n;
}

void gt_call_record_args(const struct gt_call *c, int32_t ret, const uint64_t *params)
{
	uint64_t words[GT_FIELDS_MAX], stream = 0;
	struct gt_tcb *t = c->t;
	uint32_t n = 0;

	if (t->ring)
		for (uint32_t i = gt_args_first[c->id]; i < gt_args_first[c->id + 1]; i++) {
			const struct gt_arg *a = &gt_args[i];

			if (!is_recorded(t, a))
				continue;
			words[n] = gt_arg_value(t, a, params, ret);
			if (a->role == GT_R_STREAM)
				stream = words[n];
			if (a->role == GT_R_ADDR && !ret && gt_api[c->id].op == GT_OP_ALLOC)
				put_device(t, &gt_api[c->id], words[n]);
			if (a->role == GT_R_FUNC && words[n] && !ret)
				gt_put_kernel_name(t, words[n]);
			n++;
		}
	if (gt_unlikely(__atomic_load_n(&gt_captures_active, __ATOMIC_RELAXED)) && !ret && t->ring)
		gt_put_captured_node(c, stream);
	gt_call_record_words(c, ret, words, n);
}
