#define _GNU_SOURCE
#include "formats/cmdline/progress_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "formats/base/progress.h"
#include "formats/cmdline/terminal.h"
#include "formats/text/printable.h"

#define SECOND 1000000000ll
#define INTERVAL (SECOND / 10)
#define ERASE "\r\033[K"

static struct {
	char name[128];
	const char *activity; /* begin() writes it and `done` while other threads read them */
	uint64_t done, total;
	bool total_unknown;
	int64_t started, began; /* the line; the activity */
	int64_t next;           /* the earliest time of the next change */
	bool shown;
	char lock; /* held by the thread that prints or changes the activity */
} line;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* ---- text ---- */

static void put_rate(char *to, size_t size, double bytes_a_second)
{
	static const char *const units[] = { "kB/s", "MB/s", "GB/s" };
	double v = bytes_a_second / 1e3;
	unsigned u = 0;

	for (; v >= 1e3 && u < 2; u++)
		v /= 1e3;
	snprintf(to, size, v < 9.95 ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void put_left(char *to, size_t size, double seconds)
{
	if (seconds < 59.5)
		snprintf(to, size, "%.0f s left", seconds < 1 ? 1 : seconds);
	else if (seconds < 3570)
		snprintf(to, size, "%.0f min left", seconds / 60);
	else
		snprintf(to, size, "%.1f h left", seconds / 3600);
}

void gt_progress_text(char *to, size_t size, const char *activity, const char *name, uint64_t done,
	uint64_t total, int64_t ns)
{
	double rate = ns > 0 ? (double)done * SECOND / (double)ns : 0;
	char speed[32], left[32];

	done = total && done > total ? total : done;
	put_rate(speed, sizeof(speed), rate);
	if (!total)
		snprintf(to, size, "%s %s: %.1f MB, %s", activity, name, (double)done / 1e6, speed);
	else if (!done || done == total)
		snprintf(to, size, "%s %s: %d %%, %s", activity, name, done ? 100 : 0, speed);
	else {
		put_left(left, sizeof(left), (double)(total - done) / rate);
		snprintf(to, size, "%s %s: %d %%, %s, %s", activity, name,
			(int)(100 * ((double)done / (double)total)), speed, left);
	}
}

/* ---- the terminal ---- */

/* One call of write(2): another thread, or another program, prints before or after all of it. */
static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* nothing can be done about it */
}

static bool lock(bool wait)
{
	while (__atomic_test_and_set(&line.lock, __ATOMIC_ACQUIRE)) {
		if (!wait)
			return false;
		usleep(100);
	}
	return true;
}

static void unlock(void) { __atomic_clear(&line.lock, __ATOMIC_RELEASE); }

void gt_progress_line_erase(void)
{
	if (__atomic_exchange_n(&line.shown, false, __ATOMIC_ACQ_REL))
		put(ERASE);
}

static void show(int64_t at)
{
	char text[200], out[sizeof(text) + sizeof(ERASE)];
	size_t width = gt_terminal_width(STDERR_FILENO);

	gt_progress_text(text, sizeof(text), line.activity, line.name,
		__atomic_load_n(&line.done, __ATOMIC_RELAXED), line.total_unknown ? 0 : line.total,
		at - line.began);
	if (width <= strlen(text)) /* a second line could not be erased */
		text[width ? width - 1 : 0] = 0;
	snprintf(out, sizeof(out), ERASE "%s", text);
	__atomic_store_n(&line.shown, true, __ATOMIC_RELEASE);
	put(out);
}

/* ---- the sink ---- */

/* Files that are read at once count as one activity, until all of it is done. */
static void begin(const char *activity, uint64_t bytes)
{
	int64_t at = now();

	lock(true);
	if (line.activity != activity ||
		__atomic_load_n(&line.done, __ATOMIC_RELAXED) >= line.total) {
		__atomic_store_n(&line.activity, activity, __ATOMIC_RELAXED);
		__atomic_store_n(&line.done, 0, __ATOMIC_RELAXED);
		line.total = 0;
		line.total_unknown = false;
		line.began = at;
	}
	line.total += bytes;
	line.total_unknown |= !bytes;
	unlock();
}

static void add(uint64_t bytes)
{
	int64_t at;

	__atomic_fetch_add(&line.done, bytes, __ATOMIC_RELAXED);
	at = now();
	if (at < __atomic_load_n(&line.next, __ATOMIC_RELAXED) ||
		!__atomic_load_n(&line.activity, __ATOMIC_RELAXED) || !lock(false))
		return;
	if (at >= line.next && gt_progress_is_wanted()) {
		__atomic_store_n(&line.next, at + INTERVAL, __ATOMIC_RELAXED);
		show(at);
	}
	unlock();
}

static const struct gt_progress_sink sink = { begin, add };

static void set_sink(const struct gt_progress_sink *to)
{
	__atomic_store_n(&gt_progress_sink, to, __ATOMIC_RELEASE);
}

void gt_progress_line_start(const char *name, bool wanted)
{
	const char *base = strrchr(name, '/'), *term = getenv("TERM");
	char *printable;

	if (!wanted || !isatty(STDERR_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return;
	base = !strcmp(name, "-") ? "standard input" : base && base[1] ? base + 1 : name;
	printable = gt_printable(base, 0);
	snprintf(line.name, sizeof(line.name), "%s", printable ? printable : "");
	free(printable);
	line.activity = NULL;
	line.done = line.total = 0;
	line.started = now();
	line.next = line.started + SECOND;
	set_sink(&sink);
}

void gt_progress_line_hide(void)
{
	if (!gt_progress_is_wanted())
		return;
	lock(true);
	gt_progress_line_erase();
	__atomic_store_n(&line.next, now() + INTERVAL, __ATOMIC_RELAXED);
	unlock();
}

void gt_progress_line_stop(void)
{
	if (!gt_progress_is_wanted())
		return;
	lock(true);
	set_sink(NULL);
	gt_progress_line_erase();
	unlock();
}
