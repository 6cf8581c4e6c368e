/* DWARF is read in a forked process with limits: a file that makes libdw crash, loop or take all
 * memory costs its lines, and nothing else. The process writes each result into a pipe at once, so
 * that lines found before the end of the time are kept. */
#define _GNU_SOURCE
#include "formats/symbols/code_places.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "formats/base/sorted.h"
#include "formats/symbols/debug_lines.h"
#include "formats/symbols/elf_symbols.h"

#define MEMORY_MAX (4ull << 30) /* of the process, besides mapped files */
#define ANSWER_MAX (256u << 20) /* bytes from the process */
#define WRITTEN_AT_ONCE 16384   /* bytes from the process */
#define SHORTEST_NS 1000000     /* no process is started for less time */
#define UNITS_AT_ONCE 64u       /* compilation units that one child reads */
#define TEXT_MAX 16384u         /* bytes of a name; a longer one is none */

/* ---- the process ---- */

struct level_head {
	uint32_t line, nfunction, nfile; /* bytes of the texts that follow */
};
struct answer_head {
	uint32_t index, nlevels;
};
struct answer {
	int fd;
	struct gt_buf bytes;
	pid_t self, reader; /* the process itself; its child, 0: none */
	unsigned nunits;    /* begun */
	bool failed;        /* a child */
};

static uint32_t text_length(const char *s)
{
	size_t n = s ? strnlen(s, TEXT_MAX) : 0;

	return n < TEXT_MAX ? (uint32_t)n : 0;
}

static void write_answer(struct answer *a)
{
	size_t at = 0;

	while (at < a->bytes.len) {
		ssize_t n = write(a->fd, a->bytes.data + at, a->bytes.len - at);

		if (n < 0 && errno != EINTR)
			_exit(1);
		at += n > 0 ? (size_t)n : 0;
	}
	gt_buf_clear(&a->bytes);
}

static void put_levels(void *arg, size_t i, const struct gt_code_level *levels, unsigned n)
{
	struct answer_head head = { (uint32_t)i, n };
	struct answer *a = arg;

	gt_buf_add(&a->bytes, &head, sizeof(head));
	for (unsigned k = 0; k < n; k++) {
		const struct gt_code_level *l = &levels[k];
		struct level_head h = { l->line, text_length(l->function), text_length(l->file) };

		gt_buf_add(&a->bytes, &h, sizeof(h));
		gt_buf_add(&a->bytes, l->function, h.nfunction);
		gt_buf_add(&a->bytes, l->file, h.nfile);
	}
	if (a->bytes.len > WRITTEN_AT_ONCE)
		write_answer(a);
}

static void limit_process(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT,
		SIGHUP, SIGQUIT, SIGPIPE, SIGALRM };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
#ifndef __SANITIZE_ADDRESS__
	setrlimit(RLIMIT_DATA, &(struct rlimit){ MEMORY_MAX, MEMORY_MAX });
#endif
}

/* ---- its children ---- */

/* libdw keeps what it has read of a unit until the file is closed, and that is many times the size
 * of the unit's line table. So the units with addresses are read by children, some by each; the
 * process itself only looks for them. */
static void end_reader(struct answer *a)
{
	int status = 0;

	if (getpid() != a->self) {
		write_answer(a);
		_exit(0);
	}
	while (a->reader > 0 && waitpid(a->reader, &status, 0) < 0 && errno == EINTR)
		;
	a->reader = 0;
	a->failed = a->failed || status;
}

static bool begin_unit(void *arg)
{
	struct answer *a = arg;

	if (a->nunits++ % UNITS_AT_ONCE == 0) {
		end_reader(a);
		a->reader = fork();
		if (!a->reader)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!a->reader && getppid() != a->self)
			_exit(1);
	}
	return a->reader <= 0; /* negative: there can be no child */
}

static void __attribute__((noreturn)) run_process(int fd, struct gt_debug_files *where,
	const struct gt_library_files *files, const uint64_t *addresses, size_t n)
{
	struct answer a = { .fd = fd, .self = getpid() };

	int rc = -ENOENT;

	limit_process();
	for (size_t i = 0; i < files->n && rc; i++) {
		rc = gt_debug_lines_read(
			files->path[i], where, addresses, n, begin_unit, put_levels, &a);
		a.failed = a.failed || rc == -EBADMSG;
	}
	end_reader(&a);
	write_answer(&a);
	_exit(a.failed);
}

/* ---- its answer ---- */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Reads until the process ends, or until the time is over: false. */
static bool read_answer(int fd, int64_t until, struct gt_buf *to)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	for (;;) {
		int64_t left = until - now();

		if (left <= 0 || to->len > ANSWER_MAX)
			return false;
		if (poll(&p, 1, (int)(left / 1000000 < 1000 ? left / 1000000 + 1 : 1000)) <= 0)
			continue;
		if (!gt_buf_reserve(to, 65536))
			return false;
		n = read(fd, to->data + to->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		to->len += (size_t)n;
	}
}

static bool take(const uint8_t **at, const uint8_t *end, void *to, size_t n)
{
	if ((size_t)(end - *at) < n)
		return false;
	memcpy(to, *at, n);
	*at += n;
	return true;
}

static size_t take_text(
	struct gt_code_places *p, const uint8_t **at, const uint8_t *end, uint32_t n)
{
	size_t text = p->text.len;

	if (!n || n > TEXT_MAX || (size_t)(end - *at) < n)
		return GT_NO_TEXT;
	gt_buf_add(&p->text, *at, n);
	gt_buf_byte(&p->text, 0);
	*at += n;
	return text;
}

/* Reads one place; false: the rest is missing or damaged. */
static bool take_place(
	struct gt_code_places *p, size_t first, size_t n, const uint8_t **at, const uint8_t *end)
{
	uint32_t from = (uint32_t)p->nlevels;
	struct answer_head head;

	if (!take(at, end, &head, sizeof(head)) || head.index >= n ||
		head.nlevels > GT_CODE_LEVELS ||
		gt_grow(&p->levels, &p->levels_cap, p->nlevels + head.nlevels, sizeof(*p->levels)))
		return false;
	for (uint32_t i = 0; i < head.nlevels; i++) {
		struct gt_place_level *l = &p->levels[p->nlevels++];
		struct level_head h;

		if (!take(at, end, &h, sizeof(h)) ||
			(uint64_t)h.nfunction + h.nfile > (size_t)(end - *at))
			return false;
		l->line = h.line;
		l->function = take_text(p, at, end, h.nfunction);
		l->file = take_text(p, at, end, h.nfile);
	}
	p->list[first + head.index].first = from;
	p->list[first + head.index].n = head.nlevels;
	return true;
}

static enum gt_lines_state read_lines(struct gt_code_places *p, struct gt_debug_files *where,
	const struct gt_library_files *files, const uint64_t *addresses, size_t first, size_t n,
	int64_t ns)
{
	struct gt_buf answer = { 0 };
	const uint8_t *at;
	int pipes[2], status = 0;
	bool whole;
	pid_t pid;

	if (ns < SHORTEST_NS)
		return GT_LINES_LATE;
	if (pipe2(pipes, O_CLOEXEC))
		return GT_LINES_BAD;
	pid = fork();
	if (!pid)
		run_process(pipes[1], where, files, addresses, n);
	close(pipes[1]);
	whole = pid > 0 && read_answer(pipes[0], now() + ns, &answer);
	close(pipes[0]);
	if (pid > 0) {
		if (!whole)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	at = answer.data;
	while (answer.len && take_place(p, first, n, &at, answer.data + answer.len))
		;
	gt_buf_release(&answer);
	return pid < 0 || (whole && status) ? GT_LINES_BAD : whole ? GT_LINES_READ : GT_LINES_LATE;
}

/* ---- places ---- */

static int compare(const void *a, const void *b)
{
	const struct gt_code_place *x = a, *y = b;

	return GT_COMPARE(x->offset, y->offset);
}

/* Appends the places with their symbols. */
static int read_symbols(struct gt_code_places *p, const struct gt_library_files *files,
	const uint64_t *offsets, size_t n)
{
	struct gt_elf_symbols symbols;
	int rc = gt_elf_symbols_open(&symbols, (const char *const *)files->path, files->n);

	for (size_t i = 0; i < n && rc != -ENOMEM; i++) {
		/* symbols is empty if no file can be read */
		const char *name = gt_elf_symbols_find(&symbols, offsets[i] - 1);
		struct gt_code_place new = { .offset = offsets[i], .symbol = GT_NO_TEXT };

		if (name) {
			new.symbol = p->text.len;
			gt_buf_add(&p->text, name, strlen(name) + 1);
		}
		p->list[p->n++] = new;
	}
	gt_elf_symbols_close(&symbols);
	return rc == -ENOMEM ? rc : 0;
}

int gt_code_places_read(struct gt_code_places *p, struct gt_debug_files *where,
	const struct gt_library_files *files, const uint64_t *offsets, size_t n, int64_t lines_ns,
	enum gt_lines_state *state)
{
	uint64_t *addresses = calloc(n + 1, sizeof(*addresses));
	size_t first = p->n;
	int rc = addresses ? gt_grow(&p->list, &p->cap, p->n + n, sizeof(*p->list)) : -ENOMEM;

	*state = GT_LINES_READ;
	for (size_t i = 0; addresses && i < n; i++)
		addresses[i] = offsets[i] - 1;
	if (!rc)
		rc = read_symbols(p, files, offsets, n);
	if (!rc && files->n && n && lines_ns > 0)
		*state = read_lines(p, where, files, addresses, first, n, lines_ns);
	free(addresses);
	if (p->n)
		GT_SORT(p->list, p->n, compare);
	return rc ? rc : p->text.failed ? -ENOMEM : 0;
}

const struct gt_code_place *gt_code_places_find(const struct gt_code_places *p, uint64_t offset)
{
	size_t i = GT_LOWER_BOUND(k, 0, p->n, p->list[k].offset < offset);

	return i < p->n && p->list[i].offset == offset ? &p->list[i] : NULL;
}

void gt_code_places_release(struct gt_code_places *p)
{
	free(p->list);
	free(p->levels);
	gt_buf_release(&p->text);
	*p = (struct gt_code_places){ .n = 0 };
}
