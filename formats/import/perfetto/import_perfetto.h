/* Shared by the files of the Perfetto importer; import_perfetto.c describes them. */
#ifndef GT_IMPORT_PERFETTO_H
#define GT_IMPORT_PERFETTO_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/import/kineto/import_kineto.h"
#include "formats/io/perfetto_fields.h"
#include "formats/io/proto_read.h"
#include "formats/io/stream_out.h"

#define GT_PFTRACE_PACKET_MAX (16u << 20)   /* bytes of one packet; a larger one is an error */
#define GT_PFTRACE_INTERNED_MAX (64u << 20) /* bytes of interned texts; more are an error */
#define GT_PFTRACE_ENTRIES_MAX (4u << 20)   /* interned entries; more are an error */
#define GT_PFTRACE_ARGS 96u                 /* of one event; further ones are dropped */
/* bytes that a packed packet may have, unpacked; more are an error */
#define GT_PFTRACE_UNPACKED_MAX (256u << 20)
/* marks the ids of render stages, in the place of correlation ids */
#define GT_PFTRACE_RENDER_ID (1ull << 62)

/* A packet sequence: packets of one writer, whose ids (iid) and defaults are its own. */
struct gt_pftrace_sequence {
	uint64_t id;
	uint32_t generation; /* of its interned data: another one whenever its state is cleared */
	uint64_t track;      /* defaults */
	uint32_t clock;
	bool has_track;
	bool used;    /* there was a packet before */
	bool invalid; /* packets were lost, and its state was not cleared since then */
	int64_t last; /* ns: the time of its last packet; INT64_MIN: none */
};
struct gt_pftrace_clock {
	uint64_t sequence;    /* of a clock of its own (id 64 to 127), else 0 */
	uint32_t id, padding; /* padding: 0, part of the key */
	uint64_t unit;        /* ns */
	int64_t offset;       /* ns, to the time of the trace */
	int64_t now;          /* ns, of an incremental clock: the time of its last packet */
	bool incremental, known;
	uint64_t unrelated; /* events with a time of it while it was not known */
};
struct gt_pftrace_track {
	uint64_t uuid, parent;
	struct gt_kineto_id pid, tid;
	uint32_t name; /* string id, or GT_NONE */
	bool described, is_process, is_thread, resolved, has_tid, gpu, delta;
	int64_t device, stream;      /* by their names: -1 unknown */
	int64_t multiplier, counter; /* of a counter */
	struct gt_kineto_lane lane;
};
struct gt_pftrace_entry { /* of interned data */
	uint32_t generation, table;
	uint64_t iid;
	size_t at; /* in texts: bytes of the message's text, or of the whole message */
	uint64_t len;
	/* what the entry is in the trace, plus 1; 0: not known yet. Of a stack its number, of a
	 * name its string id, of a category the string id of an event of it */
	uint32_t known;
	uint8_t cat;       /* of a category: enum gt_kineto_cat */
	uint32_t sequence; /* index: it is current as long as that has its generation */
};
struct gt_pftrace_counter { /* of a GPU */
	uint64_t iid;       /* of its descriptor, and its generation: both 0 without a number */
	uint32_t generation, id;
	uint32_t name; /* string id */
	int32_t gpu;   /* -1: unknown */
};
struct gt_pftrace_names { /* string ids */
	uint32_t *names;
	size_t n;
};
struct gt_pftrace {
	struct gt_kineto_document *d;
	struct gt_err *err;
	uint64_t offset; /* of the packet that is being read */
	struct gt_json scratch;
	struct gt_pftrace_sequence *sequences;
	size_t nsequences, sequences_cap;
	uint32_t generations;
	struct gt_pftrace_clock *clocks;
	size_t nclocks, clocks_cap;
	uint32_t reference; /* id of the clock of the trace; 0: not known yet */
	struct gt_pftrace_entry *entries;
	size_t nentries, entries_cap;
	struct gt_buf texts;
	struct gt_pftrace_track *tracks;
	size_t ntracks, tracks_cap;
	struct gt_map sequence_map, clock_map, entry_map, track_map;
	/* what the packets before referred to, since the next ones often do, too */
	size_t last_sequence, last_clock;
	struct {
		uint64_t uuid;
		size_t track; /* plus 1; 0: none */
	} recent_tracks[64];
	struct gt_pftrace_recent {
		uint32_t generation, table;
		uint64_t iid;
		uint32_t entry;
	} recent[4096];
	struct gt_pftrace_names queues, stages; /* of GPUs, without a number */
	struct gt_pftrace_counter *counters, last_descriptor;
	size_t ncounters, counters_cap;
	struct gt_map counter_map;
	struct gt_kineto_slices slices;
	int64_t latest; /* ns */
	uint64_t events, without_begin, missing_iids, other_packets;
	uint64_t unpacked; /* bytes of packed packets so far */
};

/* ---- import_perfetto_interned.c ---- */
/* Stores the entries of a packet. 0 or negative, as all here. */
int gt_pftrace_intern(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *interned);
/* The text of an entry: borrowed until the next entry; NULL: there is none. */
const char *gt_pftrace_text(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	uint32_t table, uint64_t iid, size_t *len);
/* The string id of an event's name; GT_NONE: there is no entry. */
uint32_t gt_pftrace_name(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid,
	const struct gt_kineto_event *ev);
/* Sets the category of the event. false: there is no entry. */
bool gt_pftrace_category(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid,
	struct gt_kineto_event *ev);
/* The call stack of the event, plus 1; 0: none. */
uint32_t gt_pftrace_stack(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid);
uint32_t gt_pftrace_inline_stack(struct gt_pftrace *p, const struct gt_proto_field *stack);

/* ---- import_perfetto_tracks.c ---- */
int gt_pftrace_describe_track(struct gt_pftrace *p, const struct gt_proto_field *descriptor);
/* Index of the track, added if it is new; negative. */
int64_t gt_pftrace_track_of(struct gt_pftrace *p, uint64_t uuid);
/* Fills in process and thread of an event. */
void gt_pftrace_place(struct gt_pftrace *p, size_t track, struct gt_kineto_event *ev);
/* A slice begins: memory for its event, for gt_pftrace_begin(), which adds it. NULL: p->err. */
struct gt_kineto_event *gt_pftrace_open(struct gt_pftrace *p, size_t track, int64_t time);
int gt_pftrace_begin(struct gt_pftrace *p, size_t track, const struct gt_kineto_event *ev);
/* The innermost slice ends. */
int gt_pftrace_end(struct gt_pftrace *p, size_t track, int64_t time);
int gt_pftrace_put(struct gt_pftrace *p, struct gt_kineto_event *ev); /* a whole event */
void gt_pftrace_tracks_init(struct gt_pftrace *p);
/* Puts the slices that wait, in order, or without an end. */
int gt_pftrace_tracks_finish(struct gt_pftrace *p);
void gt_pftrace_tracks_release(struct gt_pftrace *p);

/* ---- import_perfetto_events.c ---- */
int gt_pftrace_event(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, int64_t time,
	const struct gt_proto_field *event);

/* For events of other formats' launches: the call and its work have this id. */
static inline void gt_pftrace_set_correlation(struct gt_kineto_event *ev, uint64_t id)
{
	ev->gpu.correlation = id;
	ev->has |= GT_KINETO_CORRELATION;
	ev->gpu.unknown &= ~(unsigned)GT_GPU_NO_CORRELATION;
}

/* ---- import_perfetto_gpu.c ---- */
int gt_pftrace_render_stage(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, int64_t time,
	const struct gt_proto_field *event);
int gt_pftrace_gpu_counters(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	bool has_time, int64_t time, const struct gt_proto_field *event);
int gt_pftrace_gpu_memory(struct gt_pftrace *p, int64_t time, const struct gt_proto_field *event);
void gt_pftrace_gpu_release(struct gt_pftrace *p);

int gt_pftrace_malformed(struct gt_pftrace *p, const char *what);
#endif
