/* Packets of Perfetto's format, for tests of its importer: they are written at `at`, into `file`.
 * The includer says #define _GNU_SOURCE. */
#ifndef PERFETTO_PACKETS_H
#define PERFETTO_PACKETS_H
#include "formats/import/perfetto/import_perfetto.h"
#include "formats/io/perfetto_fields.h"
#include "formats/io/proto_write.h"
#include "tests/unit/formats/import/kineto_text.h"

#define TRACK 900u /* uuids */
#define PROCESS 901u
#define STREAM 902u

static char file[48 << 20], *at;

static inline void begin_file(void) { at = file; }

static inline char *packet(uint64_t sequence, uint64_t flags)
{
	char *mark = gt_proto_open(&at, GT_TRACE_PACKET);

	at = gt_proto_u64(at, GT_PACKET_SEQUENCE, sequence);
	if (flags)
		at = gt_proto_u64(at, GT_PACKET_FLAGS, flags);
	return mark;
}

static inline void end(char *mark) { at = gt_proto_close(mark, at); }

static inline void text(uint32_t field, const char *s)
{
	at = gt_proto_bytes(at, field, s, strlen(s));
}

/* A track of a thread (tid), of a process (tid 0), or with a name below a parent (pid 0). */
static inline void put_track(uint64_t uuid, int pid, int tid, const char *name, uint64_t parent)
{
	char *p = packet(1, 0), *d = gt_proto_open(&at, GT_PACKET_TRACK), *o;

	at = gt_proto_u64(at, GT_TRACKS_UUID, uuid);
	if (parent)
		at = gt_proto_u64(at, GT_TRACKS_PARENT, parent);
	if (!pid) {
		text(GT_TRACKS_NAME, name);
	} else {
		o = gt_proto_open(&at, tid ? GT_TRACKS_THREAD : GT_TRACKS_PROCESS);
		at = gt_proto_u64(at, GT_PROCESS_PID, (uint64_t)pid);
		if (tid)
			at = gt_proto_u64(at, GT_THREAD_TID, (uint64_t)tid);
		text(tid ? GT_THREAD_NAME : GT_PROCESS_NAME, name);
		end(o);
	}
	end(d);
	end(p);
}

struct event {
	char *packet, *event;
};

static inline struct event open_event(uint64_t time, unsigned type, uint64_t uuid, const char *name)
{
	struct event e = { packet(1, GT_PACKET_NEEDS_STATE), NULL };

	at = gt_proto_u64(at, GT_PACKET_TIMESTAMP, time);
	e.event = gt_proto_open(&at, GT_PACKET_EVENT);
	at = gt_proto_u64(at, GT_EVENT_TYPE, type);
	at = gt_proto_u64(at, GT_EVENT_TRACK, uuid);
	if (name)
		text(GT_EVENT_NAME, name);
	return e;
}

static inline void close_event(struct event e)
{
	end(e.event);
	end(e.packet);
}

static inline void number(const char *key, uint64_t v)
{
	char *a = gt_proto_open(&at, GT_EVENT_ARG);

	text(GT_ARG_NAME, key);
	at = gt_proto_u64(at, GT_ARG_INT, v);
	end(a);
}

static inline void three(const char *key, uint64_t x, uint64_t y, uint64_t z)
{
	const uint64_t v[] = { x, y, z };
	char *a = gt_proto_open(&at, GT_EVENT_ARG), *one;

	text(GT_ARG_NAME, key);
	for (unsigned i = 0; i < 3; i++) {
		one = gt_proto_open(&at, GT_ARG_VALUES);
		at = gt_proto_u64(at, GT_ARG_INT, v[i]);
		end(one);
	}
	end(a);
}

static inline void put_event(uint64_t time, unsigned type, uint64_t uuid, const char *name)
{
	close_event(open_event(time, type, uuid, name));
}

static inline bool reads(const char *expected)
{
	const char *got = list(open_bytes(file, (size_t)(at - file)));

	if (strcmp(got, expected))
		fprintf(stderr, "got:\n%s\n", got);
	return !strcmp(got, expected);
}

static inline bool fails(const char *why, uint64_t offset)
{
	struct gt_reader *r = open_bytes(file, (size_t)(at - file));
	bool as_wanted = !r && strstr(err.text, why) && err.offset == offset;

	if (!as_wanted)
		fprintf(stderr, "got: %s at %llu\n", err.text, (unsigned long long)err.offset);
	gt_reader_close(r);
	return as_wanted;
}
#endif
