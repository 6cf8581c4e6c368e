/* NVTX's structures in memory: annotations, and the payload extension as far as the guest reads it.
 * The facts are from the headers nvToolsExt.h and nvToolsExtPayload.h;
 * tests/unit/collect/guest/payload_prog.c is compiled against them if they are installed. */
#ifndef GT_GUEST_NVTX_H
#define GT_GUEST_NVTX_H
#include <stddef.h>
#include <stdint.h>

struct gt_nvtx_attributes { /* nvtxEventAttributes_t */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type; /* 1: ARGB */
	uint32_t color;
	/* 1 u64, 2 i64, 3 double, 4 u32, 5 i32, 6 float; GT_PAYLOAD_EXTENDED: `payload` is the
	 * address of `npayloads` payloads of the extension */
	int32_t payload_type, npayloads;
	uint64_t payload;
	int32_t message_type, pad;
	const void *message;
};
#define GT_PAYLOAD_EXTENDED ((int32_t)0xDFBD0009)
enum { GT_COLOR_ARGB = 1, GT_MESSAGE_CHAR = 1, GT_MESSAGE_WIDE, GT_MESSAGE_REGISTERED };

/* guest_nvtx.c: an annotation, with or without a payload. domain: a handle that the guest made, or
 * NULL. */
struct gt_nvtx_handle;
int gt_nvtx_push(const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a);
int gt_nvtx_pop(const struct gt_nvtx_handle *domain);
uint64_t gt_nvtx_range_start(
	const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a);
void gt_nvtx_range_end(const struct gt_nvtx_handle *domain, uint64_t id);
void gt_nvtx_mark(const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a);
void *gt_nvtx_alloc(size_t size); /* zeroed, never freed; NULL: no memory */

/* guest_nvtx_payload.c: what NCCL says of a call in the payloads of its range. 0: not said. */
struct gt_nvtx_collective {
	uint64_t communicator, bytes;
};
struct gt_nvtx_collective gt_nvtx_read_collective(
	const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a);

/* ---- start of an extension ---- */
/* nvtxExtModuleSegment_t */
struct gt_nvtx_segment {
	size_t id, n;
	intptr_t *slots;
};
/* nvtxExtModuleInfo_t */
struct gt_nvtx_module {
	uint16_t version, size, id, compatible;
	size_t nsegments;
	const struct gt_nvtx_segment *segments;
	intptr_t (*export_function)(uint32_t id);
	const void *info;
};
/* the version is the high byte of `compatible` */
enum { GT_NVTX_PAYLOAD_MODULE = 2, GT_NVTX_PAYLOAD_VERSION = 1 };
/* slots of the payload extension */
enum {
	GT_SLOT_SCHEMA,
	GT_SLOT_ENUM,
	GT_SLOT_MARK,
	GT_SLOT_PUSH,
	GT_SLOT_POP,
	GT_SLOT_START,
	GT_SLOT_END,
	GT_SLOT_ENABLED,
	GT_SLOT_TIMESTAMP,
	GT_SLOT_TIME_DOMAIN,
	GT_SLOT_SCOPE = 12,
};

/* ---- payloads ---- */
/* nvtxPayloadData_t */
struct gt_nvtx_payload {
	uint64_t schema;
	size_t size; /* SIZE_MAX: unknown */
	const void *bytes;
};
/* nvtxPayloadSchemaEntry_t */
struct gt_nvtx_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail; /* length of an array, or of a string inside the payload */
	uint64_t offset; /* 0: the next aligned offset */
	const void *semantics, *reserved;
};
/* nvtxPayloadSchemaAttr_t without its end, which some versions lack */
struct gt_nvtx_schema {
	uint64_t mask;
	const char *name;
	uint64_t type, flags;
	const struct gt_nvtx_entry *entries;
	size_t n, size, pack;
	uint64_t id;
};
/* ...EnumAttr_t */
struct gt_nvtx_enum {
	uint64_t mask;
	const char *name;
	const void *entries;
	size_t n, size;
	uint64_t id;
};
/* nvtxScopeAttr_t */
struct gt_nvtx_scope {
	size_t size;
	const char *path;
	uint64_t parent, id;
};
/* nvtxTimeDomainAttr_t */
struct gt_nvtx_time {
	uint64_t scope, type, id, flags;
	int64_t resolution;
	uint64_t start;
};

enum {
	GT_SCHEMA_HAS_ENTRIES = 1 << 4,
	GT_SCHEMA_HAS_N = 1 << 5,
	GT_SCHEMA_HAS_PACK = 1 << 7,
	GT_SCHEMA_HAS_ID = 1 << 8
};
enum { GT_ENUM_HAS_ID = 1 << 5 };
enum { GT_SCHEMA_STATIC = 1, GT_SCHEMA_DYNAMIC };
enum { /* flags of an entry */
	GT_ENTRY_POINTER = 1 << 1,
	GT_ENTRY_ELSEWHERE = 3 << 2, /* the payload has only the value's offset */
	GT_ENTRY_FIXED = 1 << 4,
	GT_ENTRY_TERMINATED = 2 << 4,
	GT_ENTRY_ARRAY = 7 << 4,
	GT_ENTRY_MESSAGE = 1 << 10,
};
enum { /* types that the guest reads */
	GT_TYPE_UINT64 = 18,
	GT_TYPE_SIZE = 22,
	GT_TYPE_CATEGORY = 68,
	GT_TYPE_COLOR,
	GT_TYPE_STRING = 75,
	GT_TYPE_UTF8,
	GT_TYPE_UTF16,
	GT_TYPE_UTF32,
	GT_TYPE_REGISTERED = 80,
	GT_TYPES,
};
#define GT_NVTX_OWN_IDS (1ull << 32) /* first id that a tool may assign */
#endif
