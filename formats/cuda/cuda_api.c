/* The driver API as data: cuda_api.def as an array, a hash table of its names, and the expansion of
 * its parameter words into fields.
 *
 * The guest links this file too, so it uses nothing of libc but string.h; that is why the hash
 * table is not gt_map, which allocates. The first look-up fills it. Two threads may fill it at once
 * without a lock: both store the same values at the same places, in the same order. */
#include "formats/cuda/cuda_api.h"

#include <string.h>

#define GT_API(name, since, category, op, memkind, direction, role, params)                        \
	{ #name, since, GT_CAT_##category, GT_OP_##op, GT_MEM_##memkind, GT_DIR_##direction,       \
		GT_API_##role, params },
const struct gt_api gt_api[] = {
#include "formats/cuda/cuda_api.def"
};
#undef GT_API
#define ROWS (sizeof(gt_api) / sizeof(*gt_api))
const uint32_t gt_api_count = ROWS;
_Static_assert(ROWS <= GT_API_MAX, "ids beyond the table begin at GT_API_MAX");

/* ---- find ---- */
#define SLOTS 4096            /* a power of two, several times ROWS: about 1.1 probes */
static uint16_t slots[SLOTS]; /* id + 1; 0 is free */
static bool filled;

static uint32_t hash_name(const char *name, size_t len)
{
	uint32_t h = 0x811c9dc5;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x01000193;
	return h ^ h >> 15;
}

static void fill(void)
{
	for (uint32_t id = 0; id < ROWS; id++) {
		uint32_t at = hash_name(gt_api[id].name, strlen(gt_api[id].name)) % SLOTS;

		for (;; at = (at + 1) % SLOTS) {
			uint16_t there = __atomic_load_n(&slots[at], __ATOMIC_RELAXED);

			if (!there)
				__atomic_store_n(&slots[at], (uint16_t)(id + 1), __ATOMIC_RELAXED);
			if (!there || there == id + 1)
				break;
		}
	}
	__atomic_store_n(&filled, true, __ATOMIC_RELEASE);
}

static uint32_t find(const char *name, size_t len)
{
	if (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE))
		fill();
	for (uint32_t at = hash_name(name, len) % SLOTS;; at = (at + 1) % SLOTS) {
		uint16_t id = __atomic_load_n(&slots[at], __ATOMIC_RELAXED);

		if (!id)
			return GT_NONE;
		if (!strncmp(gt_api[id - 1].name, name, len) && !gt_api[id - 1].name[len])
			return id - 1;
	}
}

bool gt_api_changes_context(const char *name)
{
	uint32_t id = gt_api_find(name);

	return id == GT_NONE || gt_api[id].role == GT_API_CONTEXT_END ||
		gt_api[id].role == GT_API_CONTEXT_CHANGE;
}

bool gt_api_per_thread(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && (!strcmp(name + len - 5, "_ptsz") || !strcmp(name + len - 5, "_ptds"));
}

uint32_t gt_api_find(const char *name) { return find(name, strlen(name)); }

/* ---- guess ---- */
/* For names that the table lacks: what a word in the name means. The first match decides. */
static const struct guess {
	const char *word;
	uint8_t category, op, memkind;
} guesses[] = {
	{ "GraphLaunch", GT_CAT_LAUNCH, GT_OP_GRAPH_LAUNCH, 0 },
	{ "GraphAdd", GT_CAT_GRAPH, 0, 0 }, /* adds a node; the copy runs later */
	{ "NodeSetParams", GT_CAT_GRAPH, 0, 0 },
	{ "CallConfiguration", GT_CAT_LAUNCH, 0, 0 },
	{ "ConfigureCall", GT_CAT_LAUNCH, 0, 0 },
	{ "SetupArgument", GT_CAT_LAUNCH, 0, 0 },
	{ "Launch", GT_CAT_LAUNCH, GT_OP_LAUNCH, 0 },
	{ "Synchronize", GT_CAT_SYNC, GT_OP_SYNC, 0 },
	{ "Memcpy", GT_CAT_COPY, GT_OP_COPY, 0 },
	{ "Memset", GT_CAT_COPY, GT_OP_SET, 0 },
	{ "MemPrefetch", GT_CAT_COPY, 0, 0 },
	{ "MallocManaged", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_MANAGED },
	{ "MallocHost", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_HOST },
	{ "HostMalloc", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_HOST },
	{ "HostAlloc", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_HOST },
	{ "MallocAsync", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_POOL },
	{ "MallocFromPool", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_POOL },
	{ "Malloc3DArray", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_ARRAY },
	{ "MallocArray", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_ARRAY },
	{ "MallocMipmappedArray", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_ARRAY },
	{ "Malloc", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_DEVICE },
	{ "FreeHost", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_HOST },
	{ "HostFree", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_HOST },
	{ "HostRegister", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_HOST },
	{ "HostUnregister", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_HOST },
	{ "FreeAsync", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_POOL },
	{ "FreeArray", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_ARRAY },
	{ "FreeMipmappedArray", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_ARRAY },
	{ "cudaFree", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_DEVICE },
	{ "hipFree", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_DEVICE },
	{ "Query", GT_CAT_QUERY, 0, 0 },
	{ "GetLastError", GT_CAT_QUERY, 0, 0 },
	{ "PeekAtLastError", GT_CAT_QUERY, 0, 0 },
	{ "Graphics", GT_CAT_INTEROP, 0, 0 },
	{ "D3D", GT_CAT_INTEROP, 0, 0 },
	{ "Register", GT_CAT_MODULE, 0, 0 },
	{ "Get", GT_CAT_QUERY, 0, 0 },
	{ "Occupancy", GT_CAT_QUERY, 0, 0 },
	{ "External", GT_CAT_INTEROP, 0, 0 },
	{ "Ipc", GT_CAT_INTEROP, 0, 0 },
	{ "Graph", GT_CAT_GRAPH, 0, 0 },
	{ "Stream", GT_CAT_STREAM, 0, 0 },
	{ "Event", GT_CAT_STREAM, 0, 0 },
	{ "Module", GT_CAT_MODULE, 0, 0 },
	{ "Library", GT_CAT_MODULE, 0, 0 },
	{ "Func", GT_CAT_MODULE, 0, 0 },
	{ "Kernel", GT_CAT_MODULE, 0, 0 },
	{ "Texture", GT_CAT_MODULE, 0, 0 },
	{ "Surface", GT_CAT_MODULE, 0, 0 },
	{ "Ctx", GT_CAT_CONTEXT, 0, 0 },
	{ "Device", GT_CAT_CONTEXT, 0, 0 },
	{ "Init", GT_CAT_INIT, 0, 0 },
	{ "Mem", GT_CAT_MEMORY, 0, 0 },
	{ "Array", GT_CAT_MEMORY, 0, 0 },
};

size_t gt_api_base_length(const char *name)
{
	size_t n = strlen(name), digits;

	for (;;) {
		if (n > 5 &&
			(!strncmp(name + n - 5, "_ptsz", 5) ||
				!strncmp(name + n - 5, "_ptds", 5))) {
			n -= 5;
			continue;
		}
		/* HIP's word for _ptsz and _ptds */
		if (n > 4 && !strncmp(name + n - 4, "_spt", 4)) {
			n -= 4;
			continue;
		}
		for (digits = 0;
			digits < n && name[n - 1 - digits] >= '0' && name[n - 1 - digits] <= '9';)
			digits++;
		if (!digits || n < digits + 3 || strncmp(name + n - digits - 2, "_v", 2))
			return n;
		n -= digits + 2;
	}
}

/* The length of the prefix that names the API of a function; 0: none of these. A capital letter
 * follows it. HIP names its functions after both CUDA APIs: hipMalloc, hipModuleLoad, and
 * hipDrvMemcpy3D where both APIs have a function of that name. */
static size_t prefix_length(const char *name)
{
	static const char *const prefixes[] = { "__cuda", "__hip", "cuda", "cu", "hipDrv", "hipExt",
		"hip" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], n) && name[n] >= 'A' && name[n] <= 'Z')
			return n;
	}
	return 0;
}

bool gt_api_is_cuda(const char *name) { return prefix_length(name) != 0; }

bool gt_api_is(const char *name, const char *base)
{
	size_t n = strlen(base), skip;

	if (!strncmp(name, "hip", 3) && prefix_length(name)) {
		skip = prefix_length(base);
		name += prefix_length(name);
		base += skip;
		n -= skip;
	}
	return !strncmp(name, base, n) && gt_api_base_length(name) == n;
}

/* The row with this base name, in any version. A runtime or HIP function is looked up by the name
 * of the corresponding driver function. */
static uint32_t find_base(const char *name)
{
	size_t n = gt_api_base_length(name), skip = prefix_length(name);
	char twin[128] = "cu";
	uint32_t id;

	if (!skip || n < skip || n + 4 > sizeof(twin))
		return GT_NONE;
	memcpy(twin + 2, name + skip, n - skip);
	n = n - skip + 2;
	id = find(twin, n);
	for (char v = '2'; id == GT_NONE && v <= '4'; v++) {
		memcpy(twin + n, (char[]){ '_', 'v', v }, 3);
		id = find(twin, n + 3);
	}
	return id;
}

struct gt_api gt_api_guess(const char *name)
{
	struct gt_api api = { .params = "" };
	uint32_t id = gt_api_find(name);

	if (id == GT_NONE)
		id = find_base(name);
	if (id != GT_NONE)
		api = gt_api[id];
	for (size_t i = 0; id == GT_NONE && i < sizeof(guesses) / sizeof(*guesses); i++)
		if (strstr(name, guesses[i].word)) {
			api.category = guesses[i].category;
			api.op = guesses[i].op;
			api.memkind = guesses[i].memkind;
			break;
		}
	if (id == GT_NONE || strcmp(api.name, name))
		api.params = ""; /* the row of another function may have other parameters */
	api.name = name;
	return api;
}

/* ---- fields ---- */
/* The fields of one parameter of each kind. `how` and `at` say where the guest finds the value
 * (GT_FROM_*). The offsets are those of the structs in cuda.h, which are the same from CUDA 11 to
 * 13. If the name is NULL, name and role are the parameter's. */
#define U64 GT_F_U64
#define I64 GT_F_I64
#define HEX GT_F_HEX
static const struct part {
	char letter;
	const char *name;
	uint8_t kind, role;
	bool key;
	uint8_t how;
	uint16_t at;
} parts[] = {
/* clang-format off */
#define P(letter, name, kind, role, key, how, at) \
	{ letter, name, kind, GT_R_##role, key, GT_FROM_##how, at },
	P('i', NULL, I64, NONE, 1, I32, 0)
	P('u', NULL, U64, NONE, 1, WORD, 0)
	P('w', NULL, U64, NONE, 1, WORD, 0)
	P('b', NULL, U64, NONE, 1, WORD, 0)
	P('l', NULL, HEX, NONE, 1, WORD, 0)
	P('V', NULL, HEX, NONE, 1, WORD, 0)
	P('z', NULL, U64, NONE, 1, WORD, 0)
	P('f', NULL, GT_F_F64, NONE, 1, WORD, 0)
	P('h', NULL, HEX, NONE, 1, WORD, 0)
	P('p', NULL, HEX, NONE, 1, WORD, 0)
	P('a', NULL, HEX, NONE, 1, WORD, 0)
	P('X', NULL, HEX, NONE, 1, MEM64, 0)
	P('s', NULL, GT_F_STR, NONE, 1, STR, 0)
	P('H', NULL, HEX, NONE, 1, OUT64, 0)
	P('A', NULL, HEX, NONE, 1, OUT64, 0)
	P('Z', NULL, U64, NONE, 1, OUT64, 0)
	P('U', NULL, U64, NONE, 1, OUT32, 0)
	P('I', NULL, I64, NONE, 1, OUT32S, 0)
	P('E', "bytes", U64, BYTES, 1, TIMES, 2)
	P('Q', "bytes", U64, BYTES, 1, TIMES, 4)
	P('B', NULL, U64, NONE, 1, WORD, 0) P('B', "bytes", U64, BYTES, 1, AREA, 1)
	P('C', NULL, U64, NONE, 1, WORD, 0) P('C', "bytes", U64, BYTES, 1, AREA, 2)
	P('D', NULL, U64, NONE, 1, WORD, 0) P('D', "bytes", U64, BYTES, 1, AREA, 4)
	P('P', NULL, U64, NONE, 1, WORD, 0) P('P', "bytes", U64, BYTES, 1, PITCH, 0)
	P('K', "bytes", U64, BYTES, 1, SUM, 0)
#define LAUNCH(l, g, s) \
	P(l, "gridDimX", U64, GRID, 1, MEM32, g) P(l, "gridDimY", U64, GRID, 1, MEM32, g + 4) \
	P(l, "gridDimZ", U64, GRID, 1, MEM32, g + 8) \
	P(l, "blockDimX", U64, BLOCK, 1, MEM32, g + 12) \
	P(l, "blockDimY", U64, BLOCK, 1, MEM32, g + 16) \
	P(l, "blockDimZ", U64, BLOCK, 1, MEM32, g + 20) \
	P(l, "sharedMemBytes", U64, SHARED, 1, MEM32, s)
	LAUNCH('L', 0, 24) P('L', "hStream", HEX, STREAM, 1, MEM64, 32)
	P('L', "numAttrs", U64, NONE, 0, MEM32, 48)
	P('N', "func", HEX, FUNC, 1, MEM64, 0) LAUNCH('N', 8, 32)
	P('2', "dst", HEX, DST, 1, END, 72) P('2', "src", HEX, SRC, 1, END, 16)
	P('2', "WidthInBytes", U64, NONE, 0, MEM64, 112) P('2', "Height", U64, NONE, 0, MEM64, 120)
	P('2', "bytes", U64, BYTES, 1, RECT, 112)
	P('2', "direction", U64, DIRECTION, 1, ENDS, 16 << 8 | 72)
#define BOX(l) \
	P(l, "dst", HEX, DST, 1, END, 120) P(l, "src", HEX, SRC, 1, END, 32) \
	P(l, "WidthInBytes", U64, NONE, 0, MEM64, 176) P(l, "Height", U64, NONE, 0, MEM64, 184) \
	P(l, "Depth", U64, NONE, 0, MEM64, 192) P(l, "bytes", U64, BYTES, 1, BOX, 176)
	BOX('3') P('3', "direction", U64, DIRECTION, 1, ENDS, 32 << 8 | 120)
	BOX('4') P('4', "dstContext", HEX, CONTEXT, 1, MEM64, 152)
	P('4', "srcContext", HEX, CONTEXT, 1, MEM64, 64)
	P('M', "type", U64, NONE, 0, MEM32, 0) P('M', "handleTypes", U64, NONE, 0, MEM32, 4)
	P('M', "locationType", U64, NONE, 0, MEM32, 8) P('M', "device", I64, DEVICE, 1, LOCATION, 8)
	P('R', "Width", U64, NONE, 0, MEM64, 0) P('R', "Height", U64, NONE, 0, MEM64, 8)
	P('R', "Format", U64, NONE, 0, MEM32, 16)
	P('R', "NumChannels", U64, NONE, 0, MEM32, 20) P('R', "bytes", U64, BYTES, 1, ARRAY2, 0)
	P('T', "Width", U64, NONE, 0, MEM64, 0) P('T', "Height", U64, NONE, 0, MEM64, 8)
	P('T', "Depth", U64, NONE, 0, MEM64, 16)
	P('T', "Format", U64, NONE, 0, MEM32, 24) P('T', "NumChannels", U64, NONE, 0, MEM32, 28)
	P('T', "Flags", U64, NONE, 0, MEM32, 32) P('T', "bytes", U64, BYTES, 1, ARRAY3, 0)
	/* clang-format on */
};

static const struct {
	const char *word;
	uint8_t role;
} roles[] = {
	{ "bytes", GT_R_BYTES },
	{ "addr", GT_R_ADDR },
	{ "stream", GT_R_STREAM },
	{ "func", GT_R_FUNC },
	{ "grid", GT_R_GRID },
	{ "block", GT_R_BLOCK },
	{ "shared", GT_R_SHARED },
	{ "event", GT_R_EVENT },
	{ "graph", GT_R_GRAPH },
	{ "device", GT_R_DEVICE },
	{ "context", GT_R_CONTEXT },
	{ "src", GT_R_SRC },
	{ "dst", GT_R_DST },
	{ "value", GT_R_VALUE },
};

static uint8_t role_of(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
		if (strlen(roles[i].word) == len && !memcmp(roles[i].word, word, len))
			return roles[i].role;
	return GT_R_NONE;
}

/* Appends the fields of one word "kind:name[=role][!]". */
static unsigned expand(
	const char *word, size_t len, unsigned param, struct gt_api_field *fields, unsigned n)
{
	bool key = word[len - 1] == '!';
	const char *end = word + len - key, *equals = memchr(word, '=', len);

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && n < GT_FIELDS_MAX; i++) {
		const struct part *part = &parts[i];
		struct gt_api_field *f = &fields[n];
		const char *name = part->name ? part->name : word + 2;
		size_t name_len =
			part->name ? strlen(name) : (size_t)((equals ? equals : end) - name);

		if (part->letter != word[0])
			continue;
		*f = (struct gt_api_field){ .kind = part->kind,
			.role = part->role,
			.key = key && part->key,
			.param = (uint8_t)param,
			.how = part->how,
			.at = part->at };
		memcpy(f->name, name, name_len < sizeof(f->name) ? name_len : sizeof(f->name) - 1);
		if (equals && !part->name)
			f->role = role_of(equals + 1, (size_t)(end - equals - 1));
		n++;
	}
	return n;
}

unsigned gt_api_fields(const struct gt_api *api, struct gt_api_field fields[GT_FIELDS_MAX])
{
	unsigned n = 0, param = 0;

	for (const char *p = api->params; *p; param++) {
		size_t len = strcspn(p, " ");

		n = expand(p, len, param, fields, n);
		p += len;
		p += *p == ' ';
	}
	return n;
}
