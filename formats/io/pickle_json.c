/* Writes the value of a pickle as JSON text. A real has the fewest digits that give the same real
 * again, of 15 or 17; one that is not finite is null. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "formats/io/pickle.h"
#include "formats/io/stream_out.h"

static void put_real(struct gt_out *o, double d)
{
	char text[40];

	if (!isfinite(d)) {
		gt_out_str(o, "null");
		return;
	}
	*gt_put_general(text, d) = 0;
	if (strtod(text, NULL) == d)
		gt_out_str(o, text);
	else
		gt_out_printf(o, "%.17g", d);
}

static void put_token(struct gt_out *o, const struct gt_pickle_cursor *c, int token)
{
	switch (token) {
	case GT_JSON_OBJECT: gt_out_str(o, "{"); break;
	case GT_JSON_OBJECT_END: gt_out_str(o, "}"); break;
	case GT_JSON_ARRAY: gt_out_str(o, "["); break;
	case GT_JSON_ARRAY_END: gt_out_str(o, "]"); break;
	case GT_JSON_KEY:
		gt_out_json(o, c->text, c->len);
		gt_out_str(o, ":");
		break;
	case GT_JSON_STRING: gt_out_json(o, c->text, c->len); break;
	case GT_JSON_INT:
		gt_out_printf(o, "%s%" PRIu64, c->negative ? "-" : "", c->magnitude);
		break;
	case GT_JSON_REAL: put_real(o, c->real); break;
	case GT_JSON_TRUE: gt_out_str(o, "true"); break;
	case GT_JSON_FALSE: gt_out_str(o, "false"); break;
	default: gt_out_str(o, "null");
	}
}

int gt_pickle_to_json(struct gt_pickle *p, struct gt_out *o, struct gt_err *err)
{
	struct gt_pickle_cursor c;
	bool comma = false; /* before the next value or key */
	int token;

	gt_pickle_open(&c, p, gt_pickle_root(p));
	while ((token = gt_pickle_next(&c, err)) > 0 && !o->failed) {
		if (comma && token != GT_JSON_OBJECT_END && token != GT_JSON_ARRAY_END)
			gt_out_str(o, ",");
		put_token(o, &c, token);
		comma = token != GT_JSON_OBJECT && token != GT_JSON_ARRAY && token != GT_JSON_KEY;
	}
	return token < 0 ? token : 0;
}
