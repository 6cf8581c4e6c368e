/* Where events stand. The file says a process and a thread by number, or by word where there is
 * none ("Spans"; a word that calls and ranges of a numbered process have becomes the name of a
 * thread), and of a GPU's work the device and the stream, never the process: that is the one whose
 * call launched it, or else the first that did anything. Names come before or after, usually at the
 * end of the file, and for things that nothing ever happened on. */
#include "formats/import/import_kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

#define NAMES_MAX 65536u /* of processes and threads that have no row yet */
/* threads that have a word: numbers that no kernel gives to a thread */
#define WORD_TIDS (1ll << 40)

int gt_kineto_no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "no memory to import");
}

static int too_many(struct gt_err *err)
{
	return gt_err_set(
		err, -E2BIG, "more than %u threads, streams or processes", GT_KINETO_TRACKS);
}

int gt_kineto_strings(struct gt_kineto *k, struct gt_err *err)
{
	k->source = gt_writer_string(k->w, "import kineto");
	k->nameless = gt_writer_string(k->w, "(one of too many names)");
	k->no_name = gt_writer_string(k->w, "(no name)");
	k->process_name = gt_writer_string(k->w, "process_name");
	k->thread_name = gt_writer_string(k->w, "thread_name");
	k->memory_name = gt_writer_string(k->w, "[memory]");
	k->window_end_name = gt_writer_string(k->w, "Record Window End");
	k->host = GT_NONE;
	return k->window_end_name == GT_NONE ? gt_kineto_no_memory(err) : 0;
}

/* ---- names ---- */

struct name_key {
	int64_t pid, tid;
	uint32_t thread;
};

static bool same_name(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_kineto_name *n = &((const struct gt_kineto *)arg)->names[value];
	const struct name_key *want = key;

	return n->pid == want->pid && n->tid == want->tid && n->thread == want->thread;
}

static uint64_t hash_name(const struct name_key *key)
{
	return gt_hash_u64((uint64_t)key->pid * 31 + (uint64_t)key->tid * 2 + key->thread);
}

static uint32_t name_told(const struct gt_kineto *k, const struct name_key *key)
{
	uint32_t i = gt_map_get(&k->name_map, hash_name(key), same_name, k, key, sizeof(*key));

	return i == GT_NONE ? GT_NONE : k->names[i].name;
}

static int remember_name(
	struct gt_kineto *k, const struct name_key *key, uint32_t name, struct gt_err *err)
{
	uint64_t hash = hash_name(key);
	uint32_t i = gt_map_get(&k->name_map, hash, same_name, k, key, sizeof(*key));

	if (i != GT_NONE) {
		k->names[i].name = name;
		return 0;
	}
	if (k->nnames == NAMES_MAX)
		return 0;
	if (gt_grow(&k->names, &k->names_cap, k->nnames + 1, sizeof(*k->names)) ||
		gt_map_add(&k->name_map, hash, (uint32_t)k->nnames))
		return gt_kineto_no_memory(err);
	k->names[k->nnames++] = (struct gt_kineto_name){ key->pid, key->tid, key->thread, name };
	return 0;
}

/* "thread 716 (pt_autograd_0)" is called pt_autograd_0. */
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
	memcpy(inside, from, len); /* strings move while one is added */
	return gt_writer_string_n(k->w, inside, len);
}

/* ---- processes and threads ---- */

static bool same_process(const void *arg, uint32_t value, const void *key, size_t len)
{
	return ((const struct gt_kineto *)arg)->processes[value].pid == *(const int64_t *)key;
}

static uint32_t find_process(const struct gt_kineto *k, int64_t pid)
{
	return gt_map_get(
		&k->process_map, gt_hash_u64((uint64_t)pid), same_process, k, &pid, sizeof(pid));
}

int64_t gt_kineto_process_of(struct gt_kineto *k, int64_t pid, struct gt_err *err)
{
	struct gt_track t = { .parent = GT_NONE,
		.source = k->source,
		.kind = GT_TRACK_PROCESS,
		.id = pid,
		.ns_id = pid };
	uint32_t found = find_process(k, pid);
	struct gt_kineto_process p = { .pid = pid };

	if (found != GT_NONE)
		return found;
	if (k->nprocesses == GT_KINETO_TRACKS)
		return too_many(err);
	t.name = name_told(k, &(struct name_key){ .pid = pid });
	p.track = gt_writer_track(k->w, &t);
	if (p.track == GT_NONE ||
		gt_grow(&k->processes, &k->processes_cap, k->nprocesses + 1, sizeof(p)) ||
		gt_map_add(&k->process_map, gt_hash_u64((uint64_t)pid), (uint32_t)k->nprocesses))
		return gt_kineto_no_memory(err);
	k->processes[k->nprocesses] = p;
	return (int64_t)k->nprocesses++;
}

static bool is_thread(const struct gt_kineto *k, size_t i, int64_t pid, int64_t tid)
{
	return k->threads[i].tid == tid && k->processes[k->threads[i].process].pid == pid;
}

static bool same_thread(const void *arg, uint32_t value, const void *key, size_t len)
{
	return is_thread(arg, value, ((const int64_t *)key)[0], ((const int64_t *)key)[1]);
}

int64_t gt_kineto_find_thread(const struct gt_kineto *k, int64_t pid, int64_t tid)
{
	int64_t key[2] = { pid, tid };
	uint32_t i = gt_map_get(
		&k->thread_map, gt_hash(key, sizeof(key)), same_thread, k, key, sizeof(key));

	return i == GT_NONE ? -1 : (int64_t)i;
}

static int64_t new_thread(
	struct gt_kineto *k, int64_t pid, int64_t tid, uint32_t word, struct gt_err *err)
{
	struct gt_kineto_thread t = { .tid = tid };
	struct gt_track track = {
		.source = k->source, .kind = GT_TRACK_THREAD, .id = tid, .ns_id = tid
	};
	int64_t p = gt_kineto_process_of(k, pid, err), key[2] = { pid, tid };

	if (p < 0)
		return p;
	if (k->nthreads == GT_KINETO_TRACKS)
		return too_many(err);
	t.process = (uint32_t)p;
	track.parent = k->processes[p].track;
	track.name = word != GT_NONE ? word : name_told(k, &(struct name_key){ pid, tid, 1 });
	t.track = gt_writer_track(k->w, &track);
	if (t.track == GT_NONE ||
		gt_grow(&k->threads, &k->threads_cap, k->nthreads + 1, sizeof(t)) ||
		gt_map_add(&k->thread_map, gt_hash(key, sizeof(key)), (uint32_t)k->nthreads))
		return gt_kineto_no_memory(err);
	k->threads[k->nthreads] = t;
	return (int64_t)k->nthreads++;
}

/* Index in threads, or negative. word: a string id, or GT_NONE. */
static int64_t thread_of(
	struct gt_kineto *k, int64_t pid, int64_t tid, uint32_t word, struct gt_err *err)
{
	int64_t i;

	if (k->last_thread < k->nthreads && is_thread(k, k->last_thread, pid, tid))
		return (int64_t)k->last_thread;
	i = gt_kineto_find_thread(k, pid, tid);
	if (i < 0)
		i = new_thread(k, pid, tid, word, err);
	if (i >= 0)
		k->last_thread = (size_t)i;
	return i;
}

int gt_kineto_set_name(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct name_key key = { ev->pid.number, ev->tid.number, 1 };
	uint32_t label = ev->label, p;
	int64_t t;

	if (label == GT_NONE || (ev->name != k->process_name && ev->name != k->thread_name) ||
		ev->pid.word != GT_NONE)
		return 0; /* sort_index and other hints for viewers */
	if (ev->name == k->process_name) {
		key = (struct name_key){ .pid = ev->pid.number };
		p = find_process(k, key.pid);
		return p == GT_NONE ? remember_name(k, &key, label, err)
				    : gt_writer_track_name(k->w, k->processes[p].track, label, err);
	}
	if (ev->tid.word != GT_NONE)
		return 0;
	label = own_name(k, label);
	t = gt_kineto_find_thread(k, key.pid, key.tid);
	return t < 0 ? remember_name(k, &key, label, err)
		     : gt_writer_track_name(k->w, k->threads[t].track, label, err);
}

/* ---- devices, contexts, streams, words ---- */

static bool same_place(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !memcmp(&((const struct gt_kineto *)arg)->places[value], key,
		offsetof(struct gt_kineto_place, track));
}

/* The track of this kind and id below parent. name: a string id, or GT_NONE: "WORD id". */
static int64_t place_of(struct gt_kineto *k, uint32_t parent, enum gt_track_kind kind, int64_t id,
	uint32_t name, const char *word, struct gt_err *err)
{
	struct gt_track t = {
		.parent = parent, .name = name, .source = k->source, .kind = (uint8_t)kind
	};
	struct gt_kineto_place p = { id, parent, kind, GT_NONE };
	uint64_t hash = gt_hash(&p, offsetof(struct gt_kineto_place, track));
	uint32_t i = gt_map_get(&k->place_map, hash, same_place, k, &p, 0);
	char numbered[40];

	if (i != GT_NONE)
		return k->places[i].track;
	if (k->nplaces == GT_KINETO_TRACKS)
		return too_many(err);
	if (name == GT_NONE) {
		t.id = t.ns_id = id;
		snprintf(numbered, sizeof(numbered), "%s %lld", word, (long long)id);
		t.name = gt_writer_string(k->w, numbered);
	}
	p.track = gt_writer_track(k->w, &t);
	if (p.track == GT_NONE || gt_grow(&k->places, &k->places_cap, k->nplaces + 1, sizeof(p)) ||
		gt_map_add(&k->place_map, hash, (uint32_t)k->nplaces))
		return gt_kineto_no_memory(err);
	k->places[k->nplaces++] = p;
	return p.track;
}

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

/* In a file of ours a GPU is a process of its own, called "GPU 0 (python3)"; what happens to it as
 * a whole is the device's here. */
static int64_t device_of(struct gt_kineto *k, int64_t pid, struct gt_err *err)
{
	uint32_t told = name_told(k, &(struct name_key){ .pid = pid });
	int device = -1;

	if (told == GT_NONE || k->host == GT_NONE ||
		sscanf(gt_writer_text(k->w, told), "GPU %9d (", &device) != 1 || device < 0)
		return -1;
	return device_below(k, k->host, device, err);
}

static int64_t word_of(struct gt_kineto *k, uint32_t parent, uint32_t word, struct gt_err *err)
{
	uint32_t name = *gt_writer_text(k->w, word) ? word : gt_writer_string(k->w, "trace");

	return place_of(k, parent, GT_TRACK_CUSTOM, word, name, NULL, err);
}

/* Is it a call, or a range of the program's own? */
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
			return i < 0 ? i : k->processes[i].track;
		return word_of(k, k->processes[i].track, word, err);
	}
	i = thread_of(
		k, ev->pid.number, word == GT_NONE ? ev->tid.number : WORD_TIDS + word, word, err);
	if (i < 0)
		return i;
	*thread = (size_t)i;
	return k->threads[i].track;
}
