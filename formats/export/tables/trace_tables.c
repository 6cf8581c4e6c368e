/* The tables: Nsight's as its documentation describes them (SQLite Schema Reference), then gt's. */
#include "formats/export/tables/trace_tables.h"

#include <string.h>

/* clang-format off */
#define COLUMN(n, t, f, ...) { .name = n, .type = GT_COLUMN_##t, .from = GT_FROM_##f, __VA_ARGS__ }
#define INT(n, f, ...) COLUMN(n, INT, f, __VA_ARGS__)
#define NEED(n, f, ...) COLUMN(n, INT, f, .needed = true, __VA_ARGS__)
#define REAL(n, f) COLUMN(n, REAL, f)
#define TEXT(n) COLUMN(n, TEXT, LIST, .needed = true)
#define TEXT_OR_NULL(n) COLUMN(n, TEXT, LIST)
#define LIST(n) COLUMN(n, INT, LIST, .needed = true)
#define KEY(n) COLUMN(n, INT, LIST, .needed = true, .key = true)
#define LIST_OR_NULL(n) COLUMN(n, INT, LIST)
#define NONE(n) COLUMN(n, INT, NOTHING)
#define NO_TEXT(n) COLUMN(n, TEXT, NOTHING)
#define FIELD(n, r) COLUMN(n, INT, FIELD, .role = GT_R_##r)
#define NTH(n, r, i) COLUMN(n, INT, FIELD, .role = GT_R_##r, .nth = i)
#define NAMED(n, s) COLUMN(n, INT, NAMED, .field = s)
#define STRING(n, s) COLUMN(n, INT, STRING, .field = s)
#define MEMORY(n, r) COLUMN(n, INT, MEMORY_KIND, .role = GT_R_##r)
#define SPAN NEED("start", START, .sorted = true), \
	INT("end", ENDING, .sorted = true)
#define WORK SPAN, NEED("deviceId", DEVICE), NEED("contextId", CONTEXT), NONE("greenContextId"), \
	NEED("streamId", STREAM), INT("correlationId", CORRELATION, .sorted = true), \
	NEED("globalPid", GLOBAL_PID)

static const struct gt_table_column kernel[] = { WORK,
	NEED("demangledName", DEMANGLED), NEED("shortName", SHORT_NAME),
	NEED("mangledName", NAME), NONE("launchType"), NONE("cacheConfig"),
	FIELD("registersPerThread", REGISTERS), FIELD("gridX", GRID), NTH("gridY", GRID, 1),
	NTH("gridZ", GRID, 2), FIELD("blockX", BLOCK), NTH("blockY", BLOCK, 1),
	NTH("blockZ", BLOCK, 2), FIELD("staticSharedMemory", SHARED),
	NTH("dynamicSharedMemory", SHARED, 1), NONE("localMemoryPerThread"),
	NONE("localMemoryTotal"), NONE("gridId"), NONE("sharedMemoryExecuted"),
	FIELD("graphNodeId", NODE), NONE("sharedMemoryLimitConfig"), FIELD("graphId", GRAPH) };
static const struct gt_table_column copy[] = { WORK, FIELD("bytes", BYTES),
	NEED("copyKind", COPY_KIND), MEMORY("srcKind", SRC_MEMORY),
	MEMORY("dstKind", DST_MEMORY), NAMED("srcDeviceId", "src_device"),
	NONE("srcContextId"), NAMED("dstDeviceId", "dst_device"), NONE("dstContextId"),
	NONE("migrationCause"), FIELD("graphNodeId", NODE), NONE("virtualAddress"),
	NONE("copyCount") };
static const struct gt_table_column set[] = { WORK, FIELD("value", VALUE), FIELD("bytes", BYTES),
	FIELD("graphNodeId", NODE), MEMORY("memKind", DST_MEMORY) };
static const struct gt_table_column sync[] = { WORK, NEED("syncType", SYNC_TYPE),
	FIELD("eventId", EVENT), NONE("eventSyncId") };
static const struct gt_table_column graph[] = { WORK, FIELD("graphId", GRAPH),
	NONE("graphExecId") };
static const struct gt_table_column call[] = { SPAN, NEED("eventClass", EVENT_CLASS),
	NEED("globalTid", GLOBAL_TID), INT("correlationId", CORRELATION, .sorted = true),
	NEED("nameId", NAME), INT("returnValue", RET), INT("callchainId", STACK) };
static const struct gt_table_column system_call[] = { SPAN, NEED("eventClass", EVENT_CLASS),
	NEED("globalTid", GLOBAL_TID), NONE("correlationId"), NEED("nameId", NAME),
	INT("returnValue", RET), NEED("nestingLevel", DEPTH), INT("callchainId", STACK),
	NEED("layerId", LAYER_WORD), NEED("categoryId", CATEGORY_WORD) };
static const struct gt_table_column range[] = { SPAN, NEED("eventType", RANGE_TYPE),
	NONE("rangeId"), NONE("category"), NAMED("color", "color"), NO_TEXT("text"),
	NEED("globalTid", GLOBAL_TID), NONE("endGlobalTid"), NEED("textId", NAME),
	NONE("domainId"), NONE("uint64Value"), NONE("int64Value"),
	REAL("doubleValue", NOTHING), NONE("uint32Value"),
	NONE("int32Value"), REAL("floatValue", NOTHING),
	NONE("jsonTextId"), NO_TEXT("jsonText"), STRING("domainNameId", "domain"),
	STRING("categoryNameId", "category") };

static const struct gt_table_column sched[] = { SPAN, NEED("globalTid", GLOBAL_TID),
	NEED("stateId", NAME), NAMED("wakerPid", "waker_pid"), NAMED("wakerTid", "waker_tid"),
	NAMED("byPid", "by_pid"), NAMED("byTid", "by_tid"), NAMED("syscall", "syscall"),
	NAMED("holderTid", "holder_tid"), INT("stackId", STACK) };
static const struct gt_table_column sample[] = { NEED("start", START, .sorted = true),
	NEED("globalTid", GLOBAL_TID), NAMED("period", "period"), INT("stackId", STACK) };
static const struct gt_table_column counter[] = { NEED("start", START, .sorted = true),
	NEED("trackId", TRACK), NEED("globalPid", GLOBAL_PID), INT("deviceId", DEVICE),
	NEED("nameId", NAME), REAL("value", VALUE), NEED("categoryId", CATEGORY_WORD),
	NEED("layerId", LAYER_WORD), NEED("memoryId", MEMORY_WORD),
	NEED("valueKindId", VALUE_KIND_WORD) };
static const struct gt_table_column loss[] = { SPAN, NEED("scopeId", SCOPE_WORD),
	INT("trackId", TRACK), INT("count", COUNT) };
static const struct gt_table_column event[] = { SPAN, NEED("kindId", KIND_WORD),
	INT("trackId", TRACK), NEED("globalTid", GLOBAL_TID), NEED("nameId", NAME),
	NEED("categoryId", CATEGORY_WORD), NEED("layerId", LAYER_WORD),
	NEED("operationId", OPERATION_WORD), INT("returnValue", RET), FIELD("bytes", BYTES), INT("stackId", STACK) };

static const struct gt_table_column strings[] = { KEY("id"), TEXT("value") };
static const struct gt_table_column enums[] = { KEY("id"), TEXT("name"), TEXT("label") };
static const struct gt_table_column processes[] = { LIST("globalPid"), LIST("pid"),
	TEXT_OR_NULL("name") };
static const struct gt_table_column threads[] = { LIST("nameId"), NONE("priority"),
	LIST("globalTid") };
static const struct gt_table_column gpus[] = { LIST("vmId"), LIST("id"), TEXT_OR_NULL("name"),
	TEXT_OR_NULL("busLocation"), TEXT_OR_NULL("uuid"), LIST_OR_NULL("cuDevice") };
static const struct gt_table_column session[] = { LIST("utcEpochNs"), TEXT("utcTime"),
	TEXT("localTime") };
static const struct gt_table_column details[] = { LIST("globalVid"), LIST("duration"),
	LIST("startTime"), LIST("stopTime") };
static const struct gt_table_column pairs[] = { TEXT("name"), TEXT_OR_NULL("value") };
static const struct gt_table_column metadata[] = { LIST("segment"), TEXT("name"),
	TEXT_OR_NULL("value") };
static const struct gt_table_column tracks[] = { LIST("id"), LIST_OR_NULL("parentId"),
	LIST("segment"), LIST("kindId"), LIST("osId"), LIST_OR_NULL("nameId"),
	LIST_OR_NULL("sourceId"), LIST_OR_NULL("globalTid") };
static const struct gt_table_column stacks[] = { LIST("id"), LIST("symbol"), LIST("module"),
	LIST("unresolved"), LIST_OR_NULL("originalIP"), LIST("stackDepth"), LIST("textId"),
	LIST("kindId"), LIST_OR_NULL("fileId"), LIST_OR_NULL("line") };
/* clang-format on */

/* ---- which rows a table has ---- */

static bool is_span(enum gt_kind kind)
{
	return kind == GT_CALL || kind == GT_OPEN || kind == GT_SPAN;
}

static bool is_work(const struct gt_type *type)
{
	return type->layer == GT_LAYER_GPU && gt_type_field(type, GT_R_LAUNCH_JOIN) != GT_NONE;
}

static bool has_kernel(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_GPU && type->category == GT_CAT_KERNEL;
}

static bool has_copy(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_GPU && type->op == GT_OP_COPY;
}

static bool has_set(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_GPU && type->op == GT_OP_SET;
}

static bool has_sync(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_SPAN && is_work(type) && type->category == GT_CAT_SYNC;
}

static bool has_graph(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_GPU && type->op == GT_OP_GRAPH_LAUNCH;
}

static bool has_call(enum gt_kind kind, const struct gt_type *type)
{
	return is_span(kind) && (type->layer == GT_LAYER_API || type->layer == GT_LAYER_RUNTIME);
}

static bool has_system_call(enum gt_kind kind, const struct gt_type *type)
{
	return is_span(kind) && (type->layer == GT_LAYER_SYSCALL || type->layer == GT_LAYER_IOCTL);
}

static bool has_range(enum gt_kind kind, const struct gt_type *type)
{
	return (is_span(kind) || kind == GT_INSTANT) && type->layer == GT_LAYER_USER;
}

static bool has_sched(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_SPAN && type->op == GT_OP_OFF_CPU;
}

static bool has_sample(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_INSTANT && type->op == GT_OP_SAMPLE;
}

static bool has_counter(enum gt_kind kind, const struct gt_type *type)
{
	return kind == GT_COUNTER;
}

static bool has_loss(enum gt_kind kind, const struct gt_type *type) { return kind == GT_LOST; }

static bool has_any(enum gt_kind kind, const struct gt_type *type) { return true; }

#define TABLE(name, columns, has)                                                                  \
	{                                                                                          \
		name, columns, sizeof(columns) / sizeof(*(columns)), has                           \
	}
/* A row is in the first table that has it. */
const struct gt_trace_table gt_trace_tables[] = {
	TABLE("CUPTI_ACTIVITY_KIND_KERNEL", kernel, has_kernel),
	TABLE("CUPTI_ACTIVITY_KIND_MEMCPY", copy, has_copy),
	TABLE("CUPTI_ACTIVITY_KIND_MEMSET", set, has_set),
	TABLE("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync, has_sync),
	TABLE("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graph, has_graph),
	TABLE("CUPTI_ACTIVITY_KIND_RUNTIME", call, has_call),
	TABLE("OSRT_API", system_call, has_system_call), TABLE("NVTX_EVENTS", range, has_range),
	TABLE("GT_SCHED", sched, has_sched), TABLE("GT_SAMPLES", sample, has_sample),
	TABLE("GT_COUNTERS", counter, has_counter), TABLE("GT_LOSSES", loss, has_loss),
	TABLE("GT_EVENTS", event, has_any), TABLE("GT_TRACKS", tracks, NULL),
	TABLE("CUDA_CALLCHAINS", stacks, NULL), TABLE("PROCESSES", processes, NULL),
	TABLE("ThreadNames", threads, NULL), TABLE("TARGET_INFO_GPU", gpus, NULL),
	TABLE("TARGET_INFO_SESSION_START_TIME", session, NULL),
	TABLE("ANALYSIS_DETAILS", details, NULL), TABLE("META_DATA_EXPORT", pairs, NULL),
	TABLE("metadata", metadata, NULL), TABLE("ENUM_CUDA_MEMCPY_OPER", enums, NULL),
	TABLE("ENUM_CUDA_MEM_KIND", enums, NULL), TABLE("ENUM_CUPTI_SYNC_TYPE", enums, NULL),
	TABLE("ENUM_NSYS_EVENT_CLASS", enums, NULL), TABLE("ENUM_NSYS_EVENT_TYPE", enums, NULL),
	TABLE("StringIds", strings, NULL), /* last: the other lists add strings */
};
const unsigned gt_trace_tables_count = sizeof(gt_trace_tables) / sizeof(*gt_trace_tables);
_Static_assert(sizeof(gt_trace_tables) / sizeof(*gt_trace_tables) <= GT_TRACE_TABLES_MAX,
	"a set of tables is a 64-bit word");

uint32_t gt_trace_table_find(const char *name)
{
	for (uint32_t i = 0; i < gt_trace_tables_count; i++)
		if (!strcasecmp(gt_trace_tables[i].name, name))
			return i;
	return GT_NONE;
}

uint32_t gt_trace_table_of(enum gt_kind kind, const struct gt_type *type)
{
	for (uint32_t i = 0; i < gt_trace_tables_count; i++) {
		const struct gt_trace_table *t = &gt_trace_tables[i];

		if (t->has && (type || t->has == has_loss) && t->has(kind, type))
			return i;
	}
	return GT_NONE;
}
