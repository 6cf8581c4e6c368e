/* Code objects of Python in other processes, each read once. */
#ifndef GT_REMOTE_CODE_H
#define GT_REMOTE_CODE_H
#include "collect/host/remote_interpreter.h"
#include "collect/host/remote_python.h"
#include "formats/base/map.h"

#define GT_REMOTE_HEAD 520 /* bytes of the beginning of a code object, at most */
/* Bytes of it that are read: the code units come last, but up to 3.10 other fields do. */
static inline size_t gt_remote_head(const struct gt_python_layout *l)
{
	size_t last = l->start > l->lines ? l->start : l->lines;

	last = last > l->qualname ? last : l->qualname;
	return last + sizeof(uint64_t) <= GT_REMOTE_HEAD ? last + sizeof(uint64_t) : GT_REMOTE_HEAD;
}

/* Of one process; zeroed: empty. Their number and their bytes have limits. */
struct gt_remote_codes {
	struct gt_map map;
	struct gt_remote_code_item {
		struct gt_remote_code_key {
			uint64_t address, hash; /* hash: of what identifies the object */
		} key;
		struct gt_remote_code *code; /* NULL: it could not be read */
	} * items;
	size_t n, cap;
	size_t bytes;                 /* of texts and line tables */
	uint64_t last_number;         /* of a code object; the owner sets the first one */
	struct gt_remote_codes *next; /* of those whose process has ended at this time, ns */
	uint64_t ended_at;
};
/* head: gt_remote_head() bytes that were read at the address. NULL: it is no code object, or too
 * many were read. */
const struct gt_remote_code *gt_remote_code(struct gt_remote_codes *c, uint32_t tgid,
	const struct gt_remote_interpreter *in, uint64_t address, const uint8_t *head);
void gt_remote_codes_release(struct gt_remote_codes *c);
#endif
