#include "viewer/view/item_search.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "viewer/util/deadline.h"

#define AT_ONCE 32u /* items between two checks of the deadline */

struct gt_item_search {
	struct gt_search_regex expression;
	uint8_t *has; /* by item */
	size_t cap, tried, n;
	int next;  /* direction of the request: 1, -1; 0: no request */
	bool here; /* the current place may be the match */
};

void gt_item_search_free(struct gt_item_search *f)
{
	if (!f)
		return;
	gt_search_regex_release(&f->expression);
	free(f->has);
	free(f);
}

const char *gt_item_search_start(
	struct gt_item_search **f, struct gt_scene *s, const char *expression)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_item_search *to = *expression ? calloc(1, sizeof(*to)) : NULL;

	gt_item_search_free(*f);
	*f = NULL;
	if (to && !gt_search_regex_init(&to->expression, expression, &err)) {
		to->next = 1;
		to->here = true;
		*f = to;
	} else if (*expression) {
		gt_err_set(&err, -ENOMEM, "out of memory");
		gt_scene_set_status(s, "%s", err.text);
		free(to);
	}
	return s->message;
}

void gt_item_search_restart(struct gt_item_search *f)
{
	if (f)
		f->tried = f->n = 0;
}

int gt_item_search_step(
	struct gt_item_search *f, const struct gt_items *of, uint64_t us, struct gt_err *err)
{
	uint64_t until = gt_deadline(us);

	if (!f)
		return 0;
	if (gt_grow(&f->has, &f->cap, of->n + 1, 1))
		return gt_err_set(err, -ENOMEM, "out of memory");
	while (f->tried < of->n) {
		int found = of->matches(of->arg, f->tried, &f->expression);

		if (found < 0)
			return gt_err_set(err, found, "out of memory");
		f->has[f->tried++] = (uint8_t)found;
		f->n += (size_t)found;
		if (f->tried % AT_ONCE == 0 && gt_deadline_is_over(until))
			break;
	}
	return f->tried < of->n;
}

bool gt_item_search_request(struct gt_item_search *f, struct gt_scene *s, int by)
{
	if (f) {
		f->next = by;
		f->here = false;
	} else {
		s->message = "no search is active: press / to search";
	}
	return f;
}

size_t gt_item_search_next(struct gt_item_search *f, const struct gt_items *of, size_t place,
	struct gt_scene *s, bool last)
{
	bool around = false;

	if (!f || !f->next)
		return SIZE_MAX;
	for (size_t i = !f->here; f->n && i <= of->nplaces; i++) {
		if (i) {
			around |= f->next > 0 ? place + 1 >= of->nplaces : !place;
			place = (place + of->nplaces + (size_t)f->next) % of->nplaces;
		}
		if (place >= of->nplaces || !gt_item_search_has(f, of->item_at(of->arg, place)))
			continue;
		if (around)
			s->message = f->next > 0 ? "search continued at the first match"
						 : "search continued at the last match";
		f->next = 0;
		return place;
	}
	if (last && f->n)
		s->message = of->hidden;
	else if (last)
		gt_scene_set_status(s, "no %s matches '%.60s'", of->what, f->expression.text);
	if (last)
		f->next = 0;
	return SIZE_MAX;
}

bool gt_item_search_has(const struct gt_item_search *f, size_t item)
{
	return f && item < f->tried && f->has[item];
}

size_t gt_item_search_rank(const struct gt_item_search *f, const struct gt_items *of, size_t place)
{
	size_t rank = 0;

	if (gt_item_search_has(f, of->item_at(of->arg, place)))
		for (size_t i = 0; i <= place; i++)
			rank += gt_item_search_has(f, of->item_at(of->arg, i));
	return rank;
}

size_t gt_item_search_count_tried(const struct gt_item_search *f) { return f->tried; }
size_t gt_item_search_count(const struct gt_item_search *f) { return f->n; }
const struct gt_search_regex *gt_item_search_regex(const struct gt_item_search *f)
{
	return &f->expression;
}
