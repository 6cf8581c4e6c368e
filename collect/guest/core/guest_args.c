/* Converts a call's parameters to the argument words of its record, by the table of fields
 * (gt_api_fields).
 *
 * Inputs are read after the call, and only if its return code shows that the driver itself has
 * read them: if the driver refused to follow a pointer, the guest must not follow it either.
 * Outputs are read after success.
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

enum { OUT_OF_MEMORY = 2, NOT_FOUND = 500, LAUNCH_ERRORS = 700, LAUNCH_ERRORS_END = 720 };

/* True: the driver has read its inputs, as it returns these codes only after that. */
static bool inputs_were_read(int32_t ret)
{
	return !ret || ret == OUT_OF_MEMORY || ret == NOT_FOUND ||
		(ret >= LAUNCH_ERRORS && ret < LAUNCH_ERRORS_END);
}

static uint64_t sext(uint32_t v) { return (uint64_t)(int64_t)(int32_t)v; }
static uint64_t at_least_1(uint64_t v) { return v ? v : 1; }

/* CUmemorytype: 1 host, 2 device, 3 array, 4 unified */
static uint64_t copy_end(const uint8_t *type)
{
	switch (gt_u32_at(type)) {
	case 1: return gt_u64_at(type + 8);
	case 2:
	case 4: return gt_u64_at(type + 16);
	case 3: return gt_u64_at(type + 24);
	}
	return 0;
}

static uint64_t copy_direction(uint32_t src, uint32_t dst)
{
	static const uint8_t directions[4] = { GT_DIR_HTOH, GT_DIR_HTOD, GT_DIR_DTOH, GT_DIR_DTOD };

	if (src - 1 > 2 || dst - 1 > 2)
		return GT_DIR_UNKNOWN;
	return directions[(src != 1) * 2 + (dst != 1)];
}

/* { CUarray_format, channels }: bytes of an element; 0: the format is compressed or planar and
 * has no such size */
static uint64_t element_bytes(const uint8_t *format)
{
	uint64_t channels = gt_u32_at(format + 4);

	switch (gt_u32_at(format)) {
	case 0x01:
	case 0x08:
	case 0xc0 ... 0xc2:
	case 0xc6 ... 0xc8: return channels;
	case 0x02:
	case 0x09:
	case 0x10:
	case 0xc3 ... 0xc5:
	case 0xc9 ... 0xcb: return 2 * channels;
	case 0x03:
	case 0x0a:
	case 0x20: return 4 * channels;
	}
	return 0;
}

/* Sum of n sizes; 0 if n is greater than any program uses, as the array is then not an array of
 * sizes. */
static uint64_t sum(const uint8_t *sizes, uint64_t n)
{
	uint64_t total = 0;

	for (uint64_t i = 0; n <= 1u << 20 && i < n; i++)
		total += gt_u64_at(sizes + 8 * i);
	return total;
}

static uint64_t from_struct(const struct gt_arg *a, const uint8_t *p)
{
	const uint8_t *m = p + a->at;

	switch (a->how) {
	case GT_FROM_MEM64: return gt_u64_at(m);
	case GT_FROM_MEM32: return gt_u32_at(m);
	case GT_FROM_LOCATION: return gt_u32_at(m) == 1 ? sext(gt_u32_at(m + 4)) : UINT64_MAX;
	case GT_FROM_END: return copy_end(m);
	case GT_FROM_ENDS:
		return copy_direction(gt_u32_at(p + (a->at >> 8)), gt_u32_at(p + (a->at & 255)));
	case GT_FROM_RECT: return gt_u64_at(m) * gt_u64_at(m + 8);
	case GT_FROM_BOX: return gt_u64_at(m) * gt_u64_at(m + 8) * gt_u64_at(m + 16);
	case GT_FROM_ARRAY2:
		return gt_u64_at(m) * at_least_1(gt_u64_at(m + 8)) * element_bytes(m + 16);
	case GT_FROM_ARRAY3:
		return gt_u64_at(m) * at_least_1(gt_u64_at(m + 8)) * at_least_1(gt_u64_at(m + 16)) *
			element_bytes(m + 24);
	}
	return 0;
}

uint64_t gt_arg_value(struct gt_tcb *t, const struct gt_arg *a, const uint64_t *params, int32_t ret)
{
	uint64_t word = params[a->param];

	switch (a->how) {
	case GT_FROM_WORD: return word;
	case GT_FROM_I32: return sext((uint32_t)word);
	case GT_FROM_TIMES: return word * a->at;
	case GT_FROM_AREA: return word * params[a->param - 1] * a->at;
	case GT_FROM_PITCH:
		return !ret && params[a->param - 2]
			? word * gt_u64_at((const uint8_t *)params[a->param - 2])
			: 0;
	case GT_FROM_SUM:
		return word && inputs_were_read(ret)
			? sum((const uint8_t *)word, params[a->param + 1])
			: 0;
	case GT_FROM_STR:
		return word && inputs_were_read(ret) ? gt_ring_put_string(t, (const char *)word)
						     : 0;
	case GT_FROM_OUT64: return word && !ret ? gt_u64_at((const void *)word) : 0;
	case GT_FROM_OUT32: return word && !ret ? gt_u32_at((const uint8_t *)word) : 0;
	case GT_FROM_OUT32S: return word && !ret ? sext(gt_u32_at((const uint8_t *)word)) : 0;
	}
	return word && inputs_were_read(ret) ? from_struct(a, (const uint8_t *)word) : 0;
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
