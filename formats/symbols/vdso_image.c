#define _GNU_SOURCE
#include "formats/symbols/vdso_image.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char copy[32]; /* its path; empty: there is none */
static uint64_t size;

bool gt_is_vdso(const char *path, size_t len)
{
	static const char *const names[] = { GT_VDSO_NAME, "linux-vdso.so.1" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (len == strlen(names[i]) && !memcmp(path, names[i], len))
			return true;
	return false;
}

/* 0: it is not mapped there. */
static uint64_t mapped_bytes(uint64_t address)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long low, high;
	uint64_t bytes = 0;
	char line[512];

	while (f && !bytes && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx", &low, &high) == 2 && low == address)
			bytes = high - low;
	if (f)
		fclose(f);
	return bytes;
}

static void make_copy(void)
{
	const uint64_t address = getauxval(AT_SYSINFO_EHDR);
	const uint64_t bytes = address ? mapped_bytes(address) : 0;
	const int fd = bytes ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd < 0)
		return;
	if (write(fd, (const void *)(uintptr_t)address, bytes) != (ssize_t)bytes) {
		close(fd);
		return;
	}
	size = bytes;
	snprintf(copy, sizeof(copy), "/proc/self/fd/%d", fd);
}

const char *gt_vdso_path(uint64_t *bytes)
{
	pthread_once(&once, make_copy);
	*bytes = size;
	return *copy ? copy : NULL;
}
