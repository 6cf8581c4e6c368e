/* A program with NVTX's payload extension, for tests/cli/collect/nvtx_payload.sh. If the real
 * header is installed, the program uses it and compares our structures with it; with -DBY_HAND it
 * does the work of that header itself. If a result is wrong, it prints the line to stderr and
 * exits. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "collect/guest/nvtx/guest_nvtx.h"

#define EXPECT(what)                                                                               \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "line %d: %s\n", __LINE__, #what);                         \
			exit(9);                                                                   \
		}                                                                                  \
	} while (0)

#ifndef BY_HAND
#include <nvtx3/nvToolsExtPayload.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#define OTHER_EXTENSION
#endif

#define SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs)
#define AT(ours, f, theirs, g)                                                                     \
	_Static_assert(offsetof(struct ours, f) == offsetof(theirs, g), #theirs "." #g)
#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #theirs)
SIZE(gt_nvtx_attributes, nvtxEventAttributes_t);
AT(gt_nvtx_attributes, payload, nvtxEventAttributes_t, payload);
AT(gt_nvtx_attributes, npayloads, nvtxEventAttributes_t, reserved0);
AT(gt_nvtx_attributes, category, nvtxEventAttributes_t, category);
AT(gt_nvtx_attributes, color, nvtxEventAttributes_t, color);
AT(gt_nvtx_attributes, message_type, nvtxEventAttributes_t, messageType);
AT(gt_nvtx_attributes, message, nvtxEventAttributes_t, message);
SIZE(gt_nvtx_segment, nvtxExtModuleSegment_t);
AT(gt_nvtx_segment, n, nvtxExtModuleSegment_t, slotCount);
AT(gt_nvtx_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SIZE(gt_nvtx_module, nvtxExtModuleInfo_t);
AT(gt_nvtx_module, size, nvtxExtModuleInfo_t, structSize);
AT(gt_nvtx_module, id, nvtxExtModuleInfo_t, moduleId);
AT(gt_nvtx_module, compatible, nvtxExtModuleInfo_t, compatId);
AT(gt_nvtx_module, nsegments, nvtxExtModuleInfo_t, segmentsCount);
AT(gt_nvtx_module, segments, nvtxExtModuleInfo_t, segments);
SIZE(gt_nvtx_payload, nvtxPayloadData_t);
AT(gt_nvtx_payload, schema, nvtxPayloadData_t, schemaId);
AT(gt_nvtx_payload, size, nvtxPayloadData_t, size);
AT(gt_nvtx_payload, bytes, nvtxPayloadData_t, payload);
SIZE(gt_nvtx_entry, nvtxPayloadSchemaEntry_t);
AT(gt_nvtx_entry, type, nvtxPayloadSchemaEntry_t, type);
AT(gt_nvtx_entry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
AT(gt_nvtx_entry, offset, nvtxPayloadSchemaEntry_t, offset);
AT(gt_nvtx_schema, type, nvtxPayloadSchemaAttr_t, type);
AT(gt_nvtx_schema, entries, nvtxPayloadSchemaAttr_t, entries);
AT(gt_nvtx_schema, n, nvtxPayloadSchemaAttr_t, numEntries);
AT(gt_nvtx_schema, pack, nvtxPayloadSchemaAttr_t, packAlign);
AT(gt_nvtx_schema, id, nvtxPayloadSchemaAttr_t, schemaId);
AT(gt_nvtx_enum, id, nvtxPayloadEnumAttr_t, schemaId);
SIZE(gt_nvtx_scope, nvtxScopeAttr_t);
AT(gt_nvtx_scope, id, nvtxScopeAttr_t, scopeId);
SIZE(gt_nvtx_time, nvtxTimeDomainAttr_t);
AT(gt_nvtx_time, id, nvtxTimeDomainAttr_t, timeDomainId);
SAME(GT_NVTX_PAYLOAD_MODULE, NVTX_EXT_PAYLOAD_MODULEID);
SAME(GT_NVTX_PAYLOAD_VERSION, NVTX_EXT_PAYLOAD_COMPATID >> 8);
SAME(GT_SLOT_SCHEMA, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(GT_SLOT_ENUM, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(GT_SLOT_MARK, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(GT_SLOT_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(GT_SLOT_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(GT_SLOT_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(GT_SLOT_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(GT_SLOT_ENABLED, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(GT_SLOT_TIMESTAMP, NVTX3EXT_CBID_nvtxTimestampGet);
SAME(GT_SLOT_TIME_DOMAIN, NVTX3EXT_CBID_nvtxTimeDomainRegister);
SAME(GT_SLOT_SCOPE, NVTX3EXT_CBID_nvtxScopeRegister);
SAME(GT_SCHEMA_HAS_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
SAME(GT_SCHEMA_HAS_N, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SAME(GT_SCHEMA_HAS_PACK, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT);
SAME(GT_SCHEMA_HAS_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(GT_ENUM_HAS_ID, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME(GT_SCHEMA_STATIC, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC);
SAME(GT_SCHEMA_DYNAMIC, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
SAME(GT_ENTRY_POINTER, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(GT_ENTRY_ELSEWHERE,
	NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE);
SAME(GT_ENTRY_FIXED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
SAME(GT_ENTRY_TERMINATED, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED);
SAME(GT_ENTRY_ARRAY,
	NVTX_PAYLOAD_ENTRY_FLAG_IS_ARRAY | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX);
SAME(GT_ENTRY_MESSAGE, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
SAME(GT_PAYLOAD_EXTENDED, NVTX_PAYLOAD_TYPE_EXT);
SAME(GT_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
SAME(GT_TYPE_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
SAME(GT_TYPE_CATEGORY, NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY);
SAME(GT_TYPE_COLOR, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB);
SAME(GT_TYPE_STRING, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
SAME(GT_TYPE_UTF8, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);
SAME(GT_TYPE_UTF32, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32);
SAME(GT_TYPE_REGISTERED, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME(GT_NVTX_OWN_IDS, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME(GT_NVTX_OWN_IDS, NVTX_SCOPE_ID_DYNAMIC_START);

static void begins(void)
{
#ifdef OTHER_EXTENSION
	nvtxCounterAttr_t a = { sizeof(a) };

	EXPECT(!nvtxCounterRegister(NULL, &a)); /* refused, and it does nothing */
#endif
}
#else
typedef void *nvtxDomainHandle_t;
typedef struct gt_nvtx_payload nvtxPayloadData_t;
typedef struct gt_nvtx_entry nvtxPayloadSchemaEntry_t;
typedef struct gt_nvtx_schema nvtxPayloadSchemaAttr_t;
typedef struct gt_nvtx_enum nvtxPayloadEnumAttr_t;
typedef struct gt_nvtx_scope nvtxScopeAttr_t;
typedef struct gt_nvtx_time nvtxTimeDomainAttr_t;
typedef struct gt_nvtx_attributes nvtxEventAttributes_t;
typedef void (*function)(void);
static intptr_t slots[63];
static function core2[16], *core2_at[16];

#define SLOT(n, ret, ...) ((ret(*)(__VA_ARGS__))slots[n])
#define nvtxPayloadSchemaRegister SLOT(0, uint64_t, void *, const nvtxPayloadSchemaAttr_t *)
#define nvtxPayloadEnumRegister SLOT(1, uint64_t, void *, const nvtxPayloadEnumAttr_t *)
#define nvtxMarkPayload SLOT(2, void, void *, const nvtxPayloadData_t *, size_t)
#define nvtxRangePushPayload SLOT(3, int, void *, const nvtxPayloadData_t *, size_t)
#define nvtxRangePopPayload SLOT(4, int, void *, const nvtxPayloadData_t *, size_t)
#define nvtxRangeStartPayload SLOT(5, uint64_t, void *, const nvtxPayloadData_t *, size_t)
#define nvtxRangeEndPayload SLOT(6, void, void *, uint64_t, const nvtxPayloadData_t *, size_t)
#define nvtxDomainIsEnabled SLOT(7, uint8_t, void *)
#define nvtxTimestampGet SLOT(8, int64_t, void)
#define nvtxTimeDomainRegister SLOT(9, uint64_t, void *, const nvtxTimeDomainAttr_t *)
#define nvtxScopeRegister SLOT(12, uint64_t, void *, const nvtxScopeAttr_t *)
/* left as it is: the header makes it do nothing */
#define nvtxEventSubmit(...) EXPECT(!slots[16])
#define nvtxDomainRangePushEx ((int (*)(void *, const nvtxEventAttributes_t *))core2[4])
#define nvtxDomainRangePop ((int (*)(void *))core2[5])
#define nvtxDomainRegisterStringA ((void *(*)(void *, const char *))core2[10])
#define nvtxDomainCreateA ((void *(*)(const char *))core2[12])

static int module_table(int module, function ***table, unsigned *n)
{
	for (int i = 0; i < 16; i++)
		core2_at[i] = &core2[i];
	*table = core2_at;
	*n = 16;
	return module == 5;
}

static const void *export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*table)(int, function ***, unsigned *);
	} callbacks = { sizeof(callbacks), module_table };

	return id == 1 ? &callbacks : NULL;
}

static void begins(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*core)(const void *(*)(uint32_t));
	int (*extension)(const struct gt_nvtx_module *);
	struct gt_nvtx_segment segment = { 0, 63, slots };
	struct gt_nvtx_module m = { 3, sizeof(m), 2, 0x0104, 1, &segment, NULL, NULL };

	EXPECT(library);
	core = (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
	extension = (int (*)(const struct gt_nvtx_module *))dlsym(
		library, "InitializeInjectionNvtxExtension");
	EXPECT(core && extension && core(export_table));
	m.id = 1;
	EXPECT(!extension(&m) && !slots[3]); /* memory: another extension */
	m.id = 2, m.compatible = 0x0204;
	EXPECT(!extension(&m) && !slots[3]); /* of another time */
	m.compatible = 0x0103, m.size = 8;
	EXPECT(!extension(&m) && !extension(NULL) && !slots[3]);
	m.size = sizeof(m), m.segments = NULL;
	EXPECT(!extension(&m));
	/* as one of 2021, which knows schemas and enumerations only */
	m.segments = &segment, segment.n = 2;
	EXPECT(extension(&m) && slots[0] && slots[1] && !slots[2] && !slots[4]);
	segment.n = 63, m.compatible = 0x0104;
	EXPECT(extension(&m) && slots[4]);
}
#endif

enum { MASK = GT_SCHEMA_HAS_ENTRIES | GT_SCHEMA_HAS_N | 1 << 2 };
#define SCHEMA(type, entries, id)                                                                  \
	&(nvtxPayloadSchemaAttr_t)                                                                 \
	{                                                                                          \
		MASK | ((id) ? GT_SCHEMA_HAS_ID : 0), NULL, type, 0, entries,                      \
			sizeof(entries) / sizeof(*(entries)), 0, 0, id                             \
	}
#define ENTRY(flags, type, detail, offset)                                                         \
	{                                                                                          \
		flags, type, "name", NULL, detail, offset, NULL, NULL                              \
	}
#define ONE(id, size, bytes) &(nvtxPayloadData_t){ id, size, bytes }, 1

/* Events whose message, category and colour come from a registered schema. */
static void by_schema(nvtxDomainHandle_t d, nvtxDomainHandle_t other)
{
	struct {
		const void *text;
		uint8_t byte;
		uint32_t cat;
		uint16_t odd[3];
		uint32_t argb;
	} all = { NULL, 0, 7, { 0 }, 0xff00ff00 };
	struct {
		uint64_t number;
		const char *message;
	} pointer = { 5, "by pointer" };
	const nvtxPayloadSchemaEntry_t of_all[] = { ENTRY(GT_ENTRY_MESSAGE, GT_TYPE_REGISTERED, 0,
							    0),
		ENTRY(0, 12, 0, 0), ENTRY(0, GT_TYPE_CATEGORY, 0, 0),
		ENTRY(GT_ENTRY_FIXED, 14, 3, 0), ENTRY(0, GT_TYPE_COLOR, 0, 0) };
	const nvtxPayloadSchemaEntry_t of_pointer[] = { ENTRY(
		GT_ENTRY_MESSAGE, GT_TYPE_STRING, 0, 0) };
	const nvtxPayloadSchemaEntry_t behind[] = { ENTRY(0, 18, 0, 0),
		ENTRY(GT_ENTRY_MESSAGE, GT_TYPE_UTF8, 0, 8) };
	const nvtxPayloadSchemaEntry_t in_place[] = { ENTRY(
		GT_ENTRY_MESSAGE, GT_TYPE_STRING, 8, 0) };
	const nvtxPayloadSchemaEntry_t ended[] = { ENTRY(
		GT_ENTRY_MESSAGE | GT_ENTRY_TERMINATED, GT_TYPE_STRING, 0, 0) };
	uint64_t id = nvtxPayloadSchemaRegister(d, SCHEMA(1, of_all, 0)), mine = (1 << 24) + 5,
		 range;

	EXPECT(id >= GT_NVTX_OWN_IDS &&
		nvtxPayloadSchemaRegister(d, SCHEMA(1, behind, mine)) == mine);
	all.text = (const void *)nvtxDomainRegisterStringA(d, "from a schema");
	EXPECT(nvtxRangePushPayload(d, ONE(id, sizeof(all), &all)) == 0 &&
		nvtxDomainRangePop(d) == 0);
	range = nvtxRangeStartPayload(d, ONE(mine, sizeof(pointer), &pointer));
	nvtxRangeEndPayload(d, range, ONE(mine, sizeof(pointer), &pointer));
	/* no message: it is another domain's */
	nvtxMarkPayload(other, ONE(mine, sizeof(pointer), &pointer));
	/* likewise: the payload ends before it */
	nvtxMarkPayload(d, ONE(mine, 8, &pointer));
	id = nvtxPayloadSchemaRegister(d, SCHEMA(1, of_pointer, 0));
	nvtxMarkPayload(d, ONE(id, sizeof(char *), &pointer.message));
	id = nvtxPayloadSchemaRegister(d, SCHEMA(1, in_place, 0));
	nvtxMarkPayload(d, ONE(id, 8, "in place, eight"));
	id = nvtxPayloadSchemaRegister(d, SCHEMA(2, ended, 0));
	nvtxMarkPayload(d, ONE(id, SIZE_MAX, "with an end"));
	nvtxMarkPayload(d, ONE(GT_TYPE_STRING, SIZE_MAX, "a mere string"));
	/* of an unregistered schema */
	nvtxMarkPayload(d, ONE((1 << 24) + 99, 4, "what?"));
}

static void registrations(nvtxDomainHandle_t d)
{
	nvtxPayloadEnumAttr_t e = { 0, "e", NULL, 0, 4, 77 };
	nvtxTimeDomainAttr_t t = { 0, 10, 0, 0, 0, 0 };
	nvtxScopeAttr_t s = { sizeof(s), "here", 1, 0 };
	int64_t before = nvtxTimestampGet();

	EXPECT(nvtxPayloadEnumRegister(d, &e) >= GT_NVTX_OWN_IDS);
	e = (nvtxPayloadEnumAttr_t){ GT_ENUM_HAS_ID, "e", NULL, 0, 4, 77 };
	EXPECT(nvtxPayloadEnumRegister(d, &e) == 77);
	EXPECT(nvtxTimeDomainRegister(d, &t) >= GT_NVTX_OWN_IDS &&
		nvtxScopeRegister(d, &s) >= GT_NVTX_OWN_IDS);
	EXPECT(nvtxDomainIsEnabled(d) == 1 && before > 0 && nvtxTimestampGet() >= before);
	/* a deferred event, which is never recorded */
	nvtxEventSubmit(d, ONE(GT_TYPE_STRING, 4, "no!"));
}

int main(void)
{
	struct gt_nvtx_attributes a = { .version = 3,
		.size = sizeof(a),
		.payload_type = GT_PAYLOAD_EXTENDED,
		.npayloads = 1,
		.message_type = 1,
		.message = "as NCCL does" };
	nvtxPayloadData_t rank = { (1 << 24) + 1, 4, "1234" };
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	nvtxDomainHandle_t d, other;

	begins();
	EXPECT(driver && !((int (*)(unsigned))dlsym(driver, "cuInit"))(0));
	d = nvtxDomainCreateA("payloads");
	other = nvtxDomainCreateA("others");
	a.payload = (uintptr_t)&rank;
	for (int i = 0; i < 3; i++) {
		EXPECT(nvtxDomainRangePushEx(d, (const nvtxEventAttributes_t *)(const void *)&a) ==
			0);
		EXPECT(nvtxRangePushPayload(d, NULL, 0) == 1 &&
			nvtxRangePopPayload(d, &rank, 1) == 1);
		EXPECT(nvtxRangePopPayload(d, &rank, 1) == 0);
	}
	EXPECT(nvtxRangePopPayload(d, NULL, 0) < 0);
	by_schema(d, other);
	registrations(d);
	return 0;
}
