/* A library for LD_PRELOAD. SMALL_MAP=NAME,ENTRIES: a BPF map of that name gets so many entries. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Replaces the function of the C library. */
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	const char *small = getenv("SMALL_MAP"), *comma = small ? strchr(small, ',') : NULL;
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf && a[0] == BPF_MAP_CREATE && comma) {
		union bpf_attr *attr = (void *)a[1];

		if (strlen(attr->map_name) == (size_t)(comma - small) &&
			!memcmp(attr->map_name, small, (size_t)(comma - small)))
			attr->max_entries = (unsigned)atoi(comma + 1);
	}
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
