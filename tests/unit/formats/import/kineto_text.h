/* Events of PyTorch's Chrome JSON as text, for tests of its importer. Includes the functions
 * that write them into a file. */
#ifndef KINETO_TEXT_H
#define KINETO_TEXT_H
#include "tests/unit/formats/import/imported.h"

#define HEAD "{\"schemaVersion\":1,\"traceEvents\":["
#define X(cat, name, pid, tid, ts, dur, args)                                                      \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid     \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define RUNTIME(name, id, ts, dur)                                                                 \
	X("cuda_runtime", name, "10", "11", ts, dur, "\"cbid\":211,\"correlation\":" id)
#define DRIVER(name, id, ts, dur)                                                                  \
	X("cuda_driver", name, "10", "11", ts, dur, "\"cbid\":307,\"correlation\":" id)
#define PLACE "\"device\":0,\"context\":1,\"stream\":7,"
#define KERNEL(name, id, ts, dur)                                                                  \
	X("kernel", name, "0", "7", ts, dur,                                                       \
		PLACE                                                                              \
		"\"correlation\":" id ",\"grid\":[2,3,4],\"block\":[5,6,7],"                       \
		"\"registers per thread\":18,\"shared memory\":9,\"queued\":0,\"blocks per SM\":0.2")

static inline struct gt_reader *again(void)
{
	struct gt_reader *r = gt_open_any(path, &err);

	if (!r)
		abort();
	return r;
}

/* Of the file put last: does its metadata say so? */
static inline bool meta_says(const char *what)
{
	struct gt_reader *r = again();
	const char *json = gt_reader_segment(r, 0)->meta_json;
	bool says = strstr(json, what) != NULL;

	if (!says)
		fprintf(stderr, "metadata: %s\n", json);
	gt_reader_close(r);
	return says;
}

#define JOINED(track, start, ns, name, join)                                                       \
	"context=1 launch_track=" track " launch_start=" start " launch_ns=" ns                    \
	" launch_name='" name "' launch_join=" join

#define FIELDS(id, track, start, ns, name, join)                                                   \
	"correlation=" id " " JOINED(track, start, ns, name, join)

#define SHAPE                                                                                      \
	" grid_x=2 grid_y=3 grid_z=4 block_x=5 block_y=6 block_z=7 shared_static=0 shared_dynamic=9 registers=18"

static inline const struct gt_type *type_named(struct gt_reader *r, const char *name)
{
	const struct gt_segment *seg = gt_reader_segment(r, 0);

	for (uint32_t i = 0; i < seg->ntypes; i++)
		if (!strcmp(gt_type_name(seg, i), name))
			return &seg->types[i];
	abort();
}
#endif
