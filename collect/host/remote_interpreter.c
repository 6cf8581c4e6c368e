#define _GNU_SOURCE
#include "collect/host/remote_interpreter.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "collect/ipc/process_maps.h"
#include "formats/symbols/elf_symbols.h"

#define RUNTIME_MAX 4096 /* bytes of _PyRuntime that a layout is chosen by */

enum place { RUNTIME, CODE_TYPE, TEXT_TYPE, BYTES_TYPE, EVAL, VERSION, PLACES };
static const char *const names[PLACES] = { "_PyRuntime", "PyCode_Type", "PyUnicode_Type",
	"PyBytes_Type", "_PyEval_EvalFrameDefault", "Py_Version" };

struct search {
	uint32_t tgid, version;
	char program[PATH_MAX];
	struct gt_elf_place at[PLACES]; /* addresses in the process */
};

int gt_read_process(uint32_t tgid, uint64_t address, void *to, size_t n)
{
	const struct iovec local = { to, n }, remote = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv((pid_t)tgid, &local, 1, &remote, 1, 0);

	return got < 0 ? -errno : (size_t)got == n ? 0 : -EFAULT;
}

size_t gt_read_process_part(uint32_t tgid, uint64_t address, void *to, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct iovec local = { to, n }, remote[64];
	size_t count = 0, left = n;
	ssize_t got;

	for (; left && count < sizeof(remote) / sizeof(*remote); count++) {
		size_t part = page - address % page;

		part = part < left ? part : left;
		remote[count] = (struct iovec){ (void *)(uintptr_t)address, part };
		address += part;
		left -= part;
	}
	got = process_vm_readv((pid_t)tgid, &local, 1, remote, count, 0);
	return got > 0 ? (size_t)got : 0;
}

/* A program may have copies of a library's data, which then all use: it comes first. */
static void add_file(struct search *s, const struct gt_mapping *m, bool is_program)
{
	struct gt_elf_place places[PLACES];
	struct gt_elf_mapping mapping;
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "/proc/%u/root%s", s->tgid, m->name);
	for (unsigned i = 0; i < PLACES; i++)
		places[i].name = names[i];
	if (gt_elf_mapping(path, m->offset, &mapping) || gt_elf_places(path, places, PLACES))
		return;
	for (unsigned i = 0; i < PLACES; i++)
		if (places[i].at && (is_program || !s->at[i].at))
			s->at[i] = (struct gt_elf_place){ names[i],
				places[i].at + m->from - mapping.address, places[i].size };
}

/* "libpython3.9.so.1.0", "python3.10": the version, as Py_Version has it; else 0. */
static uint32_t version_of_name(const char *name)
{
	const char *p = strstr(name, "python3.");
	uint32_t minor = p ? (uint32_t)atoi(p + strlen("python3.")) : 0;

	return minor && minor < 256 ? 0x030000f0 | minor << 16 : 0;
}

/* Extension modules have "cpython" in their names. */
bool gt_is_python_file(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && (!strncmp(base, "/libpython", 10) || !strncmp(base, "/python", 7));
}

static int look_at(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	struct search *s = arg;
	const char *base = strrchr(m->name, '/');
	bool is_program;

	if (*m->name != '/' || m->flags[2] != 'x')
		return 0;
	is_program = !strcmp(m->name, s->program);
	if (!is_program && !gt_is_python_file(m->name))
		return 0;
	add_file(s, m, is_program);
	if (!s->version)
		s->version = version_of_name(base);
	return 0;
}

static uint32_t version_of(const struct search *s)
{
	uint64_t number = 0;

	if (s->at[VERSION].at && !gt_read_process(s->tgid, s->at[VERSION].at, &number, 8))
		return (uint32_t)number;
	return s->version;
}

bool gt_remote_interpreter_find(uint32_t tgid, struct gt_remote_interpreter *in)
{
	struct search s = { .tgid = tgid };
	struct gt_err err = GT_ERR_INIT;
	uint8_t runtime[RUNTIME_MAX];
	char link[32];
	size_t n;

	snprintf(link, sizeof(link), "/proc/%u/exe", tgid);
	if (readlink(link, s.program, sizeof(s.program) - 1) < 0 ||
		gt_mappings_each((pid_t)tgid, look_at, &s, &err))
		return false;
	for (unsigned i = 0; i < EVAL; i++)
		if (!s.at[i].at)
			return false;
	n = s.at[RUNTIME].size < sizeof(runtime) ? s.at[RUNTIME].size : sizeof(runtime);
	if (gt_read_process(tgid, s.at[RUNTIME].at, runtime, n))
		return false;
	*in = (struct gt_remote_interpreter){ .runtime = s.at[RUNTIME].at,
		.code_type = s.at[CODE_TYPE].at,
		.text_type = s.at[TEXT_TYPE].at,
		.bytes_type = s.at[BYTES_TYPE].at,
		.eval_low = s.at[EVAL].at,
		.eval_high = s.at[EVAL].at + s.at[EVAL].size };
	return gt_python_layout(version_of(&s), runtime, s.at[RUNTIME].size, &in->layout);
}
