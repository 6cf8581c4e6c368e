/* Arbitrary bytes as a file with USDT notes and with functions, and as the arguments of a probe.
 * What is found must lie in the file, and no value may be read from a register that does not exist.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/symbols/elf_file.h"
#include "collect/bpf/links/mapped_library.h"
#include "collect/bpf/usdt/usdt_arguments.h"
#include "collect/bpf/usdt/usdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int any(void *arg, const char *provider, const char *name)
{
	(void)arg;
	return strlen(provider) + strlen(name) > 0;
}

static void check_arguments(const char *text, uint16_t machine)
{
	const unsigned last = machine == EM_AARCH64 ? 31 : 16; /* register */
	struct gt_bpf_usdt_site site = { 0 };
	char bad[64];

	gt_usdt_arguments_parse(text, machine, &site, bad);
	if (site.fields.n > GT_PROBE_VALUES || site.fields.texts > GT_BPF_PROBE_TEXTS)
		abort();
	for (unsigned i = 0; i < site.fields.n; i++) {
		const struct gt_bpf_usdt_argument *a = &site.arguments[i];

		if ((a->base > last && a->base != GT_BPF_NO_REGISTER) ||
			(a->index > last && a->index != GT_BPF_NO_REGISTER) || a->scale > 3 ||
			a->bits > 64)
			abort();
	}
}

static void check_functions(int fd)
{
	struct gt_library_functions f;
	struct gt_err err = GT_ERR_INIT;

	gt_library_functions_read(&f, fd, "fuzz", "*", true, &err);
	for (size_t i = 0; i < f.n; i++)
		if (strlen(f.list[i].name) >= GT_ELF_NAME)
			abort();
	gt_library_functions_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz_usdt", MFD_CLOEXEC);
	struct gt_err err = GT_ERR_INIT;
	struct gt_usdt_sites sites;
	char *text = malloc(size + 1);

	if (fd < 0 || !text || write(fd, data, size) != (ssize_t)size)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	check_arguments(text, EM_X86_64);
	check_arguments(text, EM_AARCH64);
	gt_usdt_sites_read(&sites, fd, any, NULL, &err);
	for (size_t i = 0; i < sites.n; i++)
		check_arguments(sites.list[i].arguments, sites.list[i].machine);
	gt_usdt_sites_release(&sites);
	check_functions(fd);
	free(text);
	close(fd);
	return 0;
}
