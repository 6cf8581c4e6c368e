/* Names, and what the tables say of the recording as a whole. */
#include "formats/import/nsight/import_nsight_internal.h"

#include <stdlib.h>
#include <string.h>

#define STRINGS_MAX (192u << 20) /* bytes of all different names */
#define STRING_IDS_MAX (16u << 20)
#define GPUS_MAX 256u
#define MEMBERS_MAX (256u << 10) /* bytes of metadata */
#define MESSAGES_MAX 16u         /* of Nsight's diagnostics */
#define MESSAGE_BYTES 300u

uint32_t gt_nsight_text(struct gt_nsight *n, const char *text, size_t len)
{
	uint32_t string = gt_writer_string_n(n->w, text, len);

	if (string == GT_NONE) {
		gt_nsight_no_memory(n);
		return GT_NONE;
	}
	/* the writer numbers strings in order, and a repeated one needs no memory */
	if (string >= n->known_strings) {
		n->known_strings = string + 1;
		n->text_bytes += len < GT_STRING_MAX ? len : GT_STRING_MAX;
	}
	if (n->text_bytes > STRINGS_MAX) {
		gt_err_set(n->err, -E2BIG, "names need more than %u MiB", STRINGS_MAX >> 20);
		return GT_NONE;
	}
	return string;
}

/* ---- StringIds ---- */

int gt_nsight_see_string(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_nsight_string one;
	const char *text = (const char *)sqlite3_value_text(s[1]);

	memset(&one, 0, sizeof(one));
	one.id = sqlite3_value_int64(s[0]);
	one.function = GT_NONE;
	if (!text ||
		gt_map_find_item(&n->string_map, n->strings, sizeof(one), &one, sizeof(one.id)) !=
			GT_NONE)
		return 0;
	if (n->nstrings == STRING_IDS_MAX)
		return gt_err_set(
			n->err, -E2BIG, "StringIds has more than %u names", STRING_IDS_MAX);
	one.string = gt_nsight_text(n, text, (size_t)sqlite3_value_bytes(s[1]));
	if (one.string == GT_NONE)
		return n->err->code;
	return gt_map_add_item(&n->string_map, &n->strings, &n->nstrings, &n->strings_cap,
		       sizeof(one), &one, sizeof(one.id)) == GT_NONE
		? gt_nsight_no_memory(n)
		: 0;
}

/* The entry with the id in this column, or NULL. */
static struct gt_nsight_string *entry_at(const struct gt_nsight *n, sqlite3_value **s, int c)
{
	int64_t id = sqlite3_value_int64(s[c]);
	uint32_t i;

	if (!id && !gt_nsight_is_number(s, c))
		return NULL;
	/* usually ids are 0, 1, 2 ... in this order */
	if (id >= 0 && (uint64_t)id < n->nstrings && n->strings[id].id == id)
		return &n->strings[id];
	i = gt_map_find_item(&n->string_map, n->strings, sizeof(*n->strings), &id, sizeof(id));
	return i == GT_NONE ? NULL : &n->strings[i];
}

uint32_t gt_nsight_string_or_none(struct gt_nsight *n, sqlite3_value **s, int c)
{
	const struct gt_nsight_string *e = entry_at(n, s, c);

	return e ? e->string : GT_NONE;
}

uint32_t gt_nsight_string(struct gt_nsight *n, sqlite3_value **s, int c)
{
	const struct gt_nsight_string *e = entry_at(n, s, c);

	return e ? e->string : gt_nsight_text(n, "?", 1);
}

/* The name of a function without the version that Nsight adds: cudaMalloc_v3020. */
static uint32_t without_version(struct gt_nsight *n, uint32_t string)
{
	const char *text = gt_writer_string_text(n->w, string), *last = strrchr(text, '_');
	char plain[200];
	size_t len = last ? (size_t)(last - text) : sizeof(plain);

	if (len >= sizeof(plain) || last[1] != 'v' || strlen(last) < 6 ||
		strspn(last + 2, "0123456789") != strlen(last + 2))
		return string;
	memcpy(plain, text, len); /* the writer may move its text */
	return gt_nsight_text(n, plain, len);
}

uint32_t gt_nsight_function(struct gt_nsight *n, sqlite3_value **s, int c)
{
	struct gt_nsight_string *e = entry_at(n, s, c);

	if (!e)
		return gt_nsight_text(n, "?", 1);
	if (e->function == GT_NONE)
		e->function = without_version(n, e->string);
	return e->function;
}

uint8_t gt_nsight_word(struct gt_nsight *n, sqlite3_value **s, int c, const char *(*word)(unsigned),
	uint8_t otherwise)
{
	const struct gt_nsight_string *e = entry_at(n, s, c);
	int number = e ? gt_word_find(word, gt_writer_string_text(n->w, e->string)) : -1;

	return number >= 0 && number < UINT8_MAX ? (uint8_t)number : otherwise;
}

/* ---- processes and threads ---- */

static int name_track(struct gt_nsight *n, uint32_t track, uint32_t name)
{
	return track == GT_NONE || name == GT_NONE
		? n->err->code
		: gt_writer_track_name(n->w, track, name, n->err);
}

int gt_nsight_see_process(struct gt_nsight *n, sqlite3_value **s)
{
	const char *name = (const char *)sqlite3_value_text(s[1]);

	if (!gt_nsight_has(s, 0) || !name)
		return 0;
	return name_track(n, gt_nsight_process(n, sqlite3_value_int64(s[0])),
		gt_nsight_text(n, name, (size_t)sqlite3_value_bytes(s[1])));
}

int gt_nsight_see_thread(struct gt_nsight *n, sqlite3_value **s)
{
	return gt_nsight_has(s, 0) ? name_track(n, gt_nsight_thread(n, sqlite3_value_int64(s[0])),
					     gt_nsight_string(n, s, 1))
				   : 0;
}

/* ---- the recording ---- */

int gt_nsight_see_session(struct gt_nsight *n, sqlite3_value **s)
{
	struct gt_anchor a = { .realtime = sqlite3_value_int64(s[0]) };

	return a.realtime <= 0 || a.realtime >= GT_TIME_MAX ? 0
							    : gt_writer_anchor(n->w, &a, n->err);
}

static void put_gpu_text(struct gt_nsight *n, sqlite3_value **s, int c, const char *key)
{
	const char *text = (const char *)sqlite3_value_text(s[c]);
	size_t len = text ? strlen(text) : 0;

	if (!text)
		return;
	gt_out_printf(&n->gpus, ",\"%s\":", key);
	gt_out_json(&n->gpus, text, len < 256 ? len : 256);
}

/* Columns: id, name, busLocation, uuid. Reports have the limits of a GPU by its name. */
int gt_nsight_see_gpu(struct gt_nsight *n, sqlite3_value **s)
{
	if (n->ngpus++ >= GPUS_MAX)
		return 0;
	gt_out_printf(&n->gpus, "%s{\"id\":%lld", n->ngpus > 1 ? "," : "",
		(long long)sqlite3_value_int64(s[0]));
	put_gpu_text(n, s, 1, "model");
	put_gpu_text(n, s, 2, "bus");
	put_gpu_text(n, s, 3, "uuid");
	gt_out_str(&n->gpus, "}");
	return 0;
}

/* Whole numbers, true and false become JSON's. */
static json_t *json_of(const char *text)
{
	size_t len = strlen(text), digits = strspn(text, "0123456789");

	if (!strcmp(text, "true") || !strcmp(text, "false"))
		return json_boolean(*text == 't');
	if (digits == len && len && len < 18 && (text[0] != '0' || len == 1))
		return json_integer(strtoll(text, NULL, 10));
	return gt_json_text(text, len < GT_STRING_MAX ? len : GT_STRING_MAX);
}

/* Columns: segment, name, value: what gtexport knows of the recording, with names as gpus.0.model.
 * They stay so: reports and exports name nested values in this way. */
int gt_nsight_see_metadata(struct gt_nsight *n, sqlite3_value **s)
{
	/* a zero ends a text: JSON has none */
	const char *name = (const char *)sqlite3_value_text(s[1]),
		   *value = (const char *)sqlite3_value_text(s[2]);
	json_t *key;
	int rc;

	if (!name || sqlite3_value_int64(s[0]) || n->recorded_bytes > MEMBERS_MAX)
		return 0;
	n->recorded_bytes += strlen(name) + (value ? strlen(value) : 0);
	n->has_gpus |= !strncmp(name, "gpus.", 5);
	if (!n->recorded)
		n->recorded = json_object();
	key = gt_json_text(name, strlen(name));
	rc = key && json_string_length(key)
		? json_object_set_new(
			  n->recorded, json_string_value(key), value ? json_of(value) : json_null())
		: 0;
	rc = rc || !key ? gt_nsight_no_memory(n) : 0;
	json_decref(key);
	return rc;
}

/* Columns: severity, text: what Nsight says of its recording, for example that events are
 * missing. */
int gt_nsight_see_message(struct gt_nsight *n, sqlite3_value **s)
{
	const char *text = (const char *)sqlite3_value_text(s[1]);
	size_t len = text ? strlen(text) : 0;
	int64_t severity = sqlite3_value_int64(s[0]);

	/* ENUM_DIAGNOSTIC_SEVERITY_LEVEL: 2 is a warning, 3 an error */
	if (!text || severity < 2 || severity > 3 || n->nmessages++ >= MESSAGES_MAX)
		return 0;
	gt_out_printf(&n->meta, ",\"nsight_message_%u\":", n->nmessages);
	gt_out_json(&n->meta, text, len < MESSAGE_BYTES ? len : MESSAGE_BYTES);
	return 0;
}
