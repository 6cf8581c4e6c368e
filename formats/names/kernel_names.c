/* Short forms of kernel names.
 *
 * "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<...> >(at::native::ReduceOp<...>)"
 * has 300 characters, and a table shows 60. The most useful parts are the function and its first
 * template argument, without namespaces: reduce_kernel<512, ..>. If two kernels would have the same
 * form, the later one gets more arguments (reduce_kernel<512, 1, ReduceOp<MeanOps<float>>, ..>), or
 * its namespaces (cub::reduce_kernel<512, ..>). If they are still equal, or the form would be too
 * long, it gets a number: foo<int>#2. Two kernels whose full names are equal (overloads in
 * anonymous namespaces of two files) get a number, too. So a form stands for one name, and no two
 * rows of a table become one because of short names.
 */
#include "formats/names/kernel_names.h"

#include <ctype.h>
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
#include "formats/trace/read/reader.h"

#define MORE_ARGS 12 /* the most arguments of a short form */
/* kernels named by gt_kernel_names_of, which takes a tenth of a second for so many */
#define NAMED 65536u

struct range {
	const char *s, *end;
};

/* The byte behind the bracket that closes the one at p, or end. */
static const char *behind_bracket(const char *p, const char *end)
{
	unsigned depth = 0;

	for (; p < end; p++) {
		if (strchr("<({[", *p))
			depth++;
		else if (strchr(">)}]", *p) && !(*p == '>' && p[-1] == '-') && !--depth)
			return p + 1;
	}
	return end;
}

static bool starts(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(end - p) >= n && !memcmp(p, word, n);
}

/* The function's own name: it begins after the last top-level space and "::", and ends before its
 * parameters. *args: its template arguments. *scope: its namespaces, which begin after that space.
 */
static struct range function_of(
	const char *s, const char *end, struct range *args, const char **scope)
{
	static const char anonymous[] = "(anonymous namespace)";
	struct range name = { s, end };
	const char *p = s;

	*scope = s;
	args->s = args->end = NULL;
	while (p < end) {
		if (starts(p, end, anonymous)) {
			p += sizeof(anonymous) - 1;
			continue;
		}
		if (starts(p, end, "operator") &&
			(p == s || !(isalnum((unsigned char)p[-1]) || p[-1] == '_'))) {
			p += 8;
			while (p < end && strchr("<>()[]=+-*/%&|^!~,", *p) &&
				!(p[-1] != 'r' && (*p == '(' || *p == '<')))
				p++;
			p += starts(p, end, ")") || starts(p, end, "]");
			continue;
		}
		if (*p == '(')
			break;
		if (*p == '<' || *p == '{') {
			const char *close = behind_bracket(p, end);

			if (*p == '<') {
				args->s = p;
				args->end = close;
			}
			p = close;
			continue;
		}
		if (*p == ' ' || (*p == ':' && p + 1 < end && p[1] == ':')) {
			*scope = *p == ' ' ? p + 1 : *scope;
			p += *p == ' ' ? 1 : 2;
			name.s = p;
			args->s = args->end = NULL;
			continue;
		}
		p++;
	}
	name.end = args->s ? args->s : p;
	return name;
}

/* One template argument without the namespaces in it: "at::native::AddFunctor<float>" becomes
 * "AddFunctor<float>". */
static void add_plain(struct gt_buf *b, const char *s, const char *end)
{
	size_t word = b->len; /* where the name now being written began */

	for (const char *p = s; p < end; p++) {
		if (*p == ':' && p + 1 < end && p[1] == ':') {
			b->len = word;
			p++;
		} else if (starts(p, end, "(anonymous namespace)")) {
			p += 20;
		} else if (*p == ' ' && p + 1 < end && p[1] == '>') {
			continue;
		} else {
			gt_buf_byte(b, (uint8_t)*p);
			if (!isalnum((unsigned char)*p) && *p != '_')
				word = b->len;
		}
	}
}

static const char *next_argument(const char *p, const char *end)
{
	while (p < end && *p != ',')
		p = strchr("<({[", *p) ? behind_bracket(p, end) : p + 1;
	return p;
}

static void add_arguments(struct gt_buf *b, struct range args, unsigned nargs)
{
	const char *p = args.s + 1,
		   *end = args.end - (args.end > args.s + 1 && args.end[-1] == '>');

	gt_buf_byte(b, '<');
	for (unsigned i = 0; i < nargs && p < end; i++) {
		const char *stop = next_argument(p, end);

		while (p < stop && *p == ' ')
			p++;
		gt_buf_str(b, i ? ", " : "");
		add_plain(b, p, stop);
		p = stop + (stop < end);
	}
	gt_buf_str(b, p < end ? ", ..>" : ">");
}

/* For a name that gt_demangle refuses: the last identifier of its nested name. */
static struct range mangled_word(const char *s)
{
	const char *end = s + strlen(s), *p = s + 2;
	struct range r = { s, end };

	if (strncmp(s, "_Z", 2))
		return r;
	p += strspn(p, "NLKVr");
	while (isdigit((unsigned char)*p) || (*p == 'L' && isdigit((unsigned char)p[1]))) {
		char *word;
		unsigned long n = strtoul(p + (*p == 'L'), &word, 10);

		if (!n || n > (size_t)(end - word))
			break;
		r = (struct range){ word, word + n };
		p = word + n;
	}
	return r;
}

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

/* The short form before it is cut. */
static void short_form(
	struct gt_buf *b, const char *raw, const char *plain, unsigned nargs, bool namespaces)
{
	struct range args = { NULL, NULL }, f;
	const char *scope = NULL;

	if (plain || strncmp(raw, "_Z", 2))
		f = function_of(plain ? plain : raw,
			(plain ? plain : raw) + strlen(plain ? plain : raw), &args, &scope);
	else
		f = mangled_word(raw);
	if (f.s >= f.end)
		f = (struct range){ raw, raw + strlen(raw) };
	else if (namespaces && scope)
		gt_buf_add(b, scope, (size_t)(f.s - scope));
	gt_buf_add(b, f.s, (size_t)(f.end - f.s));
	if (args.s && nargs)
		add_arguments(b, args, nargs);
}

void gt_kernel_short(const char *name, unsigned nargs, char out[GT_SHORT_MAX + 1])
{
	char *plain = gt_demangle(name);
	struct gt_buf b = { 0 };

	short_form(&b, name, plain, nargs, false);
	cut(out, GT_SHORT_MAX + 1, b.failed || !b.len ? name : (const char *)b.data,
		b.failed || !b.len ? strlen(name) : b.len);
	gt_buf_release(&b);
	free(plain);
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

/* new: the first unique one of: the plain form, forms with more arguments, with namespaces, with
 * numbers. NULL: no memory. */
static char *choose_short(struct gt_kernel_names *k, const char *name, const char *plain)
{
	char brief[GT_SHORT_MAX + 1], first[GT_SHORT_MAX + 1] = "";
	struct gt_buf b = { 0 };

	for (unsigned nargs = 1; nargs <= MORE_ARGS + 1; nargs++) {
		bool namespaces = nargs > MORE_ARGS;

		gt_buf_clear(&b);
		short_form(&b, name, plain, namespaces ? 1 : nargs, namespaces);
		if (b.failed)
			break;
		cut(brief, sizeof(brief), b.len ? (const char *)b.data : "", b.len);
		if (nargs == 1)
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

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* new: the names of all types of kernels, sorted by their bytes. *n of them. */
static const char **kernels_of(struct gt_reader *r, size_t *n)
{
	const char **all = NULL;
	size_t cap = 0;

	*n = 0;
	if (gt_grow(&all, &cap, 1, sizeof(*all)))
		return NULL;
	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		for (uint32_t t = 0; t < seg->ntypes; t++) {
			if (seg->types[t].layer != GT_LAYER_GPU ||
				seg->types[t].category != GT_CAT_KERNEL)
				continue;
			if (gt_grow(&all, &cap, *n + 1, sizeof(*all))) {
				free(all);
				return NULL;
			}
			all[(*n)++] = gt_str(seg, seg->types[t].name);
		}
	}
	GT_SORT(all, *n, by_bytes);
	return all;
}

/* Not in the order of the file, because a copy of the trace has another one. */
struct gt_kernel_names *gt_kernel_names_of(struct gt_reader *r, enum gt_name_form form)
{
	struct gt_kernel_names *names = gt_kernel_names_new(form);
	const char **all;
	size_t n;

	all = names ? kernels_of(r, &n) : NULL;
	if (!all) {
		gt_kernel_names_free(names);
		return NULL;
	}
	for (size_t i = 0; i < n && names->n < NAMED; i++)
		gt_kernel_names_get(names, all[i]);
	free(all);
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
