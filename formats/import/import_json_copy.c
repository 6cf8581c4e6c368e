#include "formats/import/import_json_copy.h"

#include <string.h>
#include "formats/io/json_build.h"

static void put_scalar(struct gt_out *o, const struct gt_json *j, int token, bool for_jansson)
{
	int64_t v;

	if (!for_jansson && (token == GT_JSON_INT || token == GT_JSON_REAL))
		gt_out_add(o, j->text, j->len);
	else if (token == GT_JSON_KEY || token == GT_JSON_STRING)
		gt_out_json(o, j->text, j->len);
	else if (token == GT_JSON_INT && !gt_json_scale(j->text, j->len, 0, &v))
		gt_out_commit(o, gt_put_i64(gt_out_reserve(o, 32), v));
	else if (token == GT_JSON_REAL && j->len < 32 && gt_json_double(j) < 1e300 &&
		gt_json_double(j) > -1e300)
		gt_out_add(o, j->text, j->len);
	else if (token == GT_JSON_INT || token == GT_JSON_REAL)
		gt_out_json(o, j->text, j->len);
	else
		gt_out_str(o,
			token == GT_JSON_TRUE            ? "true"
				: token == GT_JSON_FALSE ? "false"
							 : "null");
}

static int copy(struct gt_json *j, int token, struct gt_out *to, size_t most, bool for_jansson,
	gt_json_copy_fn *each, void *arg, struct gt_err *err)
{
	unsigned top = j->depth - (token == GT_JSON_OBJECT || token == GT_JSON_ARRAY);
	bool comma = false, fits = true;

	for (int t = token;; t = gt_json_next(j, err)) {
		bool opens = t == GT_JSON_OBJECT || t == GT_JSON_ARRAY,
		     closes = t == GT_JSON_OBJECT_END || t == GT_JSON_ARRAY_END;

		if (t < 0)
			return t;
		fits = fits && to->len < most && j->depth - top < GT_JSON_COPY_DEPTH;
		if (fits && comma && !closes)
			gt_out_str(to, ",");
		if (fits && (opens || closes))
			gt_out_str(to,
				t == GT_JSON_OBJECT               ? "{"
					: t == GT_JSON_ARRAY      ? "["
					: t == GT_JSON_OBJECT_END ? "}"
								  : "]");
		else if (fits)
			put_scalar(to, j, t, for_jansson);
		if (fits && t == GT_JSON_KEY)
			gt_out_str(to, ":");
		if (each)
			each(arg, t, j->depth - top);
		comma = !opens && t != GT_JSON_KEY;
		if (j->depth == top && t != GT_JSON_KEY)
			break;
	}
	return !fits;
}

int gt_json_copy(struct gt_json *j, int token, struct gt_out *to, size_t most,
	gt_json_copy_fn *each, void *arg, struct gt_err *err)
{
	return copy(j, token, to, most, false, each, arg, err);
}

int gt_json_copy_member(struct gt_json *j, const char *key, int token, struct gt_out *to,
	size_t most, gt_json_copy_fn *each, void *arg, struct gt_err *err)
{
	size_t before = to->len;
	int more;

	if (before > 1)
		gt_out_str(to, ",");
	gt_out_json(to, key, strlen(key));
	gt_out_str(to, ":");
	more = copy(j, token, to, most, true, each, arg, err);
	if (more)
		to->len = before; /* removes the incomplete value */
	return more;
}

char *gt_json_copy_close(struct gt_out *to, bool *lost)
{
	bool no_memory;
	json_t *all;
	char *text;

	*lost = false;
	gt_out_add(to, "}", 1);
	if (to->failed)
		return NULL;
	all = gt_json_load(to->data, to->len, 0, &no_memory);
	text = all ? gt_json_dump(all, 0) : no_memory ? NULL : strdup("{}");
	*lost = !all;
	json_decref(all);
	return text;
}
