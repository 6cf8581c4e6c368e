/* Code that processes have mapped, and where a mapping of a file lies. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "collect/host/code_maps.h"
#include "collect/host/remote_interpreter.h"
#include "collect/host/remote_python.h"
#include "collect/ipc/process_maps.h"
#include "formats/symbols/elf_symbols.h"
#include "tests/unit/t.h"

static void add(
	struct gt_code_maps *m, uint32_t tgid, uint64_t low, uint64_t high, const char *path)
{
	gt_code_maps_add(m, tgid, &(struct gt_mapped_code){ .low = low, .high = high }, path);
}

/* The path of what is mapped there, or "". */
static const char *at(struct gt_code_maps *m, uint32_t tgid, uint64_t address)
{
	const struct gt_mapped_code *code = gt_code_maps_find(m, tgid, address);

	return code ? m->files[code->file] : "";
}

static void mapped_code(void)
{
	struct gt_code_maps m = { 0 };

	CHECK_STR(at(&m, 1, 100), "");
	add(&m, 1, 100, 200, "/a");
	add(&m, 1, 300, 400, "/b");
	add(&m, 2, 100, 200, "/b");
	CHECK_STR(at(&m, 1, 100), "/a");
	CHECK_STR(at(&m, 1, 199), "/a");
	CHECK_STR(at(&m, 1, 200), "");
	CHECK_STR(at(&m, 2, 150), "/b");
	CHECK_EQ(m.nfiles, 2);
	/* a later mapping replaces those that it covers, and hides parts of others */
	add(&m, 1, 50, 250, "/c");
	CHECK_STR(at(&m, 1, 150), "/c");
	CHECK_EQ(m.processes[0].n, 2);
	add(&m, 1, 390, 500, "/d");
	CHECK_STR(at(&m, 1, 395), "/d");
	CHECK_STR(at(&m, 1, 389), "/b");
	/* a child has what its parent had, and not what follows */
	gt_code_maps_fork(&m, 1, 3);
	add(&m, 1, 1000, 1100, "/e");
	CHECK_STR(at(&m, 3, 150), "/c");
	CHECK_STR(at(&m, 3, 1000), "");
	gt_code_maps_fork(&m, 77, 78);
	CHECK_STR(at(&m, 78, 150), "");
	/* code stays until the last thread has ended */
	gt_code_maps_add_thread(&m, 1);
	gt_code_maps_add_thread(&m, 1);
	CHECK(!gt_code_maps_end_thread(&m, 1));
	CHECK(!gt_code_maps_end_thread(&m, 1));
	CHECK(gt_code_maps_end_thread(&m, 1));
	CHECK(gt_code_maps_end_thread(&m, 78));
	CHECK(gt_code_maps_end_thread(&m, 79));
	gt_code_maps_forget(&m, 1);
	CHECK_STR(at(&m, 1, 150), "");
	CHECK_STR(at(&m, 3, 150), "/c");
	gt_code_maps_forget(&m, 1);
	gt_code_maps_release(&m);
}

static void interpreters_have_names(void)
{
	CHECK(gt_is_python_file("/usr/bin/python3.11"));
	CHECK(gt_is_python_file("/opt/conda/lib/libpython3.12.so.1.0"));
	CHECK(!gt_is_python_file(
		"/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so"));
	CHECK(!gt_is_python_file("//anon"));
	CHECK(!gt_is_python_file("[vdso]"));
}

struct library {
	uint64_t from, offset;
	char path[4096];
};

static int find_libc(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	struct library *l = arg;

	if (!strstr(m->name, "/libc.so") || m->flags[2] != 'x')
		return 0;
	l->from = m->from;
	l->offset = m->offset;
	snprintf(l->path, sizeof(l->path), "%s", m->name);
	return 1;
}

static void places_of_a_mapped_file(void)
{
	struct gt_elf_place places[] = { { .name = "getppid" }, { .name = "no_such_function" },
		{ .name = "environ" } };
	struct gt_err err = GT_ERR_INIT;
	struct gt_elf_mapping m;
	struct library l = { 0 };

	CHECK_EQ(gt_mappings_each(getpid(), find_libc, &l, &err), 1);
	CHECK_EQ(gt_elf_mapping(l.path, l.offset, &m), 0);
	CHECK(m.nbuild_id > 0);
	CHECK_EQ(gt_elf_places(l.path, places, 3), 0);
	CHECK_EQ(l.from - m.address + places[0].at,
		(uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "getppid"));
	CHECK_EQ(places[1].at, 0);
	CHECK(places[2].at && places[2].size == sizeof(void *));
	CHECK(gt_elf_mapping("/nonexistent", 0, &m) < 0);
	CHECK(gt_elf_places("/dev/null", places, 3) < 0);
	CHECK_EQ(places[0].at, 0);
}

/* Processes without an interpreter, and none at all. */
static void no_python(void)
{
	struct gt_remote_python *p = gt_remote_python_new();
	struct gt_remote_stack *s = malloc(sizeof(*s));

	CHECK(p && s);
	for (int i = 0; i < 100; i++) {
		gt_remote_python_stack(p, (uint32_t)getpid(), (uint32_t)gettid(), s);
		CHECK(!s->n && !s->inner_cut && !s->outer_cut && !s->eval_low);
		gt_remote_python_stack(p, 0x7fffffff, 1, s);
		CHECK_EQ(s->n, 0);
	}
	gt_remote_python_forget(p, (uint32_t)getpid(), 1);
	gt_remote_python_release(p, 1);
	gt_remote_python_free(p);
	free(s);
}

T_MAIN(T(mapped_code), T(interpreters_have_names), T(places_of_a_mapped_file), T(no_python))
