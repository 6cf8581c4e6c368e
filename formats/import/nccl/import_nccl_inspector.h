/* Of NCCL's inspector: shared by the files of its importer. */
#ifndef GT_IMPORT_NCCL_INSPECTOR_H
#define GT_IMPORT_NCCL_INSPECTOR_H
#include "formats/import/nccl/import_nccl.h"

struct gt_inspector {
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct gt_json *j;
};
/* What header and metadata say: of a line, or of the lines since the last dump_stats. */
struct gt_inspector_context {
	uint64_t id;
	int64_t rank, ranks, nodes, pid;
	int64_t dumped; /* ns since 1970; 0: unknown */
	bool has_id;
};
/* Of coll_perf or p2p_perf. Texts are string ids. */
struct gt_inspector_operation {
	struct gt_inspector_context of;
	int64_t number, peer; /* -1: unknown */
	int64_t name;         /* of gt_rows_name; -1: unknown */
	uint64_t bytes;
	int64_t ns;                   /* duration; -1: unknown */
	int64_t ended;                /* of event_trace_ts: ns since 1970; 0: unknown */
	uint32_t source, algo, proto; /* GT_NONE: unknown */
	double algobw, busbw;         /* GB/s; negative: unknown */
	bool p2p;
};
struct gt_inspector_line {
	struct gt_inspector_context of;
	struct gt_inspector_operation op;
	bool has_header, has_metadata, has_op, has_stats, is_proxy;
	uint64_t lost; /* of dump_stats */
	uint32_t host, version;
};

/* Reads a line, whose bracket the scanner has returned. 0 or negative. */
int gt_inspector_read(struct gt_inspector *x, struct gt_inspector_line *l, struct gt_err *err);
#endif
