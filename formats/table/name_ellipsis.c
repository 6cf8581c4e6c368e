/* A name is cut in the middle, because similar names have equal beginnings (cuMemcpyDtoH,
 * cuMemcpyHtoD) or equal ends (_v2, _ptsz). If two short forms are equal, the names are cut at the
 * end instead, then around the place where they begin to differ ("sm80_..2_nt_n_ti.."), then at the
 * front. Short forms that are still equal get numbers: "ioctl RM_C..~2".
 */
#include "formats/table/name_ellipsis.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"
#include "formats/text/utf8.h"

#define WHERE_THEY_DIFFER 9u

/* twin: another name has the same short form; alike: the columns of their common beginning */
struct name {
	const char *full;
	char *brief;
	bool twin;
	size_t alike;
};

/* new: up to `head` columns of the beginning, `mark`, and as much of the end as fits into `width`.
 */
static char *cut(const char *s, size_t width, size_t head, const char *mark)
{
	size_t all = gt_utf8_width(s), tail = width - strlen(mark) - head;
	const char *to = gt_utf8_most(s, head), *from = gt_utf8_least(s, all - tail);
	char *brief = malloc((size_t)(to - s) + strlen(mark) + strlen(from) + 1);

	if (brief)
		sprintf(brief, "%.*s%s%s", (int)(to - s), s, mark, from);
	return brief;
}

/* new: a part of the beginning, and the text around column `at`. */
static char *cut_around(const char *s, size_t width, size_t at)
{
	size_t all = gt_utf8_width(s), head = width / 4, room = width - head - 4,
	       context = room / 2 < 2 ? room / 2 : 2;
	const char *to = gt_utf8_most(s, head), *from = gt_utf8_least(s, at - context),
		   *end = gt_utf8_most(from, room);
	char *brief;

	if (at - context <= head + 2)
		return cut(s, width, width - 2, "..");
	if (all - (at - context) <= room + 2)
		return cut(s, width, head, "..");
	brief = malloc((size_t)(to - s) + (size_t)(end - from) + 5);
	if (brief)
		sprintf(brief, "%.*s..%.*s..", (int)(to - s), s, (int)(end - from), from);
	return brief;
}

static int by_full(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->full, ((const struct name *)b)->full);
}

static const char *looks(const struct name *n) { return n->brief ? n->brief : n->full; }

static int by_looks(const void *a, const void *b)
{
	int order = strcmp(looks(*(struct name *const *)a), looks(*(struct name *const *)b));

	return order ?: by_full(*(struct name *const *)a, *(struct name *const *)b);
}

static void note_alike(struct name *a, struct name *b)
{
	size_t n = 0;
	struct gt_letter l;

	for (const char *s = a->full, *t = b->full, *next; *s;
		n += l.columns, t += next - s, s = next) {
		next = gt_letter_next(s, &l);
		if (strncmp(s, t, (size_t)(next - s)))
			break;
	}
	a->alike = n > a->alike ? n : a->alike;
	b->alike = n > b->alike ? n : b->alike;
	a->twin = b->twin = true;
}

/* Sets twin and alike of names with equal short forms. Are there any? */
static bool mark_twins(struct name *names, struct name **order, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		order[i] = &names[i];
		names[i].twin = false;
		names[i].alike = 0;
	}
	GT_SORT(order, n, by_looks);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(looks(order[i - 1]), looks(order[i]))) {
			note_alike(order[i - 1], order[i]);
			any = true;
		}
	return any;
}

static int set(struct name *name, char *brief)
{
	free(name->brief);
	name->brief = brief;
	return brief ? 0 : -ENOMEM;
}

static int cut_all(struct name *names, struct name **order, size_t n, size_t width)
{
	/* How many eighths of the width the beginning gets. The place where they differ is tried
	 * twice, because after the first time fewer names are twins. */
	static const unsigned places[] = { 5, 8, WHERE_THEY_DIFFER, WHERE_THEY_DIFFER, 3, 0 };
	size_t number = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		names[i].twin = true;
	for (size_t p = 0; p < sizeof(places) / sizeof(*places); p++) {
		for (size_t i = 0; !rc && i < n; i++)
			if (names[i].twin && gt_utf8_width(names[i].full) > width)
				rc = set(&names[i],
					places[p] == WHERE_THEY_DIFFER
						? cut_around(names[i].full, width, names[i].alike)
						: cut(names[i].full, width,
							  (width - 2) * places[p] / 8, ".."));
		if (rc || !mark_twins(names, order, n))
			return rc;
	}
	for (size_t i = 0; !rc && i < n; i++) {
		char mark[24];

		if (!names[i].twin || !names[i].brief)
			continue;
		snprintf(mark, sizeof(mark), "..~%zu", ++number);
		if (strlen(mark) <= width)
			rc = set(&names[i], cut(names[i].full, width, width - strlen(mark), mark));
	}
	if (!rc && mark_twins(names, order, n))
		for (size_t i = 0; i < n; i++)
			if (names[i].twin)
				set(&names[i], NULL);
	return rc;
}

/* Sorts the names and removes duplicates. Returns how many are left. */
static size_t sort_unique(struct name *names, size_t n)
{
	size_t unique = 0;

	GT_SORT(names, n, by_full);
	for (size_t i = 0; i < n; i++)
		if (!unique || by_full(&names[unique - 1], &names[i]))
			names[unique++] = names[i];
	return unique;
}

int gt_clip(char **texts, size_t n, size_t width)
{
	struct name *names = calloc(n + 1, sizeof(*names)),
		    **order = calloc(n + 1, sizeof(struct name *));
	char **fresh = calloc(n + 1, sizeof(char *));
	int rc = names && order && fresh ? 0 : -ENOMEM;
	size_t kinds = 0;

	for (size_t i = 0; !rc && i < n; i++)
		names[i].full = texts[i];
	if (!rc) {
		kinds = sort_unique(names, n);
		rc = cut_all(names, order, kinds, width);
	}
	for (size_t i = 0; !rc && i < n; i++) {
		const struct name *name = bsearch(
			&(struct name){ .full = texts[i] }, names, kinds, sizeof(*names), by_full);

		if (name->brief && !(fresh[i] = strdup(name->brief)))
			rc = -ENOMEM;
	}
	for (size_t i = 0; fresh && i < n; i++) {
		if (!rc && fresh[i]) {
			free(texts[i]);
			texts[i] = fresh[i];
		} else {
			free(fresh[i]);
		}
	}
	for (size_t i = 0; i < kinds; i++)
		free(names[i].brief);
	free(names);
	free(order);
	free(fresh);
	return rc;
}
