/* Cost of recording a call in a program that, between its calls, uses more code and data than the
 * first-level caches hold, as real programs do; and the share of the two clock reads. Runs under
 * gtcollect; needs no GPU.
 *
 * Between two calls of cuCtxGetDevice run BETWEEN of 4096 functions, each on cache lines of its own
 * and some with a locked instruction. Four ways of calling alternate every 20 calls: the driver's
 * function itself (its address is read from the driver's symbol table, which no preloaded library
 * intercepts), the same through an empty function, through a function that reads the clock twice,
 * and through the linked symbol, which is gt's wrapper. Prints medians of the differences to the
 * first. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "formats/arch/arch.h"

#define FUNCTIONS 4096
#define BETWEEN 300
#define CALLS 20
#define ROUNDS 3000

typedef int get_device(int *);
int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int),
	cuCtxSetCurrent(void *), cuCtxGetDevice(int *);

static uint64_t data[FUNCTIONS][8];
#define ALONE __attribute__((noinline, aligned(64)))
#define BODY(name, n)                                                                              \
	static ALONE uint64_t f##name(uint64_t x)                                                  \
	{                                                                                          \
		uint64_t *p = data[(n)*5 % FUNCTIONS];                                             \
                                                                                                   \
		x ^= *p * ((n)*7919 + 13);                                                         \
		*p += x;                                                                           \
		if ((n) % 4 == 0)                                                                  \
			__atomic_fetch_add(p + 1, x, __ATOMIC_SEQ_CST);                            \
		return (x ^ x >> 29) * 0x9e3779b97f4a7c15;                                         \
	}
#define DEFINE(name) BODY(name, __COUNTER__)
#define LIST(name) f##name,
#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define F16(X, n) FOUR(X, n##0) FOUR(X, n##1) FOUR(X, n##2) FOUR(X, n##3)
#define F64(X, n) F16(X, n##0) F16(X, n##1) F16(X, n##2) F16(X, n##3)
#define F256(X, n) F64(X, n##0) F64(X, n##1) F64(X, n##2) F64(X, n##3)
#define F1024(X, n) F256(X, n##0) F256(X, n##1) F256(X, n##2) F256(X, n##3)
#define F4096(X) F1024(X, 0) F1024(X, 1) F1024(X, 2) F1024(X, 3)
F4096(DEFINE)
static uint64_t (*const functions[])(uint64_t) = { F4096(LIST) };

static get_device *real;
static volatile uint64_t start, end;
static ALONE int through(int *d)
{
	start = 1;
	int ret = real(d);
	end = 1;
	return ret;
}
static ALONE int timed(int *d)
{
	start = gt_ticks();
	int ret = real(d);
	end = gt_ticks();
	return ret;
}

/* cuCtxGetDevice in the symbol table of libcuda. */
static int find(struct dl_phdr_info *o, size_t size, void *unused)
{
	const ElfW(Dyn) *d = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;

	for (int i = 0; strstr(o->dlpi_name, "libcuda.so") && i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const void *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = (const void *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			names = (const void *)d->d_un.d_ptr;
	}
	/* the names are after the symbols */
	for (uint32_t i = 1; symbols && (const char *)&symbols[i] < names; i++)
		if (!strcmp(names + symbols[i].st_name, "cuCtxGetDevice"))
			real = (get_device *)(o->dlpi_addr + symbols[i].st_value);
	return real != NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v)
{
	qsort(v, ROUNDS, sizeof(*v), by_value);
	return v[ROUNDS / 2];
}

static double turn(get_device *volatile *way, unsigned between, unsigned *at, uint64_t *x)
{
	double from = now();
	int device;

	for (unsigned i = 0; i < CALLS; i++) {
		for (unsigned k = 0; k < between; k++, *at = (*at + 1669) % FUNCTIONS)
			*x = functions[*at](*x);
		(*way)(&device);
	}
	return (now() - from) / CALLS;
}

static uint64_t measure(const char *name, unsigned between)
{
	static double took[4][ROUNDS];
	get_device *volatile ways[] = { real, through, timed, cuCtxGetDevice };
	unsigned at = 0;
	uint64_t x = 1;

	for (unsigned r = 0; r < ROUNDS; r++)
		for (unsigned w = 0; w < 4; w++)
			took[(w + r) % 4][r] = turn(&ways[(w + r) % 4], between, &at, &x);
	for (unsigned w = 1; w < 4; w++)
		for (unsigned r = 0; r < ROUNDS; r++)
			took[w][r] -= took[0][r];
	printf("%s_one_more_call_ns %.1f ns\n%s_two_clock_reads_ns %.1f ns\n%s_recorded_ns %.1f ns\n",
		name, median(took[1]), name, median(took[2]), name, median(took[3]));
	return x;
}

int main(void)
{
	void *context;
	int device;

	cuInit(0);
	cuDeviceGet(&device, 0);
	cuDevicePrimaryCtxRetain(&context, device);
	cuCtxSetCurrent(context);
	dl_iterate_phdr(find, NULL);
	if (!real || cuCtxGetDevice(&device))
		return 1;
	return measure("warm", 0) + measure("cold", BETWEEN) == 42;
}
