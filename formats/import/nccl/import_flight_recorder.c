/* The flight recorder of PyTorch's process groups: as the pickle that its watchdog writes and that
 * torch._C._distributed_c10d._dump_nccl_trace() returns, or as JSON, which has no call stacks:
 * _dump_nccl_trace_json() (pytorch: torch/csrc/distributed/c10d/FlightRecorderDetail.hpp,
 * dump_dict() and dump_json()). A pickle becomes JSON in a temporary file of at most JSON_MAX bytes
 * (pickle.h: no code in it is run), and one reader has both.
 *
 *      {"entries": [{"record_id": 7, "pg_id": 0, "process_group": ["0", "default_pg"],
 *        "collective_seq_id": 8, "op_id": 8, "profiling_name": "nccl:all_reduce",
 *        "time_created_ns": 1790000000000000000, "duration_ms": 1.5, "state": "completed",
 *        "time_discovered_started_ns": 1790000000000100000,
 *        "time_discovered_completed_ns": 1790000000001700000, "frames": [...], ...}],
 *       "pg_config": {...}, "pg_status": {...}, "version": "2.10"}
 *
 * An entry is an instant on the track of the host, when the host enqueued the collective. If the
 * collective is completed and of NCCL, it is also GPU work on the track of its process group. An
 * entry that is not completed is an open call of the host: it has begun and has no end, and its
 * argument "state" says whether the GPU has started it.
 *
 * Times of GPU work are late: they are those at which a thread of the host found the collective
 * started and completed, which is polled. With TORCH_NCCL_ENABLE_TIMING=1 the recorder has the
 * duration, from CUDA events; the work then ends when it was found completed, or earlier, if it was
 * found started earlier. Without a duration it begins when it was found started or, if that is
 * unknown, when the host enqueued it; the metadata count these.
 *
 * The file does not say of which rank it is: the number behind "rank" in the file's name is taken.
 * All other keys of the document are copied to the metadata, below "flight_recorder". */
#define _GNU_SOURCE
#include "formats/import/nccl/import_flight_recorder.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/import/import_json_copy.h"
#include "formats/import/importers.h"
#include "formats/io/pickle.h"
#include "formats/io/stream_in.h"
#include "formats/io/stream_out.h"
#include "formats/os/file.h"

#define OTHERS_MAX (64u << 10) /* bytes of the other keys; a key that does not fit is left out */
#define SNIFF_TOKENS 2000u
#define JSON_MAX (1ull << 30) /* bytes of a pickle's JSON */
#define HOST_THREAD 0

struct flight_import {
	struct gt_flight f;
	struct gt_out others; /* {"key":value,... */
	uint32_t tracks;      /* those with their name */
	uint64_t entries, not_understood, untimed, unplaced, open;
	int64_t first, latest, first_record; /* first_record: -1: there is no entry */
	bool truncated;
};

static const struct gt_rows_config config = {
	.importer = "flight-recorder",
	.mode = GT_PAIR_BY_ID,
	.classify = gt_import_nccl_classify,
	.role = gt_import_nccl_role,
	.notes_lines = true,
};

/* ---- entries ---- */

static bool has(const struct gt_flight_entry *e, enum gt_flight_int which)
{
	return e->has >> which & 1;
}

/* The time; 0: it is unknown, which the file writes as 0 or null. */
static int64_t time_of(const struct gt_flight_entry *e, enum gt_flight_int which)
{
	return has(e, which) && e->ints[which] > 0 && e->ints[which] < GT_ROWS_TIME_MAX
		? e->ints[which]
		: 0;
}

static void add_args(struct flight_import *x, const struct gt_flight_entry *e)
{
	static const struct {
		const char *key;
		enum gt_flight_int which;
	} numbers[] = { { "record_id", GT_FLIGHT_RECORD }, { "op_id", GT_FLIGHT_OP },
		{ "timeout_ms", GT_FLIGHT_TIMEOUT } };
	enum gt_flight_int number = e->is_p2p ? GT_FLIGHT_P2P : GT_FLIGHT_COLLECTIVE;
	uint64_t bytes = gt_flight_bytes(&e->inputs);

	if (has(e, number) && e->ints[number] >= 0)
		gt_rows_number(x->f.rows, e->is_p2p ? "p2p_seq_id" : "sequence",
			(uint64_t)e->ints[number]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (has(e, numbers[i].which))
			gt_rows_value(x->f.rows, numbers[i].key, GT_F_I64,
				(uint64_t)e->ints[numbers[i].which]);
	if (bytes)
		gt_rows_number(x->f.rows, "message_bytes", bytes);
	if (e->stack != GT_NONE)
		gt_rows_number(x->f.rows, GT_ROWS_STACK, e->stack);
}

/* When the GPU worked on it: see above. */
static void gpu_times(
	struct flight_import *x, const struct gt_flight_entry *e, int64_t *start, int64_t *end)
{
	int64_t created = e->ints[GT_FLIGHT_CREATED], started = time_of(e, GT_FLIGHT_FOUND_STARTED),
		completed = time_of(e, GT_FLIGHT_FOUND_COMPLETED);

	if (e->duration < 0 || e->duration > GT_ROWS_TIME_MAX - completed) {
		x->untimed++;
		*start = started > created && started <= completed ? started : created;
		*end = completed;
		return;
	}
	*start = completed - e->duration;
	*start = started && started < *start ? started : *start;
	*start = *start < created ? created : *start;
	*end = *start + e->duration;
}

static int put_gpu(
	struct flight_import *x, const struct gt_flight_entry *e, uint32_t host, struct gt_err *err)
{
	struct gt_gpu_cause launch = { .join = GT_JOIN_CORRELATION,
		.track = gt_rows_track_id(x->f.rows, host),
		.name = gt_writer_string(x->f.w, e->text),
		.start = e->ints[GT_FLIGHT_CREATED] };
	int64_t group = has(e, GT_FLIGHT_GROUP) ? e->ints[GT_FLIGHT_GROUP] : 0, track, start, end;
	char number[24], name[160];

	snprintf(number, sizeof(number), "%" PRId64, group);
	snprintf(name, sizeof(name), "process group %s%s%s%s", e->group[0] ? e->group : number,
		e->description[0] ? " (" : "", e->description, e->description[0] ? ")" : "");
	track = gt_import_nccl_stream(x->f.rows, x->f.w, &x->tracks, 0, group, name, err);
	if (track < 0)
		return (int)track;
	gpu_times(x, e, &start, &end);
	x->latest = end > x->latest ? end : x->latest;
	return gt_import_nccl_put(
		x->f.rows, (uint32_t)track, (uint32_t)e->short_name, start, end, &launch, err);
}

static int put_entry(struct flight_import *x, const struct gt_flight_entry *e, struct gt_err *err)
{
	int64_t created = time_of(e, GT_FLIGHT_CREATED), host;
	bool placed = time_of(e, GT_FLIGHT_FOUND_COMPLETED) >= created,
	     completed =
		     e->state == GT_FLIGHT_COMPLETED || (e->state == GT_FLIGHT_UNKNOWN && placed);
	int rc;

	if (!created || e->name < 0) {
		x->not_understood++;
		return 0;
	}
	host = gt_rows_track(x->f.rows, 0, HOST_THREAD, "host", err);
	if (host < 0)
		return (int)host;
	x->tracks = x->tracks ? x->tracks : (uint32_t)host + 1;
	x->first = x->first && x->first < created ? x->first : created;
	for (enum gt_flight_int i = GT_FLIGHT_CREATED; i <= GT_FLIGHT_FOUND_COMPLETED; i++)
		x->latest = time_of(e, i) > x->latest ? time_of(e, i) : x->latest;
	if (x->first_record < 0 && has(e, GT_FLIGHT_RECORD))
		x->first_record = e->ints[GT_FLIGHT_RECORD];
	add_args(x, e);
	if (!completed) {
		x->open++;
		return gt_rows_begin(
			x->f.rows, (uint32_t)host, (uint32_t)e->name, created, x->entries, err);
	}
	rc = gt_rows_row(x->f.rows, GT_INSTANT, (uint32_t)host, (uint32_t)e->name,
		&(struct gt_row){ .start = created, .end = created }, err);
	x->unplaced += e->is_nccl && !placed;
	return rc || !e->is_nccl || !placed ? rc : put_gpu(x, e, (uint32_t)host, err);
}

static int read_entries(struct flight_import *x, struct gt_err *err)
{
	struct gt_flight_entry e;
	int t, rc = 0;

	while (!rc && (t = gt_json_next(x->f.j, err)) != GT_JSON_ARRAY_END) {
		if (t < 0)
			return t;
		if (t != GT_JSON_OBJECT) {
			x->not_understood++;
			rc = gt_json_skip(x->f.j, err);
			continue;
		}
		rc = gt_flight_read(&x->f, &e, err);
		x->entries++;
		if (!rc)
			rc = put_entry(x, &e, err);
	}
	return rc;
}

/* ---- the document ---- */

static int read_document(struct flight_import *x, struct gt_err *err)
{
	struct gt_json *j = x->f.j;
	int t = gt_json_next(j, err), rc = 0;

	if (t != GT_JSON_OBJECT)
		return t < 0 ? t : gt_json_set_error(j, 0, err, "expected a JSON object");
	while (!rc && (t = gt_json_next(j, err)) != GT_JSON_OBJECT_END) {
		char key[64] = "";

		if (t < 0)
			return t;
		if (j->len < sizeof(key))
			memcpy(key, j->text, j->len);
		t = gt_json_next(j, err);
		if (t < 0)
			return t;
		if (!strcmp(key, "entries") && t == GT_JSON_ARRAY)
			rc = read_entries(x, err);
		else
			rc = gt_json_copy_member(
				j, key, t, &x->others, OTHERS_MAX, NULL, NULL, err);
		rc = rc > 0 ? 0 : rc;
	}
	t = rc ? 0 : gt_json_next(j, err);
	return t > 0 ? gt_json_set_error(j, gt_json_offset(j) - 1, err,
			       "unexpected text after the flight recorder's object")
		     : rc + t;
}

/* The number behind the last "rank" of the file's name; -1: there is none. */
static int64_t rank_of(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL, *at = base ? base + 1 : path,
		   *rank = NULL;
	char *end;
	long n;

	while (at && (at = strstr(at, "rank")))
		rank = at += 4;
	if (!rank)
		return -1;
	rank += *rank == '_' || *rank == '-' || *rank == '.';
	n = isdigit((unsigned char)*rank) ? strtol(rank, &end, 10) : -1;
	return n <= INT32_MAX ? n : -1;
}

static int put_metadata(struct flight_import *x, int64_t rank, struct gt_err *err)
{
	char start[48] = "", number[32] = "", *json = NULL;
	bool lost;
	char *others = gt_json_copy_close(&x->others, &lost);
	int rc = -ENOMEM;

	if (!others)
		return gt_err_set(err, -ENOMEM, "out of memory (metadata)");
	if (x->first)
		gt_import_nccl_start(x->first, start);
	if (rank >= 0)
		snprintf(number, sizeof(number), ",\"rank\":%" PRId64, rank);
	if (asprintf(&json,
		    "{\"gpu_work\":\"collectives\",\"flight_recorder\":%s,\"events_not_understood\":%" PRIu64
		    ",\"events_without_time\":%" PRIu64 ",\"collectives_without_duration\":%" PRIu64
		    ",\"collectives_not_completed\":%" PRIu64 ",\"first_record\":%" PRId64 "%s%s}",
		    others, x->not_understood + lost, x->unplaced, x->untimed, x->open,
		    x->first_record > 0 ? x->first_record : 0, number, start) < 0)
		gt_err_set(err, -ENOMEM, "out of memory (metadata)");
	else
		rc = gt_writer_meta(x->f.w, json, err);
	free(others);
	free(json);
	return rc;
}

static int finish(struct flight_import *x, struct gt_in *in, struct gt_err *err)
{
	int rc;

	if (x->latest)
		gt_rows_note_line(x->f.rows, x->latest);
	rc = gt_rows_finish(x->f.rows, x->truncated, err);
	if (!rc)
		rc = put_metadata(x, rank_of(gt_in_name(in)), err);
	return rc || !x->first ? rc : gt_import_nccl_anchor(x->f.w, x->first, err);
}

/* The rows of JSON text. in: the file that the user named. */
static int import_json(
	struct gt_in *text, struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct gt_err scan = GT_ERR_INIT; /* separate: an incomplete document is no error */
	struct gt_json j;
	struct flight_import x = { .f = { .w = w, .j = &j }, .first_record = -1 };
	int rc = gt_json_init(&j, text, false, err);

	if (rc)
		return rc;
	gt_out_memory(&x.others);
	gt_out_str(&x.others, "{");
	x.f.rows = gt_rows_new(&config, w, err);
	rc = x.f.rows ? read_document(&x, &scan) : -ENOMEM;
	x.truncated = rc == -ENODATA;
	if (!rc || x.truncated)
		rc = finish(&x, in, err);
	else if (err && !err->code)
		*err = scan;
	if (rc == -E2BIG && err && err->offset == GT_NO_OFFSET)
		err->offset = gt_json_offset(&j);
	gt_rows_free(x.f.rows);
	gt_json_release(&j);
	gt_out_close(&x.others, NULL);
	free(x.f.frames.ids);
	return rc;
}

/* ---- pickles ---- */

static bool is_pickle(const char *head, size_t len)
{
	return len > 2 && (uint8_t)head[0] == 0x80 && head[1] >= 2 && head[1] <= 5;
}

/* 0 or negative: fd has the pickle's value as JSON. */
static int unpickle(struct gt_in *in, int fd, struct gt_err *err)
{
	struct gt_pickle *p = gt_pickle_load(in, err);
	struct gt_pickle_cursor c;
	struct gt_out out;
	int rc;

	if (!p)
		return err->code;
	gt_pickle_open(&c, p, gt_pickle_root(p));
	rc = gt_pickle_next(&c, err) == GT_JSON_OBJECT
		? gt_out_open_fd(&out, dup(fd), "a temporary file", err)
		: gt_err_set(
			  err, -EILSEQ, "a pickle that is no dict: no flight recorder of PyTorch");
	if (!rc) {
		gt_out_limit(&out, JSON_MAX);
		rc = gt_pickle_to_json(p, &out, err);
		if (out.failed == -E2BIG)
			rc = gt_err_set(err, -E2BIG,
				"pickle: as JSON it has more than %llu bytes, because its values refer to each other",
				JSON_MAX);
		rc = gt_out_close(&out, rc ? NULL : err) && !rc ? err->code : rc;
	}
	gt_pickle_free(p);
	if (!rc && lseek(fd, 0, SEEK_SET) < 0)
		rc = gt_err_set(err, -errno, "cannot read a temporary file");
	return rc;
}

static int import_pickle(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	int fd = gt_temporary(err), rc = fd < 0 ? fd : unpickle(in, fd, err);
	struct gt_in *text = NULL;

	if (!rc) {
		text = gt_in_open_fd(fd, err);
		rc = text ? import_json(text, in, w, err) : err->code;
		err->offset = GT_NO_OFFSET; /* that of the JSON */
	} else if (fd >= 0) {
		close(fd);
	}
	gt_in_close(text);
	return rc;
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	const char *head;
	ssize_t n = gt_in_peek(in, &head, err);

	if (n < 0)
		return (int)n;
	return is_pickle(head, (size_t)n) ? import_pickle(in, w, err) : import_json(in, in, w, err);
}

/* Names of keys: a pickle has each text once. Versions before 2.4 have no "pg_config". */
static int sniff_pickle(const char *head, size_t len)
{
	static const char *const entry[] = { "profiling_name", "record_id", "time_created_ns" };
	unsigned found = 0;

	for (size_t i = 0; i < sizeof(entry) / sizeof(*entry); i++)
		found += memmem(head, len, entry[i], strlen(entry[i])) != NULL;
	return memmem(head, len, "pg_config", strlen("pg_config")) || found == 3 ? 90 : 0;
}

/* Entries may be longer than the head; the keys behind them are then unknown. */
static int sniff_json(const char *head, size_t len)
{
	static const struct {
		const char *key;
		unsigned depth;
	} words[] = { { "profiling_name", 3 }, { "record_id", 3 }, { "time_created_ns", 3 },
		{ "entries", 1 }, { "pg_config", 1 }, { "pg_status", 1 }, { "version", 1 } };
	struct gt_in *in = gt_in_memory(head, len, NULL);
	unsigned found = 0, n = 0;
	struct gt_json j;
	int t;

	if (in && !gt_json_init(&j, in, false, NULL)) {
		t = gt_json_next(&j, NULL) == GT_JSON_OBJECT;
		while (t > 0 && j.depth && n++ < SNIFF_TOKENS) {
			t = gt_json_next(&j, NULL);
			for (unsigned i = 0; t == GT_JSON_KEY && i < sizeof(words) / sizeof(*words);
				i++)
				if (j.depth == words[i].depth && gt_json_is(&j, words[i].key))
					found |= 1u << i;
		}
		gt_json_release(&j);
	}
	gt_in_close(in);
	return (found & 15) == 15 ? 95 : (found & 112) == 112 ? 85 : 0;
}

static int sniff(const char *head, size_t len)
{
	return is_pickle(head, len) ? sniff_pickle(head, len) : sniff_json(head, len);
}

const struct gt_importer gt_import_flight_recorder = {
	.name = "flight-recorder",
	.help = "the flight recorder of PyTorch's process groups: the pickle, of which no code is run, or JSON",
	.sniff = sniff,
	.import = import,
};
