/* Perfetto's own format (protocol buffers): TrackEvents of any writer, of PyTorch's profiler
 * (.pftrace), and of gtexport --perfetto.
 *
 *      import_perfetto.c           this file: packets, sequences, clocks
 *      import_perfetto_interned.c  texts and stacks that packets refer to by number
 *      import_perfetto_events.c    events: they become events of Kineto (import_kineto.h)
 *      import_perfetto_tracks.c    tracks, and the pairs of begins and ends on them
 *      import_perfetto_gpu.c       render stages and counters of GPUs, which are no TrackEvents
 *
 * A file is a sequence of packets, each with its length. A packet larger than 16 MiB, one that is
 * incomplete, or bytes that are no packet are errors with their offset in the unpacked file.
 * Packets of other data sources (ftrace, samples) are counted and skipped; a file that has no
 * others is refused. A packet may hold other packets, packed with deflate (zlib's format) or zst:
 * at most 256 MiB, and no packed ones.
 *
 * If packets of a sequence were lost, its texts and defaults are unknown until it clears its state:
 * a loss has the time between the packets, and events up to then that need the state are losses.
 *
 * Clocks: a packet's time is of the clock that it names, or its sequence's default, or BOOTTIME.
 * Snapshots relate clocks. Times of the trace are those of the clock that the first snapshot calls
 * the primary one, else of BOOTTIME or MONOTONIC; times of a clock without a relation are
 * not changed, and counted. */
#include "formats/import/perfetto/import_perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/import/importers.h"
#include "formats/io/stream_in.h"

#define WINDOW (1u << 20)
#define SEQUENCES_MAX 65536u
#define CLOCKS_MAX 65536u
#define SNAPSHOT_MAX 64u
#define CLOCK_KEY offsetof(struct gt_pftrace_clock, unit)
#define TIME_LIMIT (GT_TIME_MAX - 1) /* stands for all later times, which no event has */

int gt_pftrace_malformed(struct gt_pftrace *p, const char *what)
{
	if (!p->err->code)
		gt_err_set(p->err, -EBADMSG, "malformed packet (%s)", what);
	p->err->offset = p->offset;
	return p->err->code;
}

/* ---- sequences ---- */

static struct gt_pftrace_sequence *sequence_of(struct gt_pftrace *p, uint64_t id)
{
	struct gt_pftrace_sequence s = { .id = id, .last = INT64_MIN };
	uint32_t i;

	if (p->last_sequence < p->nsequences && p->sequences[p->last_sequence].id == id)
		return &p->sequences[p->last_sequence];
	i = gt_map_find_item(&p->sequence_map, p->sequences, sizeof(s), &s.id, sizeof(s.id));
	if (i != UINT32_MAX) {
		p->last_sequence = i;
		return &p->sequences[i];
	}
	s.generation = ++p->generations;
	if (p->nsequences >= SEQUENCES_MAX) {
		gt_err_set(p->err, -E2BIG, "more than %u packet sequences", SEQUENCES_MAX);
		return NULL;
	}
	i = gt_map_add_item(&p->sequence_map, &p->sequences, &p->nsequences, &p->sequences_cap,
		sizeof(s), &s, sizeof(s.id));
	if (i == UINT32_MAX) {
		gt_kineto_no_memory(p->err);
		return NULL;
	}
	return &p->sequences[i];
}

static int read_defaults(
	struct gt_pftrace *p, struct gt_pftrace_sequence *s, const struct gt_proto_field *message)
{
	struct gt_proto_in in = gt_proto_message(message), event;
	struct gt_proto_field f, g;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_DEFAULTS_CLOCK && f.wire == GT_PROTO_VARINT)
			s->clock = (uint32_t)f.value;
		if (f.number != GT_DEFAULTS_EVENT || f.wire != GT_PROTO_BYTES)
			continue;
		event = gt_proto_message(&f);
		while (gt_proto_next(&event, &g) > 0)
			if (g.number == GT_EVENT_TRACK && g.wire == GT_PROTO_VARINT) {
				s->track = g.value;
				s->has_track = true;
			}
	}
	return more < 0 ? gt_pftrace_malformed(p, "defaults") : 0;
}

/* ---- clocks ---- */

/* The clock, added if it is new; NULL: no memory, or too many. */
static struct gt_pftrace_clock *clock_of(struct gt_pftrace *p, uint64_t sequence, uint32_t id)
{
	bool own = id >= GT_CLOCK_OWN && id < 128;
	struct gt_pftrace_clock one = { .sequence = own ? sequence : 0, .id = id, .unit = 1 };
	uint32_t i;

	if (p->last_clock < p->nclocks && p->clocks[p->last_clock].id == id &&
		p->clocks[p->last_clock].sequence == one.sequence)
		return &p->clocks[p->last_clock];
	i = gt_map_find_item(&p->clock_map, p->clocks, sizeof(one), &one, CLOCK_KEY);
	if (i == UINT32_MAX && p->nclocks < CLOCKS_MAX)
		i = gt_map_add_item(&p->clock_map, &p->clocks, &p->nclocks, &p->clocks_cap,
			sizeof(one), &one, CLOCK_KEY);
	p->last_clock = i;
	return i == UINT32_MAX ? NULL : &p->clocks[i];
}

struct reading { /* of a clock, in a snapshot */
	uint32_t id;
	uint64_t time, unit;
	bool incremental;
};

static int64_t to_ns(uint64_t time, uint64_t unit)
{
	uint64_t ns;

	return __builtin_mul_overflow(time, unit, &ns) || ns >= (uint64_t)GT_TIME_MAX ? TIME_LIMIT
										      : (int64_t)ns;
}

/* The longest times are limits: a sum beyond them is the limit. Both terms are within them. */
static int64_t clamp(int64_t ns)
{
	return ns > GT_TIME_MAX ? GT_TIME_MAX : ns < -GT_TIME_MAX ? -GT_TIME_MAX : ns;
}

static int read_clock(struct gt_pftrace *p, const struct gt_proto_field *message, struct reading *r)
{
	struct gt_proto_in in = gt_proto_message(message);
	struct gt_proto_field f;
	int more;

	*r = (struct reading){ .unit = 1 };
	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.wire != GT_PROTO_VARINT)
			continue;
		switch (f.number) {
		case GT_CLOCK_ID: r->id = (uint32_t)f.value; break;
		case GT_CLOCK_TIME: r->time = f.value; break;
		case GT_CLOCK_INCREMENTAL: r->incremental = f.value; break;
		case GT_CLOCK_UNIT: r->unit = f.value ? f.value : 1; break;
		}
	}
	return more < 0 ? gt_pftrace_malformed(p, "a snapshot of clocks") : 0;
}

static const struct reading *find_reading(const struct reading *r, unsigned n, uint32_t id)
{
	for (unsigned i = 0; i < n; i++)
		if (r[i].id == id)
			return &r[i];
	return NULL;
}

/* The time of the trace at this snapshot. */
static int64_t reference_time(struct gt_pftrace *p, uint64_t sequence, const struct reading *r,
	unsigned n, uint32_t primary)
{
	const struct reading *known;

	if (!p->reference)
		p->reference = primary && find_reading(r, n, primary) ? primary
			: find_reading(r, n, GT_CLOCK_BOOTTIME)       ? GT_CLOCK_BOOTTIME
			: find_reading(r, n, GT_CLOCK_MONOTONIC)      ? GT_CLOCK_MONOTONIC
								      : r[0].id;
	known = find_reading(r, n, p->reference);
	if (known)
		return to_ns(known->time, known->unit);
	for (unsigned i = 0; i < n; i++) {
		const struct gt_pftrace_clock *c = clock_of(p, sequence, r[i].id);

		if (c && c->known)
			return clamp(to_ns(r[i].time, r[i].unit) + c->offset);
	}
	return to_ns(r[0].time, r[0].unit);
}

static int read_snapshot(
	struct gt_pftrace *p, uint64_t sequence, const struct gt_proto_field *message)
{
	struct gt_proto_in in = gt_proto_message(message);
	struct reading r[SNAPSHOT_MAX];
	uint32_t primary = 0;
	struct gt_proto_field f;
	unsigned n = 0;
	int64_t now;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_CLOCKS_PRIMARY && f.wire == GT_PROTO_VARINT)
			primary = (uint32_t)f.value;
		if (f.number != GT_CLOCKS_CLOCK || f.wire != GT_PROTO_BYTES || n == SNAPSHOT_MAX)
			continue;
		if (read_clock(p, &f, &r[n++]))
			return p->err->code;
	}
	if (more < 0)
		return gt_pftrace_malformed(p, "a snapshot of clocks");
	if (!n)
		return 0;
	now = reference_time(p, sequence, r, n, primary);
	for (unsigned i = 0; i < n; i++) {
		struct gt_pftrace_clock *c = clock_of(p, sequence, r[i].id);

		if (!c)
			return gt_err_set(p->err, -E2BIG, "more than %u clocks", CLOCKS_MAX);
		c->unit = r[i].unit;
		c->incremental = r[i].incremental;
		c->now = to_ns(r[i].time, r[i].unit);
		c->offset = clamp(now - c->now);
		c->known = true;
		if (r[i].id == GT_CLOCK_REALTIME && !p->d->based) {
			p->d->base = c->now - now;
			p->d->based = true;
		}
	}
	return 0;
}

/* The time of the trace of a packet. */
static int64_t time_of(
	struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint32_t id, uint64_t time)
{
	struct gt_pftrace_clock *c;
	int64_t ns;

	id = id ? id : s->clock ? s->clock : GT_CLOCK_BOOTTIME;
	c = clock_of(p, s->id, id);
	if (!c)
		return to_ns(time, 1);
	ns = to_ns(time, c->unit);
	if (c->incremental)
		ns = c->now = c->now + ns < TIME_LIMIT ? c->now + ns : TIME_LIMIT;
	c->unrelated += !c->known;
	return ns >= TIME_LIMIT ? ns : clamp(ns + c->offset);
}

/* ---- packets ---- */

/* The messages of a packet; a member of `message` is valid if its bit in `has` is set. */
enum part {
	EVENT,
	STAGE,
	COUNTERS,
	MEMORY,
	INTERNED,
	DEFAULTS,
	CLOCKS,
	TRACK,
	ATTRIBUTES,
	ZSTD,
	DEFLATED,
	NO_PART
};
#define HAS(part) (1u << (part))
#define EVENTS (HAS(EVENT) | HAS(STAGE) | HAS(COUNTERS) | HAS(MEMORY))
struct packet {
	uint64_t sequence, time, flags;
	uint32_t clock;
	unsigned has;
	bool has_time, cleared, dropped;
	struct gt_proto_field message[NO_PART];
};

/* What Kineto's files have around their events. */
static int read_attributes(struct gt_pftrace *p, const struct gt_proto_field *message)
{
	struct gt_proto_in in = gt_proto_message(message), one;
	struct gt_proto_field f, g;
	char key[256];
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number != GT_ATTRIBUTES_ONE || f.wire != GT_PROTO_BYTES)
			continue;
		one = gt_proto_message(&f);
		key[0] = 0;
		while (gt_proto_next(&one, &g) > 0) {
			if (g.wire != GT_PROTO_BYTES)
				continue;
			if (g.number == GT_ATTRIBUTE_KEY && g.value < sizeof(key)) {
				memcpy(key, g.bytes, g.value);
				key[g.value] = 0;
			}
			if (g.number == GT_ATTRIBUTE_STRING &&
				!strncmp(key, GT_PERFETTO_KINETO, strlen(GT_PERFETTO_KINETO)) &&
				gt_kineto_document_key(p->d, key + strlen(GT_PERFETTO_KINETO),
					(const char *)g.bytes, g.value, p->err))
				return p->err->code;
		}
	}
	return more < 0 ? gt_pftrace_malformed(p, "attributes") : 0;
}

static enum part part_of(uint32_t number)
{
	switch (number) {
	case GT_PACKET_EVENT: return EVENT;
	case GT_PACKET_RENDER_STAGE: return STAGE;
	case GT_PACKET_GPU_COUNTERS: return COUNTERS;
	case GT_PACKET_GPU_MEMORY: return MEMORY;
	case GT_PACKET_INTERNED: return INTERNED;
	case GT_PACKET_DEFAULTS: return DEFAULTS;
	case GT_PACKET_CLOCKS: return CLOCKS;
	case GT_PACKET_TRACK: return TRACK;
	case GT_PACKET_ATTRIBUTES: return ATTRIBUTES;
	case GT_PACKET_ZSTD: return ZSTD;
	case GT_PACKET_DEFLATED: return DEFLATED;
	default: return NO_PART;
	}
}

static void read_number(const struct gt_proto_field *f, struct packet *to)
{
	switch (f->number) {
	case GT_PACKET_TIMESTAMP:
		to->time = f->value;
		to->has_time = true;
		break;
	case GT_PACKET_SEQUENCE: to->sequence = f->value; break;
	case GT_PACKET_FLAGS:
		to->flags = f->value;
		to->cleared |= f->value & GT_PACKET_CLEARED;
		break;
	case GT_PACKET_OLD_CLEARED: to->cleared |= f->value != 0; break;
	case GT_PACKET_DROPPED: to->dropped = f->value; break;
	case GT_PACKET_CLOCK: to->clock = (uint32_t)f->value; break;
	}
}

static int read_fields(struct gt_pftrace *p, struct gt_proto_in in, struct packet *to)
{
	struct gt_proto_field f;
	enum part part;
	int more;

	gt_clear(to, offsetof(struct packet, message));
	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.wire == GT_PROTO_VARINT)
			read_number(&f, to);
		if (f.wire != GT_PROTO_BYTES || (part = part_of(f.number)) == NO_PART)
			continue;
		gt_proto_copy(&to->message[part], &f);
		to->has |= HAS(part);
	}
	return more < 0 ? gt_pftrace_malformed(p, "its fields") : 0;
}

static int read_packets(struct gt_pftrace *p, struct gt_in *in, unsigned depth);

static int read_packed(struct gt_pftrace *p, const struct packet *k, unsigned depth)
{
	bool zst = k->has & HAS(ZSTD);
	const struct gt_proto_field *f = &k->message[zst ? ZSTD : DEFLATED];
	uint64_t offset = p->offset;
	struct gt_in *in;
	int e;

	if (depth)
		return gt_pftrace_malformed(p, "packed packets within packed ones");
	if (gt_in_is_bomb(offset, p->unpacked))
		return gt_in_bomb_error(offset, p->err);
	in = (zst ? gt_in_memory : gt_in_zlib_memory)(f->bytes, f->value, p->err);
	if (!in)
		return p->err->code;
	e = read_packets(p, in, depth + 1);
	gt_in_close(in);
	if (e)
		p->err->offset = offset; /* not a byte of the packed text */
	p->offset = offset;
	return e;
}

/* What later packets of the sequence refer to, and packets within this one. */
static int read_state(
	struct gt_pftrace *p, struct gt_pftrace_sequence *s, const struct packet *k, unsigned depth)
{
	int e = 0;

	if (k->has & HAS(DEFAULTS))
		e = read_defaults(p, s, &k->message[DEFAULTS]);
	if (!e && k->has & HAS(CLOCKS))
		e = read_snapshot(p, k->sequence, &k->message[CLOCKS]);
	if (!e && k->has & HAS(INTERNED))
		e = gt_pftrace_intern(p, s, &k->message[INTERNED]);
	if (!e && k->has & HAS(TRACK))
		e = gt_pftrace_describe_track(p, &k->message[TRACK]);
	if (!e && k->has & HAS(ATTRIBUTES))
		e = read_attributes(p, &k->message[ATTRIBUTES]);
	if (!e && k->has & (HAS(ZSTD) | HAS(DEFLATED)))
		e = read_packed(p, k, depth);
	return e;
}

/* Notes the time of a packet, and if packets were lost before it. */
static int note_time(
	struct gt_pftrace *p, struct gt_pftrace_sequence *s, const struct packet *k, int64_t time)
{
	int64_t from = s->last, to = k->has_time ? time : s->last;
	int e = 0;

	/* the first packet of a sequence may say so, too */
	if (k->dropped && s->used) {
		s->invalid = !k->cleared;
		from = from == INT64_MIN ? to : from;
		if (to != INT64_MIN)
			e = gt_writer_loss(p->d->k.w, GT_SCOPE_ALL, GT_NONE, from < to ? from : to,
				from < to ? to : from, GT_LOST_UNKNOWN, p->err);
	}
	s->used = true;
	if (!k->has_time)
		return e;
	s->last = time;
	p->latest = time > p->latest ? time : p->latest;
	return e;
}

/* Reads the events of a packet. */
static int read_events(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct packet *k, int64_t time)
{
	int e = 0;

	p->events++;
	if (s->invalid && k->flags & GT_PACKET_NEEDS_STATE) {
		p->d->k.counts.lost++;
		return 0;
	}
	if (k->has & HAS(COUNTERS))
		e = gt_pftrace_gpu_counters(p, s, k->has_time, time, &k->message[COUNTERS]);
	if (!e && !k->has_time) {
		p->d->k.counts.no_time += !(k->has & HAS(COUNTERS));
		return 0;
	}
	if (!e && k->has & HAS(EVENT))
		e = gt_pftrace_event(p, s, time, &k->message[EVENT]);
	if (!e && k->has & HAS(STAGE))
		e = gt_pftrace_render_stage(p, s, time, &k->message[STAGE]);
	if (!e && k->has & HAS(MEMORY))
		e = gt_pftrace_gpu_memory(p, time, &k->message[MEMORY]);
	return e;
}

static int read_packet(struct gt_pftrace *p, struct gt_proto_in in, unsigned depth)
{
	struct gt_pftrace_sequence *s;
	struct packet k;
	int64_t time = 0;
	int e = read_fields(p, in, &k);

	if (e)
		return e;
	s = sequence_of(p, k.sequence);
	if (!s)
		return p->err->code;
	if (k.cleared) {
		s->generation = ++p->generations;
		s->clock = 0;
		s->has_track = s->invalid = false;
		s->track = 0;
	}
	if (k.has & ~EVENTS) {
		e = read_state(p, s, &k, depth);
		if (e)
			return e;
		s = sequence_of(p, k.sequence); /* it may have moved */
		if (!s)
			return p->err->code;
	}
	if (k.has_time)
		time = time_of(p, s, k.clock, k.time);
	k.has_time &= time < TIME_LIMIT;
	if (note_time(p, s, &k, time))
		return p->err->code;
	if (k.has & EVENTS)
		return read_events(p, s, &k, time);
	p->other_packets += !k.has;
	return 0;
}

/* ---- the file ---- */

struct window {
	uint8_t *bytes;
	size_t at, len, cap;
	uint64_t start; /* of the window in the file */
	bool ended;
};

/* Makes n bytes behind `at` readable. 1, 0: the file ends before, negative. */
static int fill(struct window *w, struct gt_in *in, size_t n, struct gt_err *err)
{
	ssize_t got;

	if (w->len - w->at >= n)
		return 1;
	if (w->at) /* there is a window */
		memmove(w->bytes, w->bytes + w->at, w->len - w->at);
	w->start += w->at;
	w->len -= w->at;
	w->at = 0;
	if (gt_grow(&w->bytes, &w->cap, n > WINDOW ? n : WINDOW, 1))
		return gt_kineto_no_memory(err);
	while (w->len < n && !w->ended) {
		got = gt_in_read(in, w->bytes + w->len, w->cap - w->len, err);
		if (got < 0)
			return (int)got;
		w->ended = !got;
		w->len += (size_t)got;
	}
	return w->len >= n;
}

/* Reads tag and length of the next field of the file. 1, 0 at the end, negative. */
static int read_head(struct gt_pftrace *p, struct window *w, struct gt_in *in, uint64_t *size)
{
	int more = fill(w, in, 20, p->err);
	struct gt_proto_in head = { w->bytes + w->at, w->bytes + w->len };
	uint64_t tag;

	p->offset = w->start + w->at;
	if (more < 0 || (!more && w->len == w->at))
		return more;
	if (gt_proto_read_varint(&head, &tag) || (tag & 7) != GT_PROTO_BYTES || !(tag >> 3) ||
		gt_proto_read_varint(&head, size))
		return gt_pftrace_malformed(p, "no tag and length");
	if (*size > GT_PFTRACE_PACKET_MAX) {
		gt_err_set(p->err, -EMSGSIZE, "a packet of %" PRIu64 " bytes: at most %u MiB",
			*size, GT_PFTRACE_PACKET_MAX >> 20);
		p->err->offset = p->offset;
		return p->err->code;
	}
	w->at += (size_t)(head.at - (w->bytes + w->at));
	more = fill(w, in, *size, p->err);
	if (!more) {
		gt_err_set(p->err, -ENODATA, "the last packet is incomplete");
		p->err->offset = p->offset;
	}
	return more > 0 ? (tag >> 3 == GT_TRACE_PACKET ? 1 : 2) : p->err->code;
}

static int read_packets(struct gt_pftrace *p, struct gt_in *in, unsigned depth)
{
	struct window w = { 0 };
	uint64_t size = 0, offset = p->offset; /* of the packet in the file */
	int more, e = 0;

	while (!e && (more = read_head(p, &w, in, &size)) > 0) {
		struct gt_proto_in packet = { w.bytes + w.at, w.bytes + w.at + size };

		if (depth)
			p->offset = offset;
		if (depth && w.start + w.at > GT_PFTRACE_UNPACKED_MAX)
			e = gt_err_set(p->err, -EMSGSIZE,
				"packed packets of more than %u MiB, unpacked",
				GT_PFTRACE_UNPACKED_MAX >> 20);
		else
			e = more == 1 ? read_packet(p, packet, depth) : 0;
		w.at += size;
	}
	p->unpacked += depth ? w.start + w.at : 0;
	free(w.bytes);
	if (e && p->err->offset == GT_NO_OFFSET)
		p->err->offset = p->offset;
	return e ? e : more;
}

/* Events whose times are of a clock without a relation to that of the trace. */
static uint64_t count_unrelated(const struct gt_pftrace *p)
{
	uint64_t n = 0;

	/* a file with one clock needs no relation */
	for (size_t i = 0; p->nclocks > 1 && i < p->nclocks; i++)
		n += p->clocks[i].id != p->reference ? p->clocks[i].unrelated : 0;
	return n;
}

static int finish(struct gt_pftrace *p)
{
	struct gt_kineto_counts *c = &p->d->k.counts;
	char meta[256];
	int e;

	if (!p->events && p->other_packets)
		return gt_err_set(p->err, -ENOTSUP,
			"no TrackEvents: its packets are of other data sources (ftrace, samples), which gt does not read");
	e = gt_pftrace_tracks_finish(p);
	c->not_understood += p->without_begin;
	if (!e)
		e = gt_kineto_document_finish(p->d, p->err);
	snprintf(meta, sizeof(meta),
		"{\"packets_of_other_sources\":%" PRIu64 ",\"events_of_unknown_clocks\":%" PRIu64
		",\"references_without_entry\":%" PRIu64 "}",
		p->other_packets, count_unrelated(p), p->missing_iids);
	return e ? e : gt_writer_meta(p->d->k.w, meta, p->err);
}

static void release(struct gt_pftrace *p)
{
	gt_pftrace_tracks_release(p);
	gt_pftrace_gpu_release(p);
	gt_kineto_document_free(p->d);
	free(p->sequences);
	free(p->clocks);
	gt_map_release(&p->clock_map);
	free(p->entries);
	gt_buf_release(&p->texts);
	gt_map_release(&p->sequence_map);
	gt_map_release(&p->entry_map);
	free(p);
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct gt_pftrace *p = calloc(1, sizeof(*p));
	int e;

	if (!p)
		return gt_kineto_no_memory(err);
	p->err = err;
	p->latest = INT64_MIN;
	gt_pftrace_tracks_init(p);
	p->d = gt_kineto_document_new(w, "perfetto", err);
	e = p->d ? read_packets(p, in, 0) : err->code;
	if (!e)
		e = finish(p);
	release(p);
	return e;
}

/* ---- recognition ---- */

static bool is_known(const struct gt_proto_field *f)
{
	if (f->wire == GT_PROTO_VARINT)
		return f->number == GT_PACKET_SEQUENCE || f->number == GT_PACKET_TIMESTAMP ||
			f->number == GT_PACKET_USER;
	return f->wire == GT_PROTO_BYTES &&
		(f->number == GT_PACKET_EVENT || f->number == GT_PACKET_TRACK ||
			f->number == GT_PACKET_CLOCKS || f->number == GT_PACKET_INTERNED ||
			f->number == GT_PACKET_ZSTD || f->number == GT_PACKET_DEFLATED ||
			f->number == GT_PACKET_RENDER_STAGE ||
			f->number == GT_PACKET_GPU_COUNTERS || f->number == GT_PACKET_CONFIG ||
			f->number == GT_PACKET_MARKER || f->number == GT_PACKET_UI_STATE ||
			f->number == GT_PACKET_UUID);
}

/* Is the field cut off, at the end of the head, one of a packet that has `rest` bytes from there?
 * Data of any source (ftrace, its settings) may be large. */
static bool is_cut_field(struct gt_proto_in in, uint64_t rest)
{
	const uint8_t *from = in.at;
	uint64_t tag, size;

	if (gt_proto_read_varint(&in, &tag) || (tag & 7) != GT_PROTO_BYTES || !(tag >> 3) ||
		tag >> 3 >= GT_PACKET_NUMBERS || gt_proto_read_varint(&in, &size))
		return false;
	return size <= rest - (uint64_t)(in.at - from);
}

/* Is it a packet of this size, as far as its bytes are there? A message of packets has few fields,
 * and at least one that gt knows, or one that is cut off. */
static bool is_packet(struct gt_proto_in in, uint64_t size)
{
	const uint8_t *from = in.at, *at = in.at;
	bool whole = size <= (uint64_t)(in.end - in.at), known = false;
	struct gt_proto_field f = { 0 };
	int more;

	if (whole)
		in.end = in.at + size;
	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number > 999)
			return false;
		known |= is_known(&f);
		at = in.at;
	}
	in.at = at;
	return whole ? known && !more : known || is_cut_field(in, size - (uint64_t)(at - from));
}

static int sniff(const char *head, size_t len)
{
	struct gt_proto_in in = { (const uint8_t *)head, (const uint8_t *)head + len };
	unsigned packets = 0;

	while (in.at < in.end && packets < 8) {
		uint64_t tag, size;

		if (*in.at != (GT_TRACE_PACKET << 3 | GT_PROTO_BYTES))
			return packets ? 50 : 0;
		if (gt_proto_read_varint(&in, &tag) || gt_proto_read_varint(&in, &size))
			break;
		if (!is_packet(in, size))
			return packets ? 50 : 0;
		if (size > (uint64_t)(in.end - in.at))
			break;
		packets++;
		in.at += size;
	}
	if (packets)
		return 90;
	/* if the head is the whole file, its only packet is incomplete: it may be text, too */
	return in.at > (const uint8_t *)head && len >= GT_IN_PEEK ? 30 : 0;
}

const struct gt_importer gt_import_perfetto = {
	.name = "perfetto",
	.help = "Perfetto's own format: TrackEvents, PyTorch's .pftrace, gtexport --perfetto",
	.sniff = sniff,
	.import = import,
};
