/* Of PyTorch's flight recorder: shared by the files of its importer. */
#ifndef GT_IMPORT_FLIGHT_RECORDER_H
#define GT_IMPORT_FLIGHT_RECORDER_H
#include "formats/import/nccl/import_nccl.h"

struct gt_flight {
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct gt_json *j;
	struct gt_flight_frames { /* string ids of the stack that is read, the innermost first */
		uint32_t *ids;
		size_t n, cap;
	} frames;
};

enum gt_flight_state {
	GT_FLIGHT_UNKNOWN,
	GT_FLIGHT_SCHEDULED,
	GT_FLIGHT_STARTED,
	GT_FLIGHT_COMPLETED
};
#define GT_FLIGHT_TENSORS 64u
struct gt_flight_tensors { /* the inputs or the outputs of a collective */
	uint64_t elements[GT_FLIGHT_TENSORS];
	uint8_t bytes[GT_FLIGHT_TENSORS]; /* of an element; 0: unknown */
	unsigned nsizes, ntypes;
	bool unknown; /* there are more tensors, or more elements than 64 bits count */
};
struct gt_flight_entry {
	unsigned has; /* bit of each integer, by its place in enum gt_flight_int */
	int64_t ints[16];
	int64_t duration;         /* ns; -1: unknown */
	int64_t name, short_name; /* of gt_rows_name, as host row and as GPU row; -1: none */
	bool is_nccl, is_p2p;
	enum gt_flight_state state;
	uint32_t stack;                            /* GT_NONE: none */
	char text[96], group[64], description[64]; /* the name, that of the process group; cut */
	struct gt_flight_tensors inputs;
};
enum gt_flight_int {
	GT_FLIGHT_RECORD,
	GT_FLIGHT_GROUP,
	GT_FLIGHT_COLLECTIVE,
	GT_FLIGHT_P2P,
	GT_FLIGHT_OP,
	GT_FLIGHT_CREATED,
	GT_FLIGHT_FOUND_STARTED,
	GT_FLIGHT_FOUND_COMPLETED,
	GT_FLIGHT_TIMEOUT,
	GT_FLIGHT_INTS
};
_Static_assert(GT_FLIGHT_INTS <= 16, "the ints of an entry");

/* Reads an entry, whose bracket the scanner has returned. Its texts become arguments of the next
 * row. 0 or negative. */
int gt_flight_read(struct gt_flight *f, struct gt_flight_entry *e, struct gt_err *err);
/* The bytes of the tensors; 0: unknown. */
uint64_t gt_flight_bytes(const struct gt_flight_tensors *t);
#endif
