/* Looks up what the trace has for the ids, handles and hashes of records: types, kernel names,
 * strings. */
#ifndef GT_TYPE_REGISTRY_H
#define GT_TYPE_REGISTRY_H
#include <stdbool.h>
#include "collect/correlate/gpu_correlate.h"
#include "formats/base/map.h"
#include "formats/trace/write/writer.h"

/* How the words of a function's records become a row's arguments. plain: unchanged. */
struct gt_call_type {
	uint32_t type;    /* the writer's id; GT_NONE: not made yet */
	uint32_t stacked; /* the type of calls whose last argument is their stack; GT_NONE: likewise
			   */
	uint8_t nwords;   /* words of a record */
	uint8_t nfields;  /* nwords, and the kernel's name for launches */
	uint8_t func;     /* the word with a launch's function, or GT_NO_WORD */
	bool plain;
	bool makes_gpu_work; /* it concerns GPU work and is passed to the correlator */
	uint8_t grid, block; /* the first of three words each, or GT_NO_WORD */
	/* index of the word with it, or GT_NO_WORD; graph: the launched instance */
	uint8_t stream, event, graph;
	/* of a call with `makes_gpu_work`: enum gt_gpu_call_kind, enum gt_gpu_wait */
	uint8_t kind, wait;
	bool per_thread; /* its default stream is the thread's */
	bool nodes;      /* creates nodes of graphs */
	/* it is passed to the memory counters; addr, bytes and device are indices of words, or
	 * GT_NO_WORD */
	bool memory;
	uint8_t addr, bytes, device; /* bytes: of a mapping, its handle */
	uint32_t name;               /* of the function */
	uint64_t strings;            /* bit i: word i is a string's hash */
};
#define GT_NO_WORD 255

struct gt_types {
	struct gt_writer *w;
	unsigned args; /* enum gt_args_mode */
	bool gpu;      /* calls that concern GPU work are marked */
	bool memory;   /* the calls that change memory, too */
	struct gt_call_type calls[GT_API_MAX];
	struct gt_map files; /* ioctls and device files by file, request, command */
	struct gt_file_type {
		uint64_t file, request, command;
		uint32_t id, has_status, type;
	} * file;
	size_t nfile, cap;
};
void gt_types_init(struct gt_types *t, struct gt_writer *w, unsigned args);
void gt_types_release(struct gt_types *t);
/* The type with a stack as a further field; GT_NONE: no memory, or there are too many fields. */
uint32_t gt_types_stacked(struct gt_types *t, struct gt_call_type *c);
/* id < gt_api_count. Its type is GT_NONE if there is no memory. */
const struct gt_call_type *gt_types_call(struct gt_types *t, uint32_t id);
/* The type of a record of GT_ID_IOCTL, GT_ID_OPEN, ... Sets the row's arguments (two words) and
 * their number, and may correct *ret. GT_NONE: no memory. */
uint32_t gt_types_file(struct gt_types *t, uint16_t id, const uint64_t *words, unsigned nwords,
	uint64_t *args, uint8_t *nargs, int32_t *ret);

/* Names that a process reported: functions by handle, strings by hash. Zero-initialised is
 * empty. */
struct gt_reported_names {
	struct gt_map map;
	struct gt_reported_name {
		uint64_t key;
		uint32_t kind, string;
	} * items;
	size_t n, cap;
	uint64_t forgotten; /* names beyond the limit */
};
#define GT_REPORTED_MAX (256u << 10) /* per process */
enum gt_reported_kind { GT_REPORTED_FUNC, GT_REPORTED_STRING };
/* replace: overwrite the string of a known key, because a handle may be reused for another
 * function. */
void gt_reported_names_add(struct gt_reported_names *k, enum gt_reported_kind kind, uint64_t key,
	uint32_t string, bool replace);
/* string id or GT_NONE */
uint32_t gt_reported_names_get(
	const struct gt_reported_names *k, enum gt_reported_kind kind, uint64_t key);
/* True also for a key that has no name for good. */
bool gt_reported_names_has(
	const struct gt_reported_names *k, enum gt_reported_kind kind, uint64_t key);
/* A forked child has the names of its parent. */
void gt_reported_names_copy(struct gt_reported_names *to, const struct gt_reported_names *from);
void gt_reported_names_release(struct gt_reported_names *k);
#endif
