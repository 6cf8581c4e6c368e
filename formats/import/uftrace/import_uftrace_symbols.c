/* From addresses to functions: sid-ID.map has the modules of a session, as /proc/PID/maps, and
 * NAME.sym the functions of a module, by their distance from its start. A module's symbols are read
 * when the first address in it occurs. */
#define _GNU_SOURCE
#include "formats/import/uftrace/import_uftrace.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/sorted.h"
#include "formats/names/stack_names.h"

#define MAPPINGS_MAX (1u << 20)
#define MODULES_MAX (1u << 14)
#define FILES_MAX (1u << 14)
#define SYMBOLS_MAX (1u << 21) /* 32 MiB */
#define TEXTS_MAX (64u << 20)  /* bytes of their names */
#define CACHED (1u << 14)
#define PARENTS_MAX 64u

static int no_memory(const struct gt_uftrace *u)
{
	return gt_err_set(u->err, -ENOMEM, "out of memory (import of uftrace's folder)");
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- modules and mappings ---- */

static bool has_path(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !strcmp(((const struct gt_uftrace *)arg)->modules[value].path, key);
}

uint32_t gt_uftrace_module(struct gt_uftrace *u, const char *path)
{
	struct gt_uftrace_module m = { .domain = GT_NONE };
	uint64_t hash = gt_hash(path, strlen(path));
	uint32_t found = gt_map_get(&u->module_map, hash, has_path, u, path, strlen(path));

	if (found != GT_NONE)
		return found;
	if (u->nmodules == MODULES_MAX ||
		gt_grow(&u->modules, &u->modules_cap, u->nmodules + 1, sizeof(m)))
		return GT_UFTRACE_NONE;
	m.path = strdup(path);
	m.domain = gt_writer_string(u->w, last_part(path));
	if (!m.path || m.domain == GT_NONE ||
		gt_map_add(&u->module_map, hash, (uint32_t)u->nmodules)) {
		free(m.path);
		return GT_UFTRACE_NONE;
	}
	u->modules[u->nmodules] = m;
	return (uint32_t)u->nmodules++;
}

/* "56089ba26000-56089ba2b000 r-xp 00000000 00:00 0    /tmp/program build-id:0e32f8" */
static int on_mapping(struct gt_uftrace *u, const char *line, void *arg)
{
	struct gt_uftrace_mapping m;
	const char *path = strchr(line, '/');
	char copy[4096], *build_id;
	int n = 0;

	if (sscanf(line, "%16" SCNx64 "-%16" SCNx64 " %n", &m.start, &m.end, &n) != 2 || !n)
		return gt_err_set(u->err, -EILSEQ, "not a mapping");
	if (!path)
		return 0; /* [stack] */
	snprintf(copy, sizeof(copy), "%s", path);
	build_id = strstr(copy, " build-id:");
	if (build_id)
		*build_id = 0;
	m.module = gt_uftrace_module(u, copy);
	if (u->nmappings == MAPPINGS_MAX || m.module == GT_UFTRACE_NONE)
		return gt_err_set(u->err, -E2BIG, "too many mappings");
	if (gt_grow(&u->mappings, &u->mappings_cap, u->nmappings + 1, sizeof(m)))
		return no_memory(u);
	u->mappings[u->nmappings++] = m;
	return 0;
}

static int by_start(const void *pa, const void *pb)
{
	const struct gt_uftrace_mapping *a = pa, *b = pb;

	return GT_COMPARE(a->start, b->start);
}

int gt_uftrace_read_map(struct gt_uftrace *u, struct gt_uftrace_session *s)
{
	char name[48];
	int e;

	snprintf(name, sizeof(name), "sid-%s.map", s->id);
	s->first = u->nmappings;
	e = gt_uftrace_lines(u, name, on_mapping, NULL);
	s->end = u->nmappings;
	if (s->end > s->first)
		qsort(u->mappings + s->first, s->end - s->first, sizeof(*u->mappings), by_start);
	return e == -ENOENT ? gt_err_set(u->err, e, "%s is missing", name) : e;
}

/* ---- files of symbols ---- */

/* Reads the path from the head of a file: "# path name: /usr/lib/libc.so.6". */
static int on_head(struct gt_uftrace *u, const char *line, void *arg)
{
	static const char key[] = "# path name: ";
	struct gt_uftrace_file *f = arg;

	if (*line != '#')
		return 1;
	if (strncmp(line, key, sizeof(key) - 1) || f->path)
		return 0;
	f->path = strdup(line + sizeof(key) - 1);
	return f->path ? 0 : no_memory(u);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

static int add_file(struct gt_uftrace *u, const char *name)
{
	struct gt_uftrace_file f = { 0 };
	int e;

	u->kernel_files += !strncmp(name, "kernel-cpu", 10);
	if (!ends_with(name, ".sym"))
		return 0;
	if (u->nfiles == FILES_MAX)
		return gt_err_set(u->err, -E2BIG, "more than %u files of symbols", FILES_MAX);
	if (gt_grow(&u->files, &u->files_cap, u->nfiles + 1, sizeof(f)) || !(f.name = strdup(name)))
		return no_memory(u);
	e = gt_uftrace_lines(u, name, on_head, &f);
	u->files[u->nfiles++] = f;
	return e;
}

int gt_uftrace_list_files(struct gt_uftrace *u)
{
	int fd = openat(u->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), e = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *one;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return gt_err_set(u->err, -EIO, "cannot list the folder");
	}
	while (!e && (one = readdir(d)))
		e = add_file(u, one->d_name);
	closedir(d);
	return e;
}

/* The file of a module: the one with its path, or else (of early versions) with its name. */
static const char *file_of(const struct gt_uftrace *u, const struct gt_uftrace_module *m)
{
	const char *by_name = NULL, *name = last_part(m->path);
	size_t n = strlen(name);

	for (size_t i = 0; i < u->nfiles; i++) {
		const struct gt_uftrace_file *f = &u->files[i];

		if (f->path && !strcmp(f->path, m->path))
			return f->name;
		if (!f->path && !strncmp(f->name, name, n) && !strcmp(f->name + n, ".sym"))
			by_name = f->name;
	}
	return by_name;
}

/* "0000000000001070 T main"; a later version has the size of the symbol before its type. */
static int on_symbol(struct gt_uftrace *u, const char *line, void *arg)
{
	struct gt_uftrace_symbol s;
	char *end;
	const char *p;
	bool marker;

	if (*line == '#' || !*line)
		return 0;
	s.at = strtoull(line, &end, 16);
	p = end;
	if (end == line || *p != ' ')
		return gt_err_set(u->err, -EILSEQ, "not a symbol");
	if (p[1] && p[2] && p[2] != ' ')
		p += 1 + strcspn(p + 1, " ");
	if (*p != ' ' || !p[1] || p[2] != ' ' || !p[3])
		return gt_err_set(u->err, -EILSEQ, "not a symbol");
	marker = p[1] == '?';
	if (u->nsymbols == SYMBOLS_MAX || u->texts.len > TEXTS_MAX)
		return gt_err_set(u->err, -E2BIG, "more than %u symbols, or %u MiB of names",
			SYMBOLS_MAX, TEXTS_MAX >> 20);
	s.name = marker ? SIZE_MAX : u->texts.len;
	if (!marker)
		gt_buf_add(&u->texts, p + 3, strlen(p + 3) + 1);
	if (u->texts.failed || gt_grow(&u->symbols, &u->symbols_cap, u->nsymbols + 1, sizeof(s)))
		return no_memory(u);
	u->symbols[u->nsymbols++] = s;
	return 0;
}

/* Of symbols at one address the end of a section comes first, so that a function there counts. */
static int by_address(const void *pa, const void *pb)
{
	const struct gt_uftrace_symbol *a = pa, *b = pb;

	return GT_COMPARE(a->at, b->at) ?: GT_COMPARE(b->name, a->name);
}

static int load(struct gt_uftrace *u, struct gt_uftrace_module *m)
{
	const char *file = m->loaded ? NULL : file_of(u, m);
	int e = 0;

	if (m->loaded)
		return 0;
	m->loaded = true;
	m->first = u->nsymbols;
	e = file ? gt_uftrace_lines(u, file, on_symbol, NULL) : 0;
	m->end = u->nsymbols;
	if (m->end > m->first)
		qsort(u->symbols + m->first, m->end - m->first, sizeof(*u->symbols), by_address);
	return e;
}

/* The name of the function at this distance from the start of a module. NULL: unknown. */
static const char *find_symbol(
	const struct gt_uftrace *u, const struct gt_uftrace_module *m, uint64_t at)
{
	size_t low = m->first, high = m->end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->symbols[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low > m->first && u->symbols[low - 1].name != SIZE_MAX
		? (const char *)u->texts.data + u->symbols[low - 1].name
		: NULL;
}

/* ---- sessions ---- */

/* The latest session of a process up to a time. */
static uint32_t latest_session(const struct gt_uftrace *u, int64_t pid, int64_t time)
{
	uint32_t best = GT_UFTRACE_NONE;

	for (size_t i = 0; i < u->nsessions; i++)
		if (u->sessions[i].pid == pid && u->sessions[i].start <= time)
			best = (uint32_t)i;
	return best;
}

uint32_t gt_uftrace_session_at(
	const struct gt_uftrace *u, const struct gt_uftrace_task *t, int64_t time)
{
	for (unsigned n = 0; t && n < PARENTS_MAX; n++) {
		uint32_t found = latest_session(u, t->pid, time), i;
		int64_t leader = t->pid;

		if (found != GT_UFTRACE_NONE)
			return found;
		if (!t->parent && t->tid != leader) { /* a thread of a forked process */
			i = gt_map_find_item(
				&u->task_map, u->tasks, sizeof(*t), &leader, sizeof(leader));
			t = i == GT_NONE ? NULL : &u->tasks[i];
		}
		if (!t || !t->parent)
			return GT_UFTRACE_NONE;
		time = t->start < time ? t->start : time; /* it has what its parent had then */
		i = gt_map_find_item(
			&u->task_map, u->tasks, sizeof(*t), &t->parent, sizeof(t->parent));
		t = i == GT_NONE ? NULL : &u->tasks[i];
	}
	return GT_UFTRACE_NONE;
}

/* The number of libraries that were opened up to a time. */
static uint32_t opened_until(const struct gt_uftrace *u, int64_t time)
{
	size_t low = 0, high = u->nopened;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->opened[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static const struct gt_uftrace_mapping *find_mapping(
	const struct gt_uftrace *u, uint32_t session, uint64_t address, int64_t time)
{
	const struct gt_uftrace_mapping *best = NULL;

	size_t low, high;

	if (session >= u->nsessions)
		return NULL;
	low = u->sessions[session].first;
	high = u->sessions[session].end;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (u->mappings[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > u->sessions[session].first && address < u->mappings[low - 1].end)
		return &u->mappings[low - 1];
	/* the end of an opened library is unknown: the nearest one below counts */
	for (size_t i = 0, n = opened_until(u, time); i < n; i++)
		if (u->opened[i].session == session && u->opened[i].mapping.start <= address &&
			(!best || u->opened[i].mapping.start > best->start))
			best = &u->opened[i].mapping;
	return best;
}

bool gt_uftrace_is_code(const struct gt_uftrace *u, uint32_t session, uint64_t address)
{
	return find_mapping(u, session, address, INT64_MAX);
}

/* ---- functions ---- */

static int name_function(struct gt_uftrace *u, const struct gt_uftrace_mapping *m, uint64_t address,
	struct gt_uftrace_function *to)
{
	struct gt_uftrace_module *module = m ? &u->modules[m->module] : NULL;
	int e = module ? load(u, module) : 0;
	const char *symbol = e || !module ? NULL : find_symbol(u, module, address - m->start);
	struct gt_buf text = { 0 };
	int64_t name;

	if (e)
		return e;
	if (symbol)
		gt_put_function_name(&text, symbol);
	else if (module)
		gt_buf_printf(&text, "%s+0x%" PRIx64, last_part(module->path), address - m->start);
	else
		gt_buf_printf(&text, "0x%" PRIx64, address);
	name = text.failed ? no_memory(u)
			   : gt_rows_name(u->rows, (const char *)text.data, text.len,
				     GT_PROFILE_FUNCTION, u->err);
	gt_buf_release(&text);
	if (name < 0)
		return (int)name;
	*to = (struct gt_uftrace_function){ (uint32_t)name, module ? module->domain : GT_NONE };
	return 0;
}

int gt_uftrace_function_at(struct gt_uftrace *u, uint32_t session, uint64_t address, int64_t time,
	struct gt_uftrace_function *to)
{
	struct gt_uftrace_cached *c;
	const struct gt_uftrace_mapping *m;
	int e;

	if (!u->cache && !(u->cache = calloc(CACHED, sizeof(*u->cache))))
		return no_memory(u);
	c = &u->cache[gt_hash_u64(address ^ (uint64_t)session << 48) % CACHED];
	if (session != GT_UFTRACE_NONE && c->address == address && c->session == session + 1 &&
		(c->opened == GT_UFTRACE_NONE || c->opened == opened_until(u, time))) {
		*to = c->function;
		return 0;
	}
	m = find_mapping(u, session, address, time);
	e = name_function(u, m, address, to);
	if (!e && session != GT_UFTRACE_NONE)
		*c = (struct gt_uftrace_cached){ address, session + 1,
			m && m->end ? GT_UFTRACE_NONE : opened_until(u, time), *to };
	return e;
}

void gt_uftrace_release(struct gt_uftrace *u)
{
	for (size_t i = 0; i < u->nmodules; i++)
		free(u->modules[i].path);
	for (size_t i = 0; i < u->nfiles; i++) {
		free(u->files[i].name);
		free(u->files[i].path);
	}
	gt_map_release(&u->task_map);
	gt_map_release(&u->module_map);
	gt_buf_release(&u->texts);
	free(u->tasks);
	free(u->sessions);
	free(u->mappings);
	free(u->opened);
	free(u->modules);
	free(u->files);
	free(u->symbols);
	free(u->cache);
	free(u->command);
}
