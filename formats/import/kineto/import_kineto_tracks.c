/* Tracks of events. An event has a process and a thread, as numbers, or as words for things that
 * are neither ("Spans"; if calls or ranges of a numbered process have a word, it is the name of a
 * thread). GPU work has a device and a stream, but no process: its process is that of the launching
 * call, or else the first process with a call or range. Names come before or after the events,
 * usually at the end of the file, and also for tracks without events. */
#include "formats/import/kineto/import_kineto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

#define NAMES_MAX 65536u /* of processes and threads without rows so far */
/* ids of threads that have a word: the kernel gives no thread such a number */
#define WORD_TIDS (1ll << 40)

int gt_kineto_no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import)");
}

static int too_many(struct gt_err *err)
{
	return gt_err_set(
		err, -E2BIG, "more than %u threads, streams or processes", GT_KINETO_TRACKS);
}

int gt_kineto_strings(struct gt_kineto *k, struct gt_err *err)
{
	char source[40];

	snprintf(source, sizeof(source), "import %s", k->format);
	k->source = gt_writer_string(k->w, source);
	k->nameless = gt_writer_string(k->w, "(names beyond the limit)");
	k->no_name = gt_writer_string(k->w, "(no name)");
	k->process_name = gt_writer_string(k->w, "process_name");
	k->thread_name = gt_writer_string(k->w, "thread_name");
	k->memory_name = gt_writer_string(k->w, "[memory]");
	k->window_end_name = gt_writer_string(k->w, "Record Window End");
	k->first_process = GT_NONE;
	return k->window_end_name == GT_NONE ? gt_kineto_no_memory(err) : 0;
}

/* ---- names ---- */

#define NAME_KEY offsetof(struct gt_kineto_name, name)

static uint32_t find_name(const struct gt_kineto *k, const struct gt_kineto_name *key)
{
	return gt_map_find_item(&k->name_map, k->names, sizeof(*k->names), key, NAME_KEY);
}

static uint32_t early_name(const struct gt_kineto *k, int64_t pid, int64_t tid, bool thread)
{
	uint32_t i = find_name(k, &(struct gt_kineto_name){ pid, tid, thread, GT_NONE });

	return i == GT_NONE ? GT_NONE : k->names[i].name;
}

static int remember_name(struct gt_kineto *k, const struct gt_kineto_name *name, struct gt_err *err)
{
	uint32_t i = find_name(k, name);

	if (i != GT_NONE)
		k->names[i].name = name->name;
	else if (k->nnames < NAMES_MAX &&
		gt_map_add_item(&k->name_map, &k->names, &k->nnames, &k->names_cap, sizeof(*name),
			name, NAME_KEY) == GT_NONE)
		return gt_kineto_no_memory(err);
	return 0;
}

/* The name pt_autograd_0 in "thread 716 (pt_autograd_0)". */
static uint32_t own_name(struct gt_kineto *k, uint32_t label)
{
	const char *text = gt_writer_text(k->w, label), *from;
	size_t len = strlen(text);
	char inside[64];

	if (strncmp(text, "thread ", 7) || !(from = strchr(text, '(')) || text[len - 1] != ')' ||
		!from[1])
		return label;
	len = (size_t)(text + len - 1 - ++from);
	if (!len || len > sizeof(inside))
		return label;
	memcpy(inside, from, len); /* adding a string may move the others */
	return gt_writer_string_n(k->w, inside, len);
}

/* ---- processes, devices, contexts, streams, words ---- */

#define PLACE_KEY offsetof(struct gt_kineto_place, track)

/* The track of this kind and id below parent, added if it is new. name: a string id, or GT_NONE:
 * "WORD id" if there is a word. */
static int64_t place_of(struct gt_kineto *k, uint32_t parent, enum gt_track_kind kind, int64_t id,
	uint32_t name, const char *word, struct gt_err *err)
{
	struct gt_track t = {
		.parent = parent, .name = name, .source = k->source, .kind = (uint8_t)kind
	};
	struct gt_kineto_place p = { id, parent, kind, GT_NONE };
	uint32_t i = gt_map_find_item(&k->place_map, k->places, sizeof(p), &p, PLACE_KEY);
	char numbered[40];

	if (i != GT_NONE)
		return k->places[i].track;
	if (k->nplaces == GT_KINETO_TRACKS)
		return too_many(err);
	if (kind != GT_TRACK_CUSTOM)
		t.id = t.ns_id = id;
	if (name == GT_NONE && word) {
		snprintf(numbered, sizeof(numbered), "%s %lld", word, (long long)id);
		t.name = gt_writer_string(k->w, numbered);
	}
	p.track = gt_writer_track(k->w, &t);
	if (p.track == GT_NONE ||
		gt_map_add_item(&k->place_map, &k->places, &k->nplaces, &k->places_cap, sizeof(p),
			&p, PLACE_KEY) == GT_NONE)
		return gt_kineto_no_memory(err);
	return p.track;
}

/* GT_NONE: it is new. */
static uint32_t find_process(const struct gt_kineto *k, int64_t pid)
{
	struct gt_kineto_place key = { pid, GT_NONE, GT_TRACK_PROCESS, GT_NONE };
	uint32_t i = gt_map_find_item(&k->place_map, k->places, sizeof(key), &key, PLACE_KEY);

	return i == GT_NONE ? GT_NONE : k->places[i].track;
}

int64_t gt_kineto_process_of(struct gt_kineto *k, int64_t pid, struct gt_err *err)
{
	return place_of(k, GT_NONE, GT_TRACK_PROCESS, pid, early_name(k, pid, 0, false), NULL, err);
}

/* ---- threads ---- */

#define THREAD_KEY offsetof(struct gt_kineto_thread, process)

int64_t gt_kineto_find_thread(const struct gt_kineto *k, int64_t pid, int64_t tid)
{
	struct gt_kineto_thread key = { .pid = pid, .tid = tid };
	uint32_t i =
		gt_map_find_item(&k->thread_map, k->threads, sizeof(*k->threads), &key, THREAD_KEY);

	return i == GT_NONE ? -1 : (int64_t)i;
}

static int64_t new_thread(
	struct gt_kineto *k, int64_t pid, int64_t tid, uint32_t word, struct gt_err *err)
{
	struct gt_kineto_thread t = { .pid = pid, .tid = tid, .lane.last = INT64_MIN };
	struct gt_track track = {
		.source = k->source, .kind = GT_TRACK_THREAD, .id = tid, .ns_id = tid
	};
	int64_t p = gt_kineto_process_of(k, pid, err);
	uint32_t i;

	if (p < 0)
		return p;
	if (k->nthreads == GT_KINETO_TRACKS)
		return too_many(err);
	t.process = (uint32_t)p;
	track.parent = t.process;
	track.name = word != GT_NONE ? word : early_name(k, pid, tid, true);
	t.track = gt_writer_track(k->w, &track);
	i = t.track == GT_NONE ? GT_NONE
			       : gt_map_add_item(&k->thread_map, &k->threads, &k->nthreads,
					 &k->threads_cap, sizeof(t), &t, THREAD_KEY);
	return i == GT_NONE ? gt_kineto_no_memory(err) : (int64_t)i;
}

/* Index in threads, or negative. word: a string id, or GT_NONE. */
static int64_t thread_of(
	struct gt_kineto *k, int64_t pid, int64_t tid, uint32_t word, struct gt_err *err)
{
	int64_t i;

	if (k->last_thread < k->nthreads && k->threads[k->last_thread].pid == pid &&
		k->threads[k->last_thread].tid == tid)
		return (int64_t)k->last_thread;
	i = gt_kineto_find_thread(k, pid, tid);
	if (i < 0)
		i = new_thread(k, pid, tid, word, err);
	if (i >= 0)
		k->last_thread = (size_t)i;
	return i;
}

/* Is it "process 851" or "thread 851", as gtexport labels what has no name? */
static bool is_made_up(const struct gt_kineto *k, const char *kind, int64_t id, uint32_t label)
{
	char text[32];

	snprintf(text, sizeof(text), "%s %" PRId64, kind, id);
	return !strcmp(gt_writer_text(k->w, label), text);
}

int gt_kineto_set_name(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_kineto_name n = { ev->pid.number, 0, 0, ev->label };
	int64_t i;

	if (n.name == GT_NONE || (ev->name != k->process_name && ev->name != k->thread_name) ||
		ev->pid.word != GT_NONE)
		return 0; /* sort_index and other data for viewers */
	if (ev->name == k->process_name) {
		if (is_made_up(k, "process", n.pid, n.name))
			return 0;
		i = find_process(k, n.pid);
		return i == GT_NONE ? remember_name(k, &n, err)
				    : gt_writer_track_name(k->w, (uint32_t)i, n.name, err);
	}
	if (ev->tid.word != GT_NONE || is_made_up(k, "thread", ev->tid.number, n.name))
		return 0;
	n.tid = ev->tid.number;
	n.thread = 1;
	n.name = own_name(k, ev->label);
	i = gt_kineto_find_thread(k, n.pid, n.tid);
	return i < 0 ? remember_name(k, &n, err)
		     : gt_writer_track_name(k->w, k->threads[i].track, n.name, err);
}

/* ---- devices, contexts, streams, words ---- */

static int64_t device_below(
	struct gt_kineto *k, uint32_t process, int64_t device, struct gt_err *err)
{
	return place_of(k, process, GT_TRACK_DEVICE, device, GT_NONE, "GPU", err);
}

int64_t gt_kineto_stream_of(struct gt_kineto *k, uint32_t process, int64_t device, uint32_t context,
	int64_t stream, struct gt_err *err)
{
	int64_t on = device_below(k, process, device, err);

	if (on >= 0 && stream >= 0 && context)
		on = place_of(k, (uint32_t)on, GT_TRACK_CONTEXT, context, GT_NONE, "context", err);
	return on < 0 || stream < 0
		? on
		: place_of(k, (uint32_t)on, GT_TRACK_STREAM, stream, GT_NONE, "stream", err);
}

/* In a file of gtexport a GPU is a process named "GPU 0 (python3)"; its events
 * belong to the device. */
static int64_t device_of(struct gt_kineto *k, int64_t pid, struct gt_err *err)
{
	uint32_t name = early_name(k, pid, 0, false);
	int device = -1;

	if (name == GT_NONE || k->first_process == GT_NONE ||
		sscanf(gt_writer_text(k->w, name), "GPU %9d (", &device) != 1 || device < 0)
		return -1;
	return device_below(k, k->first_process, device, err);
}

static int64_t word_of(struct gt_kineto *k, uint32_t parent, uint32_t word, struct gt_err *err)
{
	uint32_t name = *gt_writer_text(k->w, word) ? word : gt_writer_string(k->w, "trace");

	return place_of(k, parent, GT_TRACK_CUSTOM, word, name, NULL, err);
}

/* Is it a call, or a range of the program? */
static bool is_of_thread(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	if (ev->cat == GT_KINETO_OTHER)
		return ev->name != GT_NONE && gt_api_is_cuda(gt_writer_text(k->w, ev->name));
	return ev->cat == GT_KINETO_RANGE || ev->cat == GT_KINETO_RUNTIME ||
		ev->cat == GT_KINETO_DRIVER;
}

int64_t gt_kineto_track_of(struct gt_kineto *k, const struct gt_kineto_event *ev, bool whole,
	size_t *thread, struct gt_err *err)
{
	uint32_t word = ev->tid.word;
	int64_t i;

	*thread = SIZE_MAX;
	if (ev->pid.word != GT_NONE)
		return word_of(k, GT_NONE, ev->pid.word, err);
	if (whole && find_process(k, ev->pid.number) == GT_NONE &&
		(i = device_of(k, ev->pid.number, err)) >= 0)
		return i;
	if (whole || (word != GT_NONE && !is_of_thread(k, ev))) {
		i = gt_kineto_process_of(k, ev->pid.number, err);
		if (i < 0 || word == GT_NONE)
			return i;
		return word_of(k, (uint32_t)i, word, err);
	}
	i = thread_of(
		k, ev->pid.number, word == GT_NONE ? ev->tid.number : WORD_TIDS + word, word, err);
	if (i < 0)
		return i;
	*thread = (size_t)i;
	return k->threads[i].track;
}
