/* Reads one event: keys in any order, by one table. A value of a wrong kind (a time
 * in quotes, a grid of four) is ignored. Of the arguments, those are read that rows
 * have fields for, and those of GT_KINETO_EXTRA. */
#include "formats/import/kineto/import_kineto.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/export/exporters.h"
#include "formats/import/import_json_copy.h"
#include "formats/io/stream_in.h"

#define ARGS_MAX (64u << 10) /* bytes of arguments before the phase; more are left out */

struct key;
struct reading {
	struct gt_kineto *k;
	struct gt_json *j;
	struct gt_kineto_event *ev;
	const uint64_t *number; /* an integer as its bits, instead of the text of j */
	bool negative;
};

/* The cache entry of a string. Names repeat soon, and most differ in their ends or lengths: hashing
 * the whole name of a kernel would take longer than all other work for it. */
static struct gt_kineto_recent *recent(struct gt_kineto *k, const char *s, size_t len)
{
	uint64_t a = 0, b = 0;

	memcpy(&a, s, len < 8 ? len : 8);
	if (len >= 8)
		memcpy(&b, s + len - 8, 8);
	return &k->recent[((a + b * 31 + len) * 0x9e3779b97f4a7c15ULL) >> 54];
}
_Static_assert(sizeof(((struct gt_kineto *)0)->recent) / sizeof(struct gt_kineto_recent) == 1 << 10,
	"the hash has 10 bits");

/* The id of a string. GT_NONE: no memory. If more than `most` bytes of names are in
 * use, it is that of k->nameless. */
static uint32_t intern(struct gt_kineto *k, const char *s, size_t len, size_t most)
{
	struct gt_kineto_recent *last = recent(k, s, len);
	uint32_t id;

	if (len && last->len == len && !memcmp(gt_writer_text(k->w, last->id), s, len))
		return last->id;
	if (k->name_bytes > most) {
		k->counts.names_left_out++;
		return k->nameless;
	}
	id = gt_writer_string_n(k->w, s, len);
	if (id != GT_NONE && len <= GT_STRING_MAX)
		*last = (struct gt_kineto_recent){ (uint32_t)len, id };
	if (id != GT_NONE && id >= k->nstrings) { /* ids are dense: this one is new */
		k->nstrings = id + 1;
		k->name_bytes += (len < GT_STRING_MAX ? len : GT_STRING_MAX) + 64;
	}
	return id;
}

static uint32_t string(const struct reading *r)
{
	/* there may be any number of ranges; GPU work must have its name */
	bool range = r->ev->cat == GT_KINETO_RANGE;

	return intern(r->k, r->j->text, r->j->len, range ? GT_KINETO_TEXT : GT_KINETO_TEXT / 3 * 4);
}

/* ---- values ---- */

static bool is_number(int token) { return token == GT_JSON_INT || token == GT_JSON_REAL; }

static bool read_u64(const struct reading *r, int token, uint64_t *to)
{
	bool negative;
	uint64_t v;

	if (r->number) {
		*to = *r->number;
		return !r->negative;
	}
	if (token != GT_JSON_INT || gt_json_magnitude(r->j->text, r->j->len, 0, &negative, &v) ||
		negative)
		return false;
	*to = v;
	return true;
}

static bool read_u32(const struct reading *r, int token, uint32_t *to)
{
	uint64_t v;

	if (!read_u64(r, token, &v) || v > UINT32_MAX)
		return false;
	*to = (uint32_t)v;
	return true;
}

static bool read_i64(const struct reading *r, int token, int64_t *to)
{
	if (r->number) {
		*to = (int64_t)*r->number;
		return (*to < 0) == r->negative;
	}
	return token == GT_JSON_INT && !gt_json_scale(r->j->text, r->j->len, 0, to);
}

/* Is it a number in JSON's form? */
static bool is_number_text(const char *s, size_t len)
{
	size_t digits = 0, i = len && *s == '-';
	bool real = false;

	for (; i < len; i++)
		if (s[i] >= '0' && s[i] <= '9')
			digits++;
		else if (s[i] != '.' || real || !digits)
			return false;
		else
			real = true;
	return digits && len < 64 && s[len - 1] != '.';
}

/* Reads microseconds with decimals, exactly. Some writers put them in quotes. */
static bool read_time(const struct reading *r, int token, int64_t *to)
{
	return (is_number(token) ||
		       (token == GT_JSON_STRING && is_number_text(r->j->text, r->j->len))) &&
		!gt_json_scale(r->j->text, r->j->len, 3, to) &&
		*to<GT_TIME_MAX && * to> - GT_TIME_MAX;
}

/* Is it an integer in JSON's form: "-12", and neither "012" nor "1.5"? */
static bool is_integer(const char *text, size_t len)
{
	size_t first = len && *text == '-', i = first;

	while (i < len && text[i] >= '0' && text[i] <= '9')
		i++;
	return i == len && i > first && (text[first] != '0' || len == 1);
}

/* PyTorch 1.8 and 1.9 put the numbers of threads in quotes. */
static bool read_id(const struct reading *r, int token, struct gt_kineto_id *id)
{
	if (token != GT_JSON_STRING)
		return read_i64(r, token, &id->number);
	if (is_integer(r->j->text, r->j->len) && read_i64(r, GT_JSON_INT, &id->number))
		return true;
	id->word = string(r);
	return true;
}

/* ---- keys ---- */

enum value { ANY, U32, U64, I64 };

/* token: the first one of the value */
typedef void key_fn(struct reading *r, const struct key *key, int token);
struct key {
	const char *word;
	uint8_t len;
	key_fn *read;
	/* read_number: the kind of the number and its member of the event; ANY: the key is enough
	 */
	uint8_t value;
	uint16_t member;
	uint16_t has;   /* enum gt_kineto_has that it sets */
	uint32_t known; /* enum gt_gpu_unknown that it clears */
};

static void read_number(struct reading *r, const struct key *key, int token)
{
	void *to = (char *)r->ev + key->member;

	if (key->value == U64               ? !read_u64(r, token, to)
			: key->value == U32 ? !read_u32(r, token, to)
					    : key->value == I64 && !read_i64(r, token, to))
		return;
	r->ev->has |= key->has;
	r->ev->gpu.unknown &= ~key->known;
}

/* ---- keys of an event; `token` is the first token of the value ---- */

static const struct {
	const char *word;
	uint8_t cat;
} cats[] = {
	{ "cpu_op", GT_KINETO_RANGE },
	{ "python_function", GT_KINETO_RANGE },
	{ "kernel", GT_KINETO_KERNEL },
	{ "cuda_runtime", GT_KINETO_RUNTIME },
	{ "ac2g", GT_KINETO_FLOW },
	{ "fwdbwd", GT_KINETO_FORWARD_FLOW },
	{ "user_annotation", GT_KINETO_RANGE },
	{ "gpu_memcpy", GT_KINETO_COPY },
	{ "gpu_memset", GT_KINETO_SET },
	{ "cuda_driver", GT_KINETO_DRIVER },
	{ "cuda_sync", GT_KINETO_WAIT },
	{ "gpu_user_annotation", GT_KINETO_GPU_RANGE },
	{ "overhead", GT_KINETO_OVERHEAD },
	{ "Trace", GT_KINETO_SESSION },
	{ "flow", GT_KINETO_FLOW },
	{ "cpu_instant_event", GT_KINETO_RANGE },
	{ "cuda_profiler_range", GT_KINETO_METRICS },
	{ "user", GT_KINETO_RANGE }, /* of gtexport */
	/* of wprof */
	{ "CUDA_KERNEL", GT_KINETO_KERNEL },
	{ "CUDA_MEMCPY", GT_KINETO_COPY },
	{ "CUDA_MEMSET", GT_KINETO_SET },
	{ "CUDA_SYNC", GT_KINETO_WAIT },
	{ "CUDA_API", GT_KINETO_RUNTIME },
	/* words before 2022 */
	{ "Kernel", GT_KINETO_KERNEL },
	{ "Memcpy", GT_KINETO_COPY },
	{ "Memset", GT_KINETO_SET },
	{ "Runtime", GT_KINETO_RUNTIME },
	{ "Operator", GT_KINETO_RANGE },
	{ "async_gpu", GT_KINETO_OTHER_FLOW },
	{ "async_cpu_to_gpu", GT_KINETO_FLOW },
};

static void on_cat(struct reading *r, const struct key *key, int token)
{
	if (token != GT_JSON_STRING)
		return;
	r->ev->cat = GT_KINETO_OTHER;
	for (size_t i = 0; i < sizeof(cats) / sizeof(*cats); i++)
		if (gt_json_is(r->j, cats[i].word)) {
			r->ev->cat = cats[i].cat;
			break;
		}
	if (r->ev->cat == GT_KINETO_RANGE || r->ev->cat == GT_KINETO_OTHER ||
		r->ev->cat == GT_KINETO_METRICS)
		r->ev->cat_name = string(r);
}

static void on_ph(struct reading *r, const struct key *key, int token)
{
	if (token == GT_JSON_STRING && r->j->len == 1 && (unsigned char)r->j->text[0] < 0x80)
		r->ev->phase = r->j->text[0];
}

static void on_name(struct reading *r, const struct key *key, int token)
{
	if (token == GT_JSON_STRING &&
		!(r->ev->cat >= GT_KINETO_FLOW && r->ev->cat <= GT_KINETO_OTHER_FLOW))
		r->ev->name = string(r);
}

static void on_ts(struct reading *r, const struct key *key, int token)
{
	r->ev->has |= read_time(r, token, &r->ev->ts) ? GT_KINETO_TS : GT_KINETO_BAD_TIME;
}
static void on_dur(struct reading *r, const struct key *key, int token)
{
	r->ev->has |= read_time(r, token, &r->ev->dur) ? GT_KINETO_DUR : GT_KINETO_BAD_TIME;
}
static void on_pid(struct reading *r, const struct key *key, int token)
{
	read_id(r, token, &r->ev->pid);
}
static void on_tid(struct reading *r, const struct key *key, int token)
{
	r->ev->has |= read_id(r, token, &r->ev->tid) ? GT_KINETO_TID : 0;
}

/* An id: a number, or a hash of its text. */
static bool read_any_id(const struct reading *r, int token, uint64_t *to)
{
	if (token != GT_JSON_STRING)
		return read_u64(r, token, to);
	*to = gt_hash(r->j->text, r->j->len);
	return true;
}

static void on_id(struct reading *r, const struct key *key, int token)
{
	if (!read_any_id(r, token, &r->ev->id))
		return;
	r->ev->has |= GT_KINETO_ID;
	if (r->ev->phase == 'C')
		r->ev->label = string(r); /* counters with other ids are others */
}

static void on_scope(struct reading *r, const struct key *key, int token)
{
	read_any_id(r, token, &r->ev->scope);
}

static void on_bind(struct reading *r, const struct key *key, int token)
{
	r->ev->has |= read_any_id(r, token, &r->ev->bind) ? GT_KINETO_BIND : 0;
}

static void on_flow(struct reading *r, const struct key *key, int token)
{
	if (token == GT_JSON_TRUE)
		r->ev->has |= key->len == 7 ? GT_KINETO_BIND_IN : GT_KINETO_BIND_OUT;
}

/* {"local": ID} or {"global": ID}; the scanner is behind the bracket. */
static int read_id2(struct reading *r, struct gt_err *err)
{
	bool local;
	int t;

	while ((t = gt_json_next(r->j, err)) != GT_JSON_OBJECT_END) {
		if (t < 0)
			return t;
		local = gt_json_is(r->j, "local");
		t = gt_json_next(r->j, err);
		if (t > 0 && read_any_id(r, t, &r->ev->id))
			r->ev->has |= GT_KINETO_ID | (local ? GT_KINETO_LOCAL_ID : 0);
		if (t < 0 || (t = gt_json_skip(r->j, err)))
			return t;
	}
	return 0;
}

static void on_stack(struct reading *r, const struct key *key, int token)
{
	if (token == GT_JSON_STRING || token == GT_JSON_INT)
		r->ev->stack = gt_kineto_stack(r->k, gt_kineto_frame_id(r->j, token));
}

/* ---- arguments ---- */

/* Notes that a field of GPU work is not missing. */
static void note_known(struct reading *r, bool read, enum gt_gpu_unknown bit)
{
	r->ev->gpu.unknown &= read ? ~(unsigned)bit : ~0u;
}

static void on_correlation(struct reading *r, const struct key *key, int t)
{
	if (!read_u64(r, t, &r->ev->gpu.correlation) || !r->ev->gpu.correlation)
		return;
	r->ev->has |= GT_KINETO_CORRELATION;
	note_known(r, true, GT_GPU_NO_CORRELATION);
}

static void on_ret(struct reading *r, const struct key *key, int t)
{
	int64_t v;

	if (read_i64(r, t, &v) && v == (int32_t)v)
		r->ev->ret = (int32_t)v;
}

static void on_launch_join(struct reading *r, const struct key *key, int t)
{
	r->ev->has |= t == GT_JSON_STRING && gt_json_is(r->j, "inferred") ? GT_KINETO_INFERRED : 0;
}

static void on_label(struct reading *r, const struct key *key, int t)
{
	if (t == GT_JSON_STRING)
		r->ev->label = string(r);
}

/* Reads "0x1f", as gtexport writes it, or a number. */
static void on_value(struct reading *r, const struct key *key, int t)
{
	if (t == GT_JSON_STRING && r->j->len > 2 && r->j->len < 19 && r->j->text[0] == '0' &&
		r->j->text[1] == 'x')
		r->ev->gpu.value = strtoull(r->j->text, NULL, 16); /* stops at the quote */
	else if (!read_u64(r, t, &r->ev->gpu.value))
		return;
	note_known(r, true, GT_GPU_NO_VALUE);
}

/* Reads an array of three numbers; the scanner is behind its opening bracket. */
static int read_three(
	struct reading *r, uint32_t to[3], enum gt_gpu_unknown bit, struct gt_err *err)
{
	uint32_t v[3] = { 0 }, scrap;
	unsigned n = 0;
	int t;

	while ((t = gt_json_next(r->j, err)) != GT_JSON_ARRAY_END) {
		if (t < 0)
			return t;
		if (!read_u32(r, t, n < 3 ? &v[n] : &scrap))
			n = 3;
		n++;
		if ((t == GT_JSON_OBJECT || t == GT_JSON_ARRAY) && (t = gt_json_skip(r->j, err)))
			return t;
	}
	if (n == 3)
		memcpy(to, v, sizeof(v));
	note_known(r, n == 3, bit);
	return 0;
}

#define KEY(word, read)                                                                            \
	{                                                                                          \
		word, sizeof(word) - 1, read, ANY, 0, 0, 0                                         \
	}
#define NUMBER(word, kind, name, has, known)                                                       \
	{                                                                                          \
		word, sizeof(word) - 1, read_number, kind, offsetof(struct gt_kineto_event, name), \
			has, known                                                                 \
	}
static const struct key keys[] = {
	KEY("ph", on_ph),
	KEY("cat", on_cat),
	KEY("name", on_name),
	KEY("pid", on_pid),
	KEY("tid", on_tid),
	KEY("ts", on_ts),
	KEY("dur", on_dur),
	KEY("id", on_id),
	KEY("scope", on_scope),
	KEY("bind_id", on_bind),
	KEY("flow_in", on_flow),
	KEY("flow_out", on_flow),
	KEY("sf", on_stack),
};
static const struct key gpu_args[] = {
	NUMBER("device", I64, gpu.device, GT_KINETO_DEVICE, 0),
	NUMBER("context", U32, gpu.context, 0, GT_GPU_NO_CONTEXT),
	NUMBER("stream", I64, gpu.stream, GT_KINETO_STREAM, 0),
	KEY("correlation", on_correlation),
	NUMBER("bytes", U64, gpu.bytes, 0, GT_GPU_NO_BYTES),
	NUMBER("registers per thread", U32, gpu.registers, 0, GT_GPU_NO_REGISTERS),
	NUMBER("shared memory", U32, gpu.shared, 0, GT_GPU_NO_SHARED),
	NUMBER("graph id", U64, gpu.graph, 0, 0),
	NUMBER("graph node id", U64, gpu.node, 0, 0),
	NUMBER("fromDevice", U32, gpu.from_device, GT_KINETO_PEERS, 0),
	NUMBER("toDevice", U32, gpu.to_device, GT_KINETO_PEERS, 0),
	NUMBER("inDevice", U32, gpu.from_device, GT_KINETO_PEERS, 0),
	NUMBER("outDevice", U32, gpu.to_device, GT_KINETO_PEERS, 0),
	NUMBER("src_device", U32, gpu.from_device, GT_KINETO_PEERS, 0),
	NUMBER("dst_device", U32, gpu.to_device, GT_KINETO_PEERS, 0),
	NUMBER("wait_on_cuda_event_id", U64, gpu.event, GT_KINETO_EVENT, 0),
	KEY("value", on_value),
	NUMBER("launch_ns", ANY, has, GT_KINETO_ARROW, 0),
	KEY("launch_join", on_launch_join),
	/* of wprof */
	NUMBER("device_id", I64, gpu.device, GT_KINETO_DEVICE, 0),
	NUMBER("context_id", U32, gpu.context, 0, GT_GPU_NO_CONTEXT),
	NUMBER("stream_id", I64, gpu.stream, GT_KINETO_STREAM, 0),
	NUMBER("byte_cnt", U64, gpu.bytes, 0, GT_GPU_NO_BYTES),
	NUMBER("event_id", U64, gpu.event, GT_KINETO_EVENT, 0),
	NUMBER("grid_x", U32, gpu.grid[0], 0, GT_GPU_NO_GRID),
	NUMBER("grid_y", U32, gpu.grid[1], 0, 0),
	NUMBER("grid_z", U32, gpu.grid[2], 0, 0),
	NUMBER("block_x", U32, gpu.block[0], 0, GT_GPU_NO_BLOCK),
	NUMBER("block_y", U32, gpu.block[1], 0, 0),
	NUMBER("block_z", U32, gpu.block[2], 0, 0),
};
/* In a file of gtexport: the slice is on a lane beside its thread, or overhead of a thread is on
 * that of its process. */
static void on_thread(struct reading *r, const struct key *key, int t)
{
	if (read_i64(r, t, &r->ev->thread))
		r->ev->has |= GT_KINETO_THREAD;
}

static void on_layer(struct reading *r, const struct key *key, int t)
{
	r->ev->has |= t == GT_JSON_STRING && gt_json_is(r->j, "runtime") ? GT_KINETO_OF_RUNTIME : 0;
}

static const struct key call_args[] = {
	NUMBER("cbid", ANY, has, GT_KINETO_CBID, 0),
	KEY("correlation", on_correlation),
	KEY("ret", on_ret),
	KEY("layer", on_layer),
	KEY("thread", on_thread),
};
/* The thread of the forward pass: PyTorch's own number of it. */
static void on_forward_thread(struct reading *r, const struct key *key, int t)
{
	if (read_u64(r, t, &r->ev->forward_thread) && r->ev->forward_thread)
		r->k->has_backward = true;
}

/* AccumulateGrad has the largest number, for none. */
static void on_sequence(struct reading *r, const struct key *key, int t)
{
	uint64_t v;

	if (!read_u64(r, t, &v) || v >= (uint64_t)1 << 62)
		return;
	r->ev->sequence = v + 1;
	r->k->has_sequences = true;
}

static const struct key range_args[] = {
	KEY("Sequence number", on_sequence),
	KEY("Fwd thread id", on_forward_thread),
	KEY("thread", on_thread),
};
static const struct key meta_args[] = { KEY("name", on_label), KEY("labels", on_label) };

static void on_unmatched(struct reading *r, const struct key *key, int t)
{
	r->ev->has |= GT_KINETO_UNMATCHED;
	r->ev->ret = t == GT_JSON_STRING && gt_json_is(r->j, GT_UNMATCHED_END);
}

/* Losses of a file of gtexport: in Chrome JSON the end, in Perfetto's format the duration. */
static void on_until(struct reading *r, const struct key *key, int t)
{
	int64_t until;

	if (!read_time(r, t, &until))
		return;
	r->ev->dur = until - r->ev->ts;
	r->ev->has |= GT_KINETO_LOSS;
}
static void on_lost_ns(struct reading *r, const struct key *key, int t)
{
	int64_t ns;

	if (!read_i64(r, t, &ns) || ns < 0 || ns >= GT_TIME_MAX)
		return;
	r->ev->dur = ns;
	r->ev->has |= GT_KINETO_LOSS;
}

/* Of instants. Of an allocator: `stream` gets the type of device, `value` the address. */
static const struct key instant_args[] = {
	NUMBER("Bytes", I64, change, GT_KINETO_CHANGE, 0),
	KEY("Addr", on_value),
	NUMBER("Device Id", I64, gpu.device, GT_KINETO_DEVICE, 0),
	NUMBER("Device Type", I64, gpu.stream, GT_KINETO_STREAM, 0),
	KEY("unmatched", on_unmatched),
	NUMBER("period", U64, period, 0, 0),
	KEY("until_us", on_until),
	KEY("lost_ns", on_lost_ns),
	NUMBER("count", U64, lost, 0, 0),
};

static const struct key *find(const struct key *in, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (in[i].len == len && in[i].word[0] == word[0] && !memcmp(in[i].word, word, len))
			return &in[i];
	return NULL;
}
#define FIND(in, word, len) find(in, sizeof(in) / sizeof(*(in)), word, len)

static bool is_range(const struct gt_kineto_event *ev)
{
	return ev->cat == GT_KINETO_RANGE && ev->cat_name != GT_NONE && ev->phase == 'X';
}

static const struct key *find_arg(const struct gt_kineto_event *ev, const char *word, size_t len)
{
	if (ev->phase == 'M')
		return FIND(meta_args, word, len);
	if (ev->phase == 'i' || ev->phase == 'I')
		return FIND(instant_args, word, len);
	if (ev->cat >= GT_KINETO_KERNEL && ev->cat <= GT_KINETO_WAIT)
		return FIND(gpu_args, word, len);
	if (is_range(ev))
		return FIND(range_args, word, len);
	return FIND(call_args, word, len);
}

/* ---- extra arguments ---- */

const struct gt_kineto_extra_key gt_kineto_extra_keys[GT_KINETO_NEXTRA] = {
#define X(word, text) { word, sizeof(word) - 1, text },
	GT_KINETO_EXTRA(X)
#undef X
};

/* The number of this key, or GT_KINETO_NEXTRA. */
static unsigned extra_key(const char *word, size_t len)
{
	/* the first letters of the keys */
	static const char first[128] = { ['C'] = 1,
		['G'] = 1,
		['I'] = 1,
		['O'] = 1,
		['P'] = 1,
		['c'] = 1,
		['d'] = 1,
		['m'] = 1 };
	unsigned i = 0;

	if (!len || !first[word[0] & 127])
		return GT_KINETO_NEXTRA;
	while (i < GT_KINETO_NEXTRA &&
		(gt_kineto_extra_keys[i].len != len ||
			memcmp(gt_kineto_extra_keys[i].word, word, len) != 0))
		i++;
	return i;
}

static void add_extra_arg(struct reading *r, unsigned key, uint64_t value)
{
	struct gt_kineto_event *ev = r->ev;
	unsigned at = (unsigned)__builtin_popcount(ev->extra & ((1u << key) - 1));

	if (ev->extra >> key & 1)
		return; /* the first one counts */
	memmove(ev->extra_values + at + 1, ev->extra_values + at,
		(ev->nextra - at) * sizeof(*ev->extra_values));
	ev->extra_values[at] = value;
	ev->nextra++;
	ev->extra |= 1u << key;
}

/* Adds a text. Extra arguments may use half of the memory for names. */
static void add_extra_text(struct reading *r, unsigned key, const char *text, size_t len)
{
	if (len > GT_KINETO_EXTRA_TEXT || r->k->name_bytes > GT_KINETO_TEXT / 2)
		r->k->counts.args_left_out++;
	else
		add_extra_arg(r, key, intern(r->k, text, len, GT_KINETO_TEXT));
}

static void add_extra_value(struct reading *r, unsigned key, int token)
{
	uint64_t value;

	if (gt_kineto_extra_keys[key].text && (token == GT_JSON_STRING || is_number(token)))
		add_extra_text(r, key, r->j->text, r->j->len);
	else if (!gt_kineto_extra_keys[key].text && read_u64(r, token, &value))
		add_extra_arg(r, key, value);
}

/* Adds a list as its text without white space; the scanner is behind its bracket. */
static int add_extra_list(struct reading *r, unsigned key, struct gt_err *err)
{
	unsigned top = r->j->depth;
	char text[GT_KINETO_EXTRA_TEXT + 1] = "[";
	size_t len = 1;
	bool comma = false;

	while (r->j->depth >= top) {
		int t = gt_json_next(r->j, err);
		bool scalar = t == GT_JSON_STRING || is_number(t), quoted = t == GT_JSON_STRING,
		     opens = t == GT_JSON_ARRAY;
		size_t need = (scalar ? r->j->len + 2 * quoted : 1) + comma;

		if (t < 0)
			return t;
		if (len + need > GT_KINETO_EXTRA_TEXT ||
			!(scalar || opens || t == GT_JSON_ARRAY_END)) {
			/* too long, or no nested list of words and numbers */
			len = GT_KINETO_EXTRA_TEXT + 1;
			continue;
		}
		if (comma && t != GT_JSON_ARRAY_END)
			text[len++] = ',';
		if (quoted)
			text[len++] = '"';
		if (scalar)
			memcpy(text + len, r->j->text, r->j->len);
		len += scalar ? r->j->len : 0;
		if (!scalar || quoted)
			text[len++] = quoted ? '"' : opens ? '[' : ']';
		comma = !opens;
	}
	add_extra_text(r, key, text, len);
	return 0;
}

/* Adds a value of a counter; its series may have any name. */
static void counter_value(struct reading *r, uint32_t name, int token)
{
	struct gt_kineto_event *ev = r->ev;

	if (!is_number(token))
		return;
	if (ev->nvalues == GT_KINETO_VALUES) {
		r->k->counts.args_left_out++;
		return;
	}
	ev->values[ev->nvalues].name = name;
	ev->values[ev->nvalues++].value = gt_json_double(r->j);
}

/* The slow path: the key was just read, and a value of any kind follows. */
static int read_arg_slowly(struct reading *r, struct gt_err *err)
{
	struct gt_kineto_event *ev = r->ev;
	bool counter = ev->phase == 'C' || ev->cat == GT_KINETO_METRICS,
	     gpu = ev->cat == GT_KINETO_KERNEL;
	uint32_t name = counter ? string(r) : GT_NONE;
	uint32_t *three = gpu && gt_json_is(r->j, "grid") ? ev->gpu.grid
		: gpu && gt_json_is(r->j, "block")        ? ev->gpu.block
							  : NULL;
	const struct key *key = three || counter ? NULL : find_arg(ev, r->j->text, r->j->len);
	unsigned extra =
		three || counter || key ? GT_KINETO_NEXTRA : extra_key(r->j->text, r->j->len);
	int t = gt_json_next(r->j, err);

	if (extra < GT_KINETO_NEXTRA && t == GT_JSON_ARRAY)
		return add_extra_list(r, extra, err);
	if (extra < GT_KINETO_NEXTRA && t > 0)
		add_extra_value(r, extra, t);
	if (t == GT_JSON_ARRAY && three)
		return read_three(
			r, three, three == ev->gpu.grid ? GT_GPU_NO_GRID : GT_GPU_NO_BLOCK, err);
	if (t >= 0 && counter)
		counter_value(r, name, t);
	if (t >= 0 && key)
		key->read(r, key, t);
	return t < 0 ? t : gt_json_skip(r->j, err);
}

/* Reads the arguments; the scanner is behind the bracket. */
static int read_args(struct reading *r, struct gt_err *err)
{
	const struct key *key;
	const char *word;
	unsigned extra;
	size_t len;
	int t, e = 0;

	while (!e) {
		t = r->ev->phase == 'C' || r->ev->cat == GT_KINETO_METRICS
			? 0
			: gt_json_pair(r->j, &word, &len);
		key = t ? find_arg(r->ev, word, len) : NULL;
		if (key)
			key->read(r, key, t);
		else if (t && (extra = extra_key(word, len)) < GT_KINETO_NEXTRA)
			add_extra_value(r, extra, t);
		if (t)
			continue;
		t = gt_json_next(r->j, err);
		if (t == GT_JSON_OBJECT_END)
			break;
		e = t < 0 ? t : read_arg_slowly(r, err);
	}
	return e;
}

/* What arguments mean depends on the phase and the category. Arguments that come before them are
 * stored, and read at the end of the event. */
static int store_args(struct reading *r, struct gt_err *err)
{
	struct gt_out *o = &r->k->args;
	int more;

	o->len = 0;
	more = gt_json_copy(r->j, GT_JSON_OBJECT, o, ARGS_MAX, NULL, NULL, err);
	if (more <= 0)
		return more;
	o->len = 0;
	r->k->counts.args_left_out++;
	return 0;
}

static int read_stored_args(struct reading *r, struct gt_err *err)
{
	struct gt_out *o = &r->k->args;
	struct gt_in *in = gt_in_memory(o->data, o->len, err);
	struct reading stored = *r;
	struct gt_json j;
	int e = in ? gt_json_init(&j, in, false, err) : err->code;

	if (!e) {
		j.controls = true;
		stored.j = &j;
		e = gt_json_next(&j, err);
		e = e == GT_JSON_OBJECT ? read_args(&stored, err) : e;
		gt_json_release(&j);
	}
	gt_in_close(in);
	o->len = 0;
	return e;
}

/* ---- an event ---- */

/* The slow path: the key was just read. */
static int read_slowly(struct reading *r, struct gt_err *err)
{
	const struct key *key = FIND(keys, r->j->text, r->j->len);
	bool args = !key && gt_json_is(r->j, "args"), id2 = !key && gt_json_is(r->j, "id2");
	int t = gt_json_next(r->j, err);

	if (t >= 0 && key)
		key->read(r, key, t);
	if (t == GT_JSON_OBJECT && id2)
		return read_id2(r, err);
	if (t == GT_JSON_OBJECT && args)
		return r->ev->phase ? read_args(r, err) : store_args(r, err);
	return t < 0 ? t : gt_json_skip(r->j, err);
}

int gt_kineto_event(
	struct gt_kineto *k, struct gt_json *j, struct gt_kineto_event *ev, struct gt_err *err)
{
	struct reading r = { .k = k, .j = j, .ev = ev };
	const struct key *key;
	const char *word;
	size_t len;
	int t, e = 0;

	gt_kineto_event_init(ev);
	k->args.len = 0;
	while (!e) {
		t = gt_json_pair(j, &word, &len);
		key = t ? FIND(keys, word, len) : NULL;
		if (key)
			key->read(&r, key, t);
		if (t)
			continue;
		t = gt_json_next(j, err);
		if (t == GT_JSON_OBJECT_END)
			break;
		e = t < 0 ? t : read_slowly(&r, err);
	}
	return !e && k->args.len ? read_stored_args(&r, err) : e;
}

/* ---- events of other formats ---- */

void gt_kineto_event_init(struct gt_kineto_event *ev)
{
	gt_clear(ev, offsetof(struct gt_kineto_event, values));
	ev->gpu.unknown = GT_GPU_UNKNOWN;
	ev->name = ev->cat_name = ev->label = ev->pid.word = ev->tid.word = GT_NONE;
}

void gt_kineto_event_category(
	struct gt_kineto *k, struct gt_kineto_event *ev, const char *word, size_t len)
{
	struct gt_json j = { .text = word, .len = len };
	struct reading r = { .k = k, .j = &j, .ev = ev };

	on_cat(&r, NULL, GT_JSON_STRING);
}

uint32_t gt_kineto_intern(
	struct gt_kineto *k, const struct gt_kineto_event *ev, const char *s, size_t len)
{
	return intern(
		k, s, len, ev->cat == GT_KINETO_RANGE ? GT_KINETO_TEXT : GT_KINETO_TEXT / 3 * 4);
}

void gt_kineto_event_arg(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_json *scratch,
	const char *key, size_t key_len, int token, const char *text, size_t len)
{
	struct reading r = { .k = k, .j = scratch, .ev = ev };
	const struct key *known = find_arg(ev, key, key_len);
	unsigned extra = known ? GT_KINETO_NEXTRA : extra_key(key, key_len);

	scratch->text = text;
	scratch->len = len;
	if (known)
		known->read(&r, known, token);
	else if (extra < GT_KINETO_NEXTRA)
		add_extra_value(&r, extra, token);
}

void gt_kineto_event_number(struct gt_kineto *k, struct gt_kineto_event *ev,
	struct gt_json *scratch, const char *key, size_t key_len, uint64_t value, bool negative)
{
	struct reading r = {
		.k = k, .j = scratch, .ev = ev, .number = &value, .negative = negative
	};
	const struct key *known = find_arg(ev, key, key_len);
	unsigned extra = known ? GT_KINETO_NEXTRA : extra_key(key, key_len);
	char text[24], *end;

	if (known) {
		known->read(&r, known, GT_JSON_INT);
	} else if (extra < GT_KINETO_NEXTRA && gt_kineto_extra_keys[extra].text) {
		end = negative ? gt_put_i64(text, (int64_t)value) : gt_put_u64(text, value);
		add_extra_text(&r, extra, text, (size_t)(end - text));
	} else if (extra < GT_KINETO_NEXTRA && !negative) {
		add_extra_arg(&r, extra, value);
	}
}

void gt_kineto_event_three(struct gt_kineto_event *ev, bool block, const uint32_t v[3])
{
	memcpy(block ? ev->gpu.block : ev->gpu.grid, v, 3 * sizeof(*v));
	ev->gpu.unknown &= ~(unsigned)(block ? GT_GPU_NO_BLOCK : GT_GPU_NO_GRID);
}
