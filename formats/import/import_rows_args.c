/* The arguments of the next row, and their schemas. A schema is the keys of the arguments and the
 * kinds of their values; each different one has a number. Values of JSON objects and arrays become
 * arguments named by their path. */
#include "formats/import/import_rows_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/cuda/gpu_rows.h"

/* of objects and arrays in the arguments; deeper ones are dropped */
#define LEVELS 4

/* The number of an argument's name; GT_NONE if the memory for arguments is used up. */
static uint32_t key_name(struct gt_import_rows *r, const char *text, size_t len)
{
	int64_t n = gt_rows_name(r, text, len, GROUP_OF_KEYS, NULL);

	return n < 0 ? GT_NONE : (uint32_t)n;
}

void gt_rows_no_args(struct gt_import_rows *r) { r->n = 0; }

/* Adds an argument; the last one of a name wins, as in JSON objects. */
static void add_arg(struct gt_import_rows *r, uint32_t key, uint8_t kind, uint64_t value)
{
	unsigned i = 0;

	while (i < r->n && r->args[i].name != key)
		i++;
	if (i == GT_FIELDS_MAX) {
		r->args_left_out++;
		return;
	}
	r->args[i] = (struct gt_import_arg){ key, kind };
	r->values[i] = value;
	r->n += i == r->n;
}

void gt_rows_value(struct gt_import_rows *r, const char *key, uint8_t kind, uint64_t value)
{
	uint32_t name = key_name(r, key, strlen(key));

	if (name == GT_NONE)
		r->args_left_out++;
	else
		add_arg(r, name, kind, value);
}

void gt_rows_number(struct gt_import_rows *r, const char *key, uint64_t value)
{
	gt_rows_value(r, key, GT_F_U64, value);
}

void gt_rows_launch(struct gt_import_rows *r, const struct gt_gpu_cause *launch, int64_t start)
{
	gt_rows_value(r, "launch_track", GT_F_U64, launch ? launch->track : GT_NONE);
	gt_rows_value(r, "launch_start", GT_F_I64, (uint64_t)(launch ? launch->start : start));
	gt_rows_value(r, "launch_ns", GT_F_U64, launch ? launch->ns : 0);
	gt_rows_value(r, "launch_name", GT_F_STR, launch ? launch->name : GT_NONE);
	gt_rows_value(r, "launch_join", GT_F_U64, launch ? launch->join : GT_JOIN_UNKNOWN);
}

void gt_rows_text(struct gt_import_rows *r, const char *key, const char *text, size_t len)
{
	uint32_t name = key_name(r, key, strlen(key));
	uint32_t value = name == GT_NONE ? GT_NONE : gt_rows_intern(r, text, len, ARGS_TEXT);

	if (value == GT_NONE)
		r->args_left_out++;
	else
		add_arg(r, name, GT_F_STR, value);
}

bool gt_rows_arg(const struct gt_import_rows *r, unsigned i, struct gt_rows_arg *arg)
{
	if (i >= r->n)
		return false;
	arg->key = (const char *)r->text.data + r->names[r->args[i].name].at;
	arg->kind = r->args[i].kind;
	arg->value = r->values[i];
	arg->text = arg->kind == GT_F_STR && arg->value < GT_NONE
		? gt_writer_text(r->w, (uint32_t)arg->value)
		: NULL;
	return true;
}

void gt_rows_set_arg(
	struct gt_import_rows *r, unsigned i, const char *key, uint32_t kind, uint64_t value)
{
	uint32_t name = i < GT_FIELDS_MAX ? key_name(r, key, strlen(key)) : GT_NONE;

	if (name == GT_NONE) {
		r->args_left_out++;
		return;
	}
	r->args[i] = (struct gt_import_arg){ name, kind };
	r->values[i] = value;
	r->n += i == r->n;
}

/* "0x" and up to 16 hex digits. */
static bool hex_value(const char *s, size_t len, uint64_t *value)
{
	uint64_t v = 0;

	if (len < 3 || len > 18 || s[0] != '0' || s[1] != 'x')
		return false;
	for (size_t i = 2; i < len; i++) {
		int c = s[i] | 0x20;

		if (!((c >= '0' && c <= '9' && s[i] == c) || (c >= 'a' && c <= 'f')))
			return false;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*value = v;
	return true;
}

static void add_scalar(
	struct gt_import_rows *r, const struct gt_json *j, int token, size_t path_len)
{
	uint32_t key = r->n < GT_FIELDS_MAX ? key_name(r, r->path, path_len) : GT_NONE;
	uint64_t v = 0;
	double d;
	bool negative = false;

	if (key == GT_NONE) {
		r->args_left_out++;
		return;
	}
	if (token == GT_JSON_TRUE || token == GT_JSON_FALSE) {
		add_arg(r, key, GT_F_BOOL, token == GT_JSON_TRUE);
	} else if (token == GT_JSON_STRING) {
		if (hex_value(j->text, j->len, &v)) {
			add_arg(r, key, GT_F_HEX, v);
			return;
		}
		v = gt_rows_intern(r, j->text, j->len, ARGS_TEXT);
		r->args_left_out += v == GT_NONE;
		add_arg(r, key, GT_F_STR, v);
	} else if (token == GT_JSON_INT && !gt_json_magnitude(j->text, j->len, 0, &negative, &v) &&
		(!negative || v <= (uint64_t)1 << 63)) {
		add_arg(r, key, negative && v ? GT_F_I64 : GT_F_U64, negative ? 0 - v : v);
	} else if (token == GT_JSON_INT || token == GT_JSON_REAL) {
		d = gt_json_double(j);
		memcpy(&v, &d, sizeof(v));
		add_arg(r, key, GT_F_F64, v);
	}
}

/* A call's return code under one of its usual names. */
static bool is_status(const struct gt_json *j)
{
	return gt_json_is(j, "status") || gt_json_is(j, "ret") || gt_json_is(j, "return");
}

static bool take_status(const struct gt_json *j, int token, int32_t *ret)
{
	int64_t v;

	if (token == GT_JSON_INT) {
		if (gt_json_scale(j->text, j->len, 0, &v))
			v = j->text[0] == '-' ? INT32_MIN : INT32_MAX;
		*ret = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
		return true;
	}
	if (token == GT_JSON_STRING && gt_json_is(j, "CUDA_SUCCESS"))
		*ret = 0;
	else if (token == GT_JSON_STRING)
		*ret = 999; /* CUDA_ERROR_UNKNOWN; its word becomes an argument */
	return false;
}

/* Appends ".KEY" (or KEY) to the path, cut at its limit. Returns the new length. */
static size_t extend_path(struct gt_import_rows *r, size_t len, const char *text, size_t n)
{
	if (len && len < PATH_MAX_LEN - 1)
		r->path[len++] = '.';
	n = n < PATH_MAX_LEN - 1 - len ? n : PATH_MAX_LEN - 1 - len;
	memcpy(r->path + len, text, n);
	return len + n;
}

int gt_rows_details(
	struct gt_import_rows *r, struct gt_json *j, bool array, int32_t *ret, struct gt_err *err)
{
	/* index: of the next array element, or -1 */
	struct {
		size_t path;
		int64_t index;
	} up[LEVELS + 1] = { { 0, array ? 0 : -1 } };
	size_t path = 0;
	unsigned level = 0;
	bool status = false;
	char digits[24];

	for (;;) {
		int t = gt_json_next(j, err), e;

		if (t < 0)
			return t;
		if (t == GT_JSON_OBJECT_END || t == GT_JSON_ARRAY_END) {
			if (!level--)
				return 0;
			continue;
		}
		if (t == GT_JSON_KEY) {
			path = extend_path(r, up[level].path, j->text, j->len);
			status = ret && !level && is_status(j);
			continue;
		}
		if (up[level].index >= 0)
			path = extend_path(r, up[level].path, digits,
				(size_t)snprintf(digits, sizeof(digits), "%lld",
					(long long)up[level].index++));
		if (t != GT_JSON_OBJECT && t != GT_JSON_ARRAY) {
			if (!status || !take_status(j, t, ret))
				add_scalar(r, j, t, path);
		} else if (level < LEVELS) {
			up[++level].path = path;
			up[level].index = t == GT_JSON_ARRAY ? 0 : -1;
		} else {
			r->args_left_out++;
			e = gt_json_skip(j, err);
			if (e)
				return e;
		}
	}
}

static bool same_schema(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_import_schema *s = &((const struct gt_import_rows *)arg)->schemas[value];

	return s->n * sizeof(*s->args) == len && !memcmp(s->args, key, len);
}

int64_t gt_rows_schema(struct gt_import_rows *r, struct gt_err *err)
{
	size_t len = r->n * sizeof(*r->args);
	uint64_t hash = gt_hash(r->args, len);
	uint32_t found = r->n ? gt_map_get(&r->schema_map, hash, same_schema, r, r->args, len) : 0;
	struct gt_import_arg *copy;

	if (found != UINT32_MAX)
		return found;
	if (r->nschemas >= GT_ROWS_TYPES || r->text_bytes > ARGS_TEXT) {
		r->args_left_out += r->n;
		r->n = 0;
		return 0;
	}
	copy = malloc(len);
	if (!copy)
		return gt_rows_no_memory(err);
	memcpy(copy, r->args, len);
	if (gt_grow(&r->schemas, &r->schemas_cap, r->nschemas + 1, sizeof(*r->schemas)) ||
		gt_map_add(&r->schema_map, hash, (uint32_t)r->nschemas)) {
		free(copy);
		return gt_rows_no_memory(err);
	}
	r->text_bytes += len;
	r->schemas[r->nschemas] = (struct gt_import_schema){ r->n, copy };
	return (int64_t)r->nschemas++;
}
