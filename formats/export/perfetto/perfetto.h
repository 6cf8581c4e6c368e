/* Shared by the files of the Perfetto exporter; export_perfetto.c describes them. Numbers of fields
 * are those of Perfetto's protos (protos/perfetto/trace/...), in formats/io/perfetto_fields.h. */
#ifndef GT_PERFETTO_H
#define GT_PERFETTO_H
#include "formats/base/buf.h"
#include "formats/export/chrome/chrome_launches.h"
#include "formats/export/chrome/chrome_rows.h"
#include "formats/export/chrome/chrome_tracks.h"
#include "formats/export/exporters.h"
#include "formats/io/perfetto_fields.h"
#include "formats/io/proto_write.h"

#define GT_PERFETTO_WORKS_MAX 4096u /* flows that leave one call; further work has no arrow */

struct gt_perfetto_type {
	bool ready, gpu, call, range, launches;
	uint8_t head_len;
	char head[32]; /* name and category of its events, encoded */
	/* fields, or GT_NONE */
	uint32_t category, correlation, stack;
	uint32_t *names; /* iid by field */
	/* of GPU work: the iids of the names of the arguments of its last row */
	struct gt_perfetto_arg_name {
		const char *name;
		uint32_t iid;
	} * args;
};
struct gt_perfetto_segment {
	struct gt_perfetto_type *types;
	uint32_t *strings, *kernels; /* by string id: iid of the text, of the kernel's short name */
	/* by string id: iid of the frame, of its name as a text, of its place in the source, of the
	 * library */
	uint32_t *frames, *callers, *locations, *mappings;
	uint32_t *stacks; /* by stack id: iid; 0: not in the file yet */
	uint64_t *uuids;  /* by track: of its first lane; 0: none yet */
};
/* Texts of arguments that every row may have. */
enum gt_perfetto_key {
	GT_PERFETTO_CORRELATION,
	GT_PERFETTO_CALLER,
	GT_PERFETTO_LAYER,
	GT_PERFETTO_THREAD,
	GT_PERFETTO_RET,
	GT_PERFETTO_RUNTIME, /* a value */
	GT_PERFETTO_KEYS
};

struct gt_perfetto {
	struct gt_reader *r;
	const struct gt_export_options *opt;
	struct gt_out *out;
	struct gt_err *err;
	struct gt_chrome_tracks tracks;
	struct gt_chrome_launches launches;
	struct gt_kernel_names *names, *full_names;
	int64_t *bases;   /* by segment: ns, its time 0 */
	int64_t *offsets; /* by segment: ns, its time 0 in the file */
	struct gt_perfetto_segment *segs;
	uint32_t sequence;
	uint64_t uuid_base, nuuids, flow_base;
	/* entries of InternedData that are not in the file yet */
	struct gt_buf interned;
	struct gt_buf texts; /* of all interned texts */
	struct gt_perfetto_text {
		size_t at;
		uint32_t len, space;
	} * entries;
	size_t nentries, entries_cap;
	struct gt_map entry_map;
	uint32_t keys[GT_PERFETTO_KEYS];
	/* by number of the lane: its open slices, outermost first */
	struct gt_perfetto_lane {
		int64_t *ends;
		size_t n, cap;
	} * lanes;
	size_t nlanes, lanes_cap;
	struct gt_perfetto_process {
		uint64_t pid, uuid;
	} * processes;
	size_t nprocesses, processes_cap;
	struct gt_map process_map;
	struct gt_perfetto_counter {
		uint32_t segment, track, type, unused;
		uint64_t uuid;
	} * counters;
	size_t ncounters, counters_cap;
	struct gt_map counter_map;
	uint32_t nframes, nmappings, nlocations, nstacks; /* iids so far */
	uint64_t root; /* uuid of the track of the recording; 0: not yet in the file */
};

/* ---- perfetto_packets.c ---- */
/* The iid of a text in one of the tables of InternedData (enum gt_perfetto_interned). */
uint32_t gt_perfetto_iid(struct gt_perfetto *x, uint32_t space, const char *text, size_t len);
uint32_t gt_perfetto_key(struct gt_perfetto *x, enum gt_perfetto_key key);
/* Writes the entries that are not in the file yet: before the packet that refers to them. */
void gt_perfetto_flush_interned_(struct gt_perfetto *x);
static inline void gt_perfetto_flush_interned(struct gt_perfetto *x)
{
	if (x->interned.len)
		gt_perfetto_flush_interned_(x);
}
/* Adds a message to x->interned. */
void gt_perfetto_add_interned(struct gt_perfetto *x, uint32_t field, const char *bytes, size_t n);
/* A packet that has one message of at most 64 KiB, and does not belong to a moment. */
void gt_perfetto_put_packet(
	struct gt_perfetto *x, uint32_t field, const char *bytes, size_t n, bool sequence);
/* Valid UTF-8 with at most `most` bytes of text. */
void gt_perfetto_put_text(struct gt_buf *to, const char *text, size_t len, size_t most);

/* Adds a field with such a text, of at most 600 bytes. */
void gt_perfetto_add_text(struct gt_buf *to, uint32_t field, const char *text);

/* A packet with an event: its parts, and where it is being written. */
struct gt_perfetto_event {
	char *packet, *event, *p;
};
/* most: the bytes of the event's fields. time: of the segment. */
static inline void gt_perfetto_open(struct gt_perfetto *x, struct gt_perfetto_event *e,
	const struct gt_segment *seg, int64_t time, bool interned, size_t most)
{
	int64_t t = gt_since(time, x->bases[seg->index]) + x->offsets[seg->index];
	char *p = gt_out_reserve(x->out, most + 64);

	e->packet = gt_proto_open(&p, GT_TRACE_PACKET);
	p = gt_proto_u64(p, GT_PACKET_TIMESTAMP, t < 0 ? 0 : (uint64_t)t);
	p = gt_proto_u64(p, GT_PACKET_SEQUENCE, x->sequence);
	if (interned)
		p = gt_proto_u64(p, GT_PACKET_FLAGS, GT_PACKET_NEEDS_STATE);
	e->event = gt_proto_open(&p, GT_PACKET_EVENT);
	e->p = p;
}
static inline void gt_perfetto_close(struct gt_perfetto *x, struct gt_perfetto_event *e)
{
	gt_out_commit(x->out, gt_proto_close(e->packet, gt_proto_close(e->event, e->p)));
}

/* ---- perfetto_tracks.c ---- */
int gt_perfetto_tracks_init(struct gt_perfetto *x);
void gt_perfetto_tracks_release(struct gt_perfetto *x);
uint64_t gt_perfetto_counter(struct gt_perfetto *x, const struct gt_event *ev); /* 0: no memory */
uint64_t gt_perfetto_root(struct gt_perfetto *x);
/* A track of its own for a slice that has no lane. */
uint64_t gt_perfetto_lone_track(
	struct gt_perfetto *x, const struct gt_segment *seg, uint32_t track);

/* ---- perfetto_stacks.c ---- */
/* The iid of a stack, which it makes ready; 0: none. */
uint32_t gt_perfetto_stack(struct gt_perfetto *x, const struct gt_segment *seg, uint64_t stack);
/* The iid of the name of the frame that the stack counts for, as a text; 0: none. */
uint32_t gt_perfetto_caller(struct gt_perfetto *x, const struct gt_segment *seg, uint64_t stack);
/* The iid of the place of that frame in the source; 0: unknown. */
uint32_t gt_perfetto_location(struct gt_perfetto *x, const struct gt_segment *seg, uint64_t stack);

/* ---- perfetto_events.c ---- */
/* The prepared type, borrowed; NULL: no memory, with err set. */
const struct gt_perfetto_type *gt_perfetto_type(
	struct gt_perfetto *x, const struct gt_segment *seg, uint32_t id);
/* Does a slice from the row's start to `end` nest on the lane? Ends the slices before it. */
bool gt_perfetto_nests(
	struct gt_perfetto *x, const struct gt_event *ev, struct gt_chrome_lane *l, int64_t end);
/* Writes the begin of a row's slice on lane l (NULL: on a track of its own, with its end), after
 * the ends of the slices before it. */
int gt_perfetto_put_slice(
	struct gt_perfetto *x, const struct gt_event *ev, struct gt_chrome_lane *l);
int gt_perfetto_put_instant(struct gt_perfetto *x, const struct gt_event *ev);
int gt_perfetto_put_counter(struct gt_perfetto *x, const struct gt_event *ev);
int gt_perfetto_put_lost(struct gt_perfetto *x, const struct gt_event *ev);
/* Ends the slices of a lane that end until this time. */
void gt_perfetto_end_until(struct gt_perfetto *x, const struct gt_segment *seg,
	struct gt_chrome_lane *l, int64_t time);
void gt_perfetto_types_release(struct gt_perfetto *x);
#endif
