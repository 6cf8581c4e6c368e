#include "collect/probes/probe_selection.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define USDT "usdt"

static bool copy(char to[GT_PROBE_NAME], const char *from, size_t n)
{
	if (!n || n >= GT_PROBE_NAME)
		return false;
	memcpy(to, from, n);
	to[n] = 0;
	return true;
}

/* The number in "argN" of n characters; GT_PROBE_VALUES: it is none. */
static unsigned argument_number(const char *p, size_t n)
{
	unsigned number = 0;

	if (n < 4 || n > 5 || memcmp(p, "arg", 3))
		return GT_PROBE_VALUES;
	for (size_t i = 3; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return GT_PROBE_VALUES;
		number = number * 10 + (unsigned)(p[i] - '0');
	}
	return number < GT_PROBE_VALUES ? number : GT_PROBE_VALUES;
}

/* ---- -e usdt: ---- */

static const struct {
	const char *word;
	uint8_t kind;
} formats[] = { { "str", GT_PROBE_TEXT }, { "hex", GT_PROBE_HEX }, { "int", GT_PROBE_SIGNED },
	{ "uint", GT_PROBE_UNSIGNED } };

/* "argN:FORMAT" of n characters. */
static bool set_format(struct gt_usdt_pattern *u, const char *p, size_t n)
{
	const char *colon = memchr(p, ':', n);
	unsigned number = colon ? argument_number(p, (size_t)(colon - p)) : GT_PROBE_VALUES;

	if (number == GT_PROBE_VALUES)
		return false;
	n -= (size_t)(++colon - p);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (strlen(formats[i].word) == n && !memcmp(formats[i].word, colon, n)) {
			u->kinds[number] = formats[i].kind;
			return true;
		}
	return false;
}

/* "(FORMAT FORMAT)" of n characters. */
static bool set_formats(struct gt_usdt_pattern *u, const char *p, size_t n)
{
	const char *end = p + n - 1;

	if (n < 3 || *end != ')')
		return false;
	for (p++; p < end; p += *p == ' ') {
		size_t word = strcspn(p, " )");

		if (!set_format(u, p, word))
			return false;
		p += word;
	}
	return true;
}

/* "usdt", "usdt:PROVIDER:PROBE" or with formats behind, of n characters. */
static bool parse_usdt(struct gt_usdt_pattern *u, const char *p, size_t n)
{
	const char *colon, *bracket = memchr(p, '(', n), *end = bracket ? bracket : p + n;

	memset(u->kinds, GT_PROBE_KINDS, sizeof(u->kinds));
	if (n == strlen(USDT))
		return copy(u->provider, "*", 1) && copy(u->name, "*", 1);
	p += strlen(USDT ":");
	colon = p < end ? memchr(p, ':', (size_t)(end - p)) : NULL;
	return colon && copy(u->provider, p, (size_t)(colon - p)) &&
		copy(u->name, colon + 1, (size_t)(end - colon) - 1) &&
		(!bracket ||
			set_formats(u, bracket, n - (size_t)(bracket - (p - strlen(USDT ":")))));
}

static bool is_usdt(const char *p, size_t n)
{
	const size_t word = strlen(USDT);

	return n >= word && !memcmp(p, USDT, word) && (n == word || p[word] == ':');
}

int gt_probe_selection_events(struct gt_probe_selection *s, const char *list, struct gt_err *err)
{
	for (const char *p = list; *p; p += *p == ',') {
		struct gt_usdt_pattern new = { .name = "" };
		size_t n = strcspn(p, ",");

		if (is_usdt(p, n)) {
			if (!parse_usdt(&new, p, n))
				return gt_err_set(err, -EINVAL,
					"-e '%.*s': a USDT probe is usdt:PROVIDER:PROBE or usdt:PROVIDER:PROBE(arg0:str), formats being str, hex, int, uint",
					(int)(n < 100 ? n : 100), p);
			if (gt_grow(&s->usdt, &s->usdt_cap, s->nusdt + 1, sizeof(new)))
				return gt_err_set(err, -ENOMEM, "out of memory (USDT probes)");
			s->usdt[s->nusdt++] = new;
		}
		p += n;
	}
	return 0;
}

const struct gt_usdt_pattern *gt_probe_selection_find(
	const struct gt_probe_selection *s, const char *provider, const char *name)
{
	for (size_t i = 0; i < s->nusdt; i++)
		if (!fnmatch(s->usdt[i].provider, provider, 0) &&
			!fnmatch(s->usdt[i].name, name, 0))
			return &s->usdt[i];
	return NULL;
}

bool gt_probe_selection_may_have(const struct gt_probe_selection *s, const char *name)
{
	const char *colon = strchr(name, ':');
	char provider[GT_PROBE_NAME] = "";

	if (colon)
		copy(provider, name, (size_t)(colon - name));
	for (size_t i = 0; i < s->nusdt; i++)
		if (!fnmatch(s->usdt[i].name, colon ? colon + 1 : name, 0) &&
			(!colon || !fnmatch(s->usdt[i].provider, provider, 0)))
			return true;
	return false;
}

bool gt_probe_selection_names(const struct gt_probe_selection *s, const char *provider)
{
	for (size_t i = 0; i < s->nusdt; i++)
		if (!strncmp(s->usdt[i].provider, provider, strlen(provider)))
			return true;
	return false;
}

bool gt_probe_has_name(const char *provider, const char *probe, const char *name)
{
	size_t n = strlen(provider);

	return !strcmp(name, probe) ||
		(!strncmp(name, provider, n) && name[n] == ':' && !strcmp(name + n + 1, probe));
}

/* ---- --pair ---- */

static bool parse_pair(struct gt_probe_pair *pair, const char *p)
{
	bool fine = true;

	pair->key = GT_PROBE_VALUES;
	for (; fine && *p; p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (!strncmp(p, "start=", 6))
			fine = copy(pair->start, p + 6, n - 6);
		else if (!strncmp(p, "end=", 4))
			fine = copy(pair->end, p + 4, n - 4);
		else if (!strncmp(p, "key=", 4))
			pair->key = argument_number(p + 4, n - 4);
		else
			fine = false;
		p += n;
	}
	return fine && *pair->start && *pair->end && pair->key < GT_PROBE_VALUES;
}

int gt_probe_selection_pair(struct gt_probe_selection *s, const char *text, struct gt_err *err)
{
	struct gt_probe_pair new = { .start = "" };

	if (!parse_pair(&new, text))
		return gt_err_set(err, -EINVAL,
			"--pair '%.100s': it must be start=NAME,end=NAME,key=argN (arg0 to arg%d)",
			text, GT_PROBE_VALUES - 1);
	if (gt_grow(&s->pairs, &s->pairs_cap, s->npairs + 1, sizeof(new)))
		return gt_err_set(err, -ENOMEM, "out of memory (pairs)");
	s->pairs[s->npairs++] = new;
	return 0;
}

void gt_probe_selection_release(struct gt_probe_selection *s)
{
	free(s->usdt);
	free(s->pairs);
	*s = (struct gt_probe_selection){ NULL };
}
