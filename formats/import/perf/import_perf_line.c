#define _GNU_SOURCE
#include "formats/import/perf/import_perf_script.h"

#include <string.h>
#include "formats/import/import_rows.h"

#define NS 1000000000ll

typedef struct gt_perf_text text;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static text trimmed(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (text){ p, (size_t)(end - p) };
}

/* A decimal number at *p, which is moved behind it. False: there is none, or it is too large. */
static bool read_number(const char **p, const char *end, uint64_t *value)
{
	const char *from = *p;
	uint64_t v = 0;

	for (; *p < end && is_digit(**p); (*p)++) {
		if (v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(**p - '0');
	}
	*value = v;
	return *p > from;
}

/* ---- the line of a sample ---- */

/* "12.345678" or "12.345678901" between p and the colon at end. */
static bool read_time(const char *p, const char *end, int64_t *ns)
{
	uint64_t seconds, fraction;
	const char *point;

	if (!read_number(&p, end, &seconds) || p == end || *p != '.' ||
		seconds >= GT_ROWS_TIME_MAX / NS)
		return false;
	point = ++p;
	if (!read_number(&p, end, &fraction) || p != end || (p - point != 6 && p - point != 9))
		return false;
	*ns = (int64_t)seconds * NS + (int64_t)fraction * (p - point == 6 ? 1000 : 1);
	return true;
}

/* "4711", "-1" or "4711/4712" */
static bool read_ids(text t, int64_t *pid, int64_t *tid)
{
	const char *p = t.p, *end = t.p + t.len;
	int64_t ids[2] = { 0 };
	unsigned n = 0;

	for (bool more = true; more; n++) {
		bool negative = p < end && *p == '-';
		uint64_t v;

		p += negative;
		if (n == 2 || !read_number(&p, end, &v) || v > INT32_MAX)
			return false;
		ids[n] = negative ? -(int64_t)v : (int64_t)v;
		more = p < end && *p == '/';
		p += more;
	}
	*pid = n == 2 ? ids[0] : 0;
	*tid = ids[n - 1];
	return p == end;
}

/* The last word of t, which is removed. */
static text last_word(text *t)
{
	const char *end = t->p + t->len, *p = end;

	while (p > t->p && p[-1] != ' ' && p[-1] != '\t')
		p--;
	*t = trimmed(t->p, p);
	return (text){ p, (size_t)(end - p) };
}

/* "[001]", or the letters of the field misc */
static bool is_skipped_word(text w)
{
	size_t n = 0;

	if (w.len > 2 && *w.p == '[' && w.p[w.len - 1] == ']')
		return is_digit(w.p[1]);
	while (n < w.len && w.p[n] >= 'A' && w.p[n] <= 'Z')
		n++;
	return n && n == w.len;
}

/* Reads the text before the time: the command, which may have spaces, and the thread. */
static bool read_thread(struct gt_perf_line *s, const char *line, const char *end)
{
	text before = trimmed(line, end), word = last_word(&before);

	for (unsigned n = 0; n < 3 && is_skipped_word(word); n++)
		word = last_word(&before);
	s->command = before;
	return word.len && read_ids(word, &s->pid, &s->tid);
}

/* Reads the text behind the time: the period, the event, and a frame or the event's text. */
static void read_event(struct gt_perf_line *s, const char *p, const char *end)
{
	const char *at = p, *word;

	while (at < end && *at == ' ')
		at++;
	s->has_period = read_number(&at, end, &s->period) && at < end && *at == ' ';
	for (at = s->has_period ? at : p; at < end && *at == ' ';)
		at++;
	for (word = at; word < end && *word != ' '; word++)
		;
	if (word > at + 1 && word[-1] == ':') {
		s->event = (text){ at, (size_t)(word - 1 - at) };
		p = word;
	} else {
		s->has_period = false; /* an address that has digits only */
	}
	s->rest = (text){ p, (size_t)(end - p) };
}

bool gt_perf_parse_sample(struct gt_perf_line *s, const char *line, size_t len)
{
	const char *end = line + len;

	memset(s, 0, sizeof(*s));
	while (line < end && *line == ' ')
		line++; /* only once: a line of blanks and times must not take quadratic time */
	for (const char *colon = line; (colon = memchr(colon, ':', (size_t)(end - colon)));
		colon++) {
		const char *p = colon;

		while (p > line && (is_digit(p[-1]) || p[-1] == '.'))
			p--;
		if (p == colon || p == line || (p[-1] != ' ' && p[-1] != '\t') ||
			!read_time(p, colon, &s->time) || !read_thread(s, line, p))
			continue;
		read_event(s, colon + 1, end);
		return true;
	}
	return false;
}

/* ---- frames ---- */

static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The address at *p, which is moved behind it. */
static bool read_address(const char **p, const char *end, uint64_t *address)
{
	const char *at = *p;
	uint64_t v = 0;

	for (; at < end && at - *p < 16 && hex_digit(*at) >= 0; at++)
		v = v << 4 | (uint64_t)hex_digit(*at);
	if (at == *p || (at < end && *at != ' '))
		return false;
	*address = v;
	*p = at;
	return true;
}

/* "(...)" at the end of t, which is removed; parentheses in it are balanced. */
static text last_parentheses(text *t)
{
	const char *end = t->p + t->len, *p = end;
	unsigned depth = 0;

	while (p > t->p) {
		p--;
		depth += *p == ')';
		depth -= *p == '(';
		if (!depth)
			break;
	}
	if (t->len < 2 || end[-1] != ')' || depth || (p > t->p && p[-1] != ' '))
		return (text){ NULL, 0 };
	*t = trimmed(t->p, p);
	return (text){ p + 1, (size_t)(end - 1 - (p + 1)) };
}

static text without_offset(text t)
{
	for (size_t i = t.len; i-- > 1;)
		if (t.p[i] == '+')
			return t.len - i > 3 && t.p[i + 1] == '0' && t.p[i + 2] == 'x'
				? (text){ t.p, i }
				: t;
		else if (hex_digit(t.p[i]) < 0 && t.p[i] != 'x')
			break;
	return t;
}

static bool is(text t, const char *word)
{
	return t.len == strlen(word) && !memcmp(t.p, word, t.len);
}

static bool ends_with(text t, const char *word)
{
	return t.len > strlen(word) && !memcmp(t.p + t.len - strlen(word), word, strlen(word));
}

/* "[kernel.kallsyms]", "[guest.kernel.kallsyms]", "[nvme]", ".../nvme.ko.xz"; not "[vdso]". */
static bool is_kernel(text module, uint64_t address)
{
	if (module.p && module.len > 2 && *module.p == '[')
		return !is(module, "[vdso]") && !is(module, "[vsyscall]") &&
			!is(module, "[stack]") && !is(module, "[heap]");
	return address >> 63 ||
		(module.p && (ends_with(module, ".ko") || memmem(module.p, module.len, ".ko.", 4)));
}

bool gt_perf_parse_frame(struct gt_perf_frame *f, const char *line, size_t len)
{
	text t = trimmed(line, line + len);
	const char *p = t.p, *end = t.p + t.len;
	uint64_t address;

	memset(f, 0, sizeof(*f));
	/* perf prints an address in 16 columns: a shorter word is the name of a function */
	if (read_address(&p, end, &address) && p - line >= 16) {
		f->address = address;
		t = trimmed(p, end);
	}
	f->module = last_parentheses(&t);
	if (is(f->module, "inlined")) {
		f->inlined = true;
		f->module.p = NULL;
	}
	if (f->module.p && (is(f->module, "[unknown]") || !f->module.len))
		f->module.p = NULL;
	f->kernel = is_kernel(f->module, f->address);
	f->function = without_offset(t);
	if (!t.len || is(t, "[unknown]"))
		f->function.p = NULL;
	return f->address || f->function.p;
}

/* ---- events ---- */

/* The length of the name without modifiers: "cycles:ppp", "task-clock:u" */
static size_t name_length(text event)
{
	const char *colon = memrchr(event.p, ':', event.len);
	size_t i;

	for (i = colon ? (size_t)(colon - event.p) + 1 : event.len; i < event.len; i++)
		if (!strchr("ukhGHpPSDeWIb", event.p[i]))
			return event.len;
	return colon ? (size_t)(colon - event.p) : event.len;
}

bool gt_perf_is_clock(text event)
{
	text name = { event.p, event.p ? name_length(event) : 0 };

	return name.p && (is(name, "task-clock") || is(name, "cpu-clock"));
}

bool gt_perf_is_tracepoint(text event)
{
	return event.p && *event.p != ':' && memchr(event.p, ':', name_length(event));
}
