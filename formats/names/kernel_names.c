/* Unique short forms of kernel names: kernel_short.h has the form of one name.
 *
 * If two kernels would have the same form, the later one gets more: the literals among its template
 * arguments (vectorized_elementwise<8, Fill, float>), all of them, or its namespaces. If they are
 * still equal, or the form would be too long, it gets a number: foo<int>#2. Two kernels whose full
 * names are equal (overloads in anonymous namespaces of two files) get a number, too. So a form
 * stands for one name, and no two rows of a table become one because of short names.
 */
#include "formats/names/kernel_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/base/sorted.h"
#include "formats/names/demangle.h"
#include "formats/names/kernel_short.h"
#include "formats/trace/read/reader.h"

/* kernels named by gt_kernel_names_of, which takes a tenth of a second for so many */
#define NAMED 65536u

/* Copies at most size - 1 bytes. A copy that is cut ends in "..", and not within a character. */
static void cut(char *to, size_t size, const char *s, size_t len)
{
	if (len >= size) {
		len = size - 3;
		while (len && ((unsigned char)s[len] & 0xc0) == 0x80)
			len--;
		memcpy(to, s, len);
		memcpy(to + len, "..", 3);
		return;
	}
	memcpy(to, s, len);
	to[len] = '\0';
}

static void write_form(const char *name, enum gt_short_detail detail, char out[GT_SHORT_MAX + 1])
{
	char *plain = gt_demangle(name);
	struct gt_buf b = { 0 };

	gt_short_form(&b, name, plain, detail);
	cut(out, GT_SHORT_MAX + 1, b.failed || !b.len ? name : (const char *)b.data,
		b.failed || !b.len ? strlen(name) : b.len);
	gt_buf_release(&b);
	free(plain);
}

void gt_kernel_short(const char *name, char out[GT_SHORT_MAX + 1])
{
	write_form(name, GT_SHORT_BASE, out);
}

void gt_kernel_function(const char *name, char out[GT_SHORT_MAX + 1])
{
	write_form(name, GT_SHORT_FUNCTION, out);
}

/* ---- unique forms ---- */

struct kernel {
	char *full, *brief;
	uint32_t next; /* "#N" of the next equal form, less 2 */
};
struct gt_kernel_names {
	enum gt_name_form form;
	struct kernel *list;
	size_t n, cap;
	struct gt_map by_full, by_brief;
};

static bool same_full(const void *arg, uint32_t value, const void *key, size_t len)
{
	const char *full = ((const struct gt_kernel_names *)arg)->list[value].full;

	return !strncmp(full, key, len) && !full[len];
}

static bool same_brief(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !strcmp(((const struct gt_kernel_names *)arg)->list[value].brief, key);
}

static uint32_t find_brief(const struct gt_kernel_names *k, const char *brief)
{
	size_t len = strlen(brief);

	return gt_map_get(&k->by_brief, gt_hash(brief, len), same_brief, k, brief, len);
}

/* new: `first`, or if another name has this form, `first` with a number, at most `max` bytes long.
 * NULL: no memory. */
static char *numbered(struct gt_kernel_names *k, const char *first, size_t max)
{
	size_t len = strlen(first), size = (len < max ? len : max) + 16;
	char *form = malloc(size);
	uint32_t alike = find_brief(k, first);

	if (!form || alike == UINT32_MAX)
		return form ? memcpy(form, first, len + 1) : NULL;
	do {
		char suffix[16];
		size_t n =
			(size_t)snprintf(suffix, sizeof(suffix), "#%u", 2 + k->list[alike].next++);

		cut(form, (len + n < max ? len + n : max) - n + 1, first, len);
		strcat(form, suffix);
	} while (find_brief(k, form) != UINT32_MAX);
	return form;
}

/* new: the first unique one of the forms, or the first one with a number. NULL: no memory. */
static char *choose_short(struct gt_kernel_names *k, const char *name, const char *plain)
{
	char brief[GT_SHORT_MAX + 1], first[GT_SHORT_MAX + 1] = "";
	struct gt_buf b = { 0 };

	for (enum gt_short_detail d = GT_SHORT_BASE; d < GT_SHORT_DETAILS; d++) {
		gt_buf_clear(&b);
		gt_short_form(&b, name, plain, d);
		if (b.failed)
			break;
		cut(brief, sizeof(brief), b.len ? (const char *)b.data : "", b.len);
		if (d == GT_SHORT_BASE)
			strcpy(first, brief);
		if (find_brief(k, brief) == UINT32_MAX) {
			strcpy(first, brief);
			break;
		}
	}
	gt_buf_release(&b);
	return b.failed ? NULL : numbered(k, first, GT_SHORT_MAX);
}

static char *choose(struct gt_kernel_names *k, const char *name)
{
	char *plain = k->form == GT_NAME_MANGLED ? NULL : gt_demangle(name);
	char *form = k->form == GT_NAME_SHORT ? choose_short(k, name, plain)
		: k->form == GT_NAME_FULL     ? numbered(k, plain ? plain : name, SIZE_MAX)
					      : strdup(name);

	free(plain);
	return form;
}

struct gt_kernel_names *gt_kernel_names_new(enum gt_name_form form)
{
	struct gt_kernel_names *k = calloc(1, sizeof(*k));

	if (k)
		k->form = form;
	return k;
}

const char *gt_kernel_names_get(struct gt_kernel_names *k, const char *name)
{
	size_t len = strlen(name);
	uint64_t hash = gt_hash(name, len);
	uint32_t at = gt_map_get(&k->by_full, hash, same_full, k, name, len);
	struct kernel *new;

	if (at != UINT32_MAX)
		return k->list[at].brief;
	if (gt_grow(&k->list, &k->cap, k->n + 1, sizeof(*k->list)))
		return NULL;
	new = &k->list[k->n];
	*new = (struct kernel){ .full = strdup(name) };
	if (new->full)
		new->brief = choose(k, name);
	if (!new->brief || gt_map_add(&k->by_full, hash, (uint32_t)k->n) ||
		gt_map_add(&k->by_brief, gt_hash(new->brief, strlen(new->brief)), (uint32_t)k->n)) {
		free(new->full);
		free(new->brief);
		return NULL;
	}
	return k->list[k->n++].brief;
}

struct named {
	const char *name;
	char *plain; /* NULL: it cannot be demangled */
};

static int by_plain_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->plain ? x->plain : x->name, y->plain ? y->plain : y->name);

	return order ? order : strcmp(x->name, y->name);
}

static void release_names(struct named *all, size_t n)
{
	while (n)
		free(all[--n].plain);
	free(all);
}

/* new: the names of all types of kernels, sorted by their demangled names. *n of them. */
static struct named *kernels_of(struct gt_reader *r, size_t *n)
{
	struct named *all = NULL;
	size_t cap = 0;

	*n = 0;
	if (gt_grow(&all, &cap, 1, sizeof(*all)))
		return NULL;
	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		for (uint32_t t = 0; t < seg->ntypes; t++) {
			const char *name = gt_str(seg, seg->types[t].name);

			if (seg->types[t].layer != GT_LAYER_GPU ||
				seg->types[t].category != GT_CAT_KERNEL)
				continue;
			if (gt_grow(&all, &cap, *n + 1, sizeof(*all))) {
				release_names(all, *n);
				return NULL;
			}
			all[*n] = (struct named){ name, *n < NAMED ? gt_demangle(name) : NULL };
			++*n;
		}
	}
	GT_SORT(all, *n, by_plain_name);
	return all;
}

/* Not in the order of the file, because a copy of the trace has another one. */
struct gt_kernel_names *gt_kernel_names_of(struct gt_reader *r, enum gt_name_form form)
{
	struct gt_kernel_names *names = gt_kernel_names_new(form);
	struct named *all;
	size_t n;

	all = names ? kernels_of(r, &n) : NULL;
	if (!all) {
		gt_kernel_names_free(names);
		return NULL;
	}
	for (size_t i = 0; i < n && names->n < NAMED; i++)
		gt_kernel_names_get(names, all[i].name);
	release_names(all, n);
	return names;
}

size_t gt_kernel_names_count(const struct gt_kernel_names *k) { return k->n; }

const char *gt_kernel_names_at(const struct gt_kernel_names *k, size_t i, const char **full)
{
	*full = k->list[i].full;
	return k->list[i].brief;
}

void gt_kernel_names_free(struct gt_kernel_names *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n; i++) {
		free(k->list[i].full);
		free(k->list[i].brief);
	}
	free(k->list);
	gt_map_release(&k->by_full);
	gt_map_release(&k->by_brief);
	free(k);
}
