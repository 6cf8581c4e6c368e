/* no_memory.sh preloads this; it acts in the program that FAIL_IN names. FAIL_LIST=FILE: the number
 * of the first allocation of each call stack is written to FILE, one a line. FAIL_AT=N: the N-th
 * allocation fails. Allocations of the program and of its libraries count. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 14 /* of a stack */
#define STACKS (1 << 16)

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static uint64_t stacks[STACKS];
static unsigned long count, at;
static int list = -1;
static __thread bool inside;

static bool is_new(uint64_t hash)
{
	for (uint64_t i = hash % STACKS;; i = (i + 1) % STACKS) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(
			    &stacks[i], &none, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
		if (none == hash)
			return false;
	}
}

static void note_stack(unsigned long number)
{
	uint64_t hash = 1469598103934665603u;
	void *frames[DEPTH + 2];
	int n;

	inside = true;
	n = backtrace(frames, DEPTH + 2);
	for (int i = 2; i < n; i++)
		hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 1099511628211u;
	if (is_new(hash | 1))
		dprintf(list, "%lu\n", number);
	inside = false;
}

static bool fails(void)
{
	unsigned long number;

	if ((list < 0 && !at) || inside)
		return false;
	number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	if (list >= 0)
		note_stack(number);
	if (!at || number != at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { return fails() ? NULL : __libc_calloc(n, bytes); }
void *realloc(void *old, size_t bytes) { return fails() ? NULL : __libc_realloc(old, bytes); }

__attribute__((constructor)) static void start(void)
{
	const char *in = getenv("FAIL_IN"), *file = getenv("FAIL_LIST"),
		   *number = getenv("FAIL_AT");
	void *frames[4];

	if (!in || strcmp(in, program_invocation_short_name))
		return;
	inside = true;
	backtrace(frames, 4); /* the first one allocates */
	if (file)
		list = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	at = number ? strtoul(number, NULL, 10) : 0;
	inside = false;
}
