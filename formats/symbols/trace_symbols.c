#include "formats/symbols/trace_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/sorted.h"
#include "formats/symbols/frame_places.h"
#include "formats/text/printable.h"
#include "formats/trace/clock.h"
#include "formats/trace/read/added_names.h"

#define LINES_NS 120000000000ll /* for all lines */
#define LIBRARIES_MAX 4096u     /* further ones are not looked up */
#define NAMES_SHOWN 3           /* in a message */

/* A library of a trace, with the places that were read so far. */
struct library {
	char *path;
	struct gt_module module;
	struct gt_library_files files;
	struct gt_code_places places;
	enum gt_lines_state lines;
};
/* Readers may be opened on several threads. */
static struct {
	pthread_mutex_t lock;
	struct gt_debug_files files;
	struct library *libraries;
	size_t n, cap;
	struct gt_map map;
	int64_t lines_ns; /* spent */
} symbols = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- libraries ---- */

struct library_key {
	const char *path;
	const struct gt_module *module;
};

static bool same_library(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct library *l = &symbols.libraries[value];
	const struct library_key *k = key;

	return l->module.nid == k->module->nid &&
		!memcmp(l->module.id, k->module->id, l->module.nid) && !strcmp(l->path, k->path);
}

/* NULL: no memory, or there are too many. Valid until the next one is added. */
static struct library *library_of(const char *path, const struct gt_module *m)
{
	struct library_key key = { path, m };
	uint64_t hash = gt_hash(path, strlen(path)) ^ gt_hash(m->id, m->nid);
	uint32_t i = gt_map_get(&symbols.map, hash, same_library, NULL, &key, 0);
	struct library new = { .module = *m };

	if (i != UINT32_MAX)
		return &symbols.libraries[i];
	if (symbols.n >= LIBRARIES_MAX ||
		gt_grow(&symbols.libraries, &symbols.cap, symbols.n + 1, sizeof(new)) ||
		!(new.path = strdup(path)))
		return NULL;
	if (gt_map_add(&symbols.map, hash, (uint32_t)symbols.n)) {
		free(new.path);
		return NULL;
	}
	gt_debug_files_find(&symbols.files, path, m->id, m->nid, &new.files);
	symbols.libraries[symbols.n] = new;
	return &symbols.libraries[symbols.n++];
}

/* ---- a segment ---- */

/* Its strings, so that the same one is added once; frames of inlined functions likewise. */
struct segment {
	struct gt_seg *seg;
	struct gt_map strings, inlined_map;
	struct inlined {
		struct gt_frame frame; /* the key: all bytes are set, also those between fields */
		uint32_t id;
	} * inlined;
	size_t ninlined, cap;
};

static bool same_string(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !strcmp(gt_str(gt_seg_segment(arg), value), key);
}

static uint32_t add_string(void *to, const char *s)
{
	struct segment *g = to;
	uint64_t hash = gt_hash(s, strlen(s));
	uint32_t id = gt_map_get(&g->strings, hash, same_string, g->seg, s, 0);

	if (id == UINT32_MAX && (id = gt_seg_add_string(g->seg, s)) != GT_NONE)
		gt_map_add(&g->strings, hash, id);
	return id;
}

static int set_frame(void *to, uint32_t text, const struct gt_frame *f)
{
	return gt_seg_set_frame(((struct segment *)to)->seg, text, f);
}

static uint32_t add_inlined_frame(void *to, uint32_t text, const struct gt_frame *f)
{
	struct segment *g = to;
	struct inlined new;
	uint32_t i;

	memset(&new, 0, sizeof(new));
	new.frame.function = f->function;
	new.frame.file = f->file;
	new.frame.module = f->module;
	new.frame.line = f->line;
	new.frame.kind = f->kind;
	i = gt_map_find_item(
		&g->inlined_map, g->inlined, sizeof(new), &new.frame, sizeof(new.frame));
	if (i != UINT32_MAX)
		return g->inlined[i].id;
	new.id = text == GT_NONE ? GT_NONE
				 : gt_seg_add_string(g->seg, gt_str(gt_seg_segment(g->seg), text));
	if (new.id == GT_NONE || gt_seg_set_frame(g->seg, new.id, f) ||
		gt_map_add_item(&g->inlined_map, &g->inlined, &g->ninlined, &g->cap, sizeof(new),
			&new, sizeof(new.frame)) == UINT32_MAX)
		return GT_NONE;
	return new.id;
}

static int set_inlined(void *to, uint32_t text, const uint32_t *frames, uint32_t n)
{
	return gt_seg_set_inlined(((struct segment *)to)->seg, text, frames, n);
}

static size_t list_frames(const struct gt_segment *seg, struct gt_native_frame **list)
{
	size_t n = 0, cap = 0;

	for (uint32_t i = 0; i < seg->nframes; i++) {
		const struct gt_frame *f = &seg->frames[i].frame;

		if (gt_frame_has_unknowns(f) && !gt_grow(list, &cap, n + 1, sizeof(**list)))
			(*list)[n++] = (struct gt_native_frame){ f->module, seg->frames[i].text,
				f->offset, *f };
	}
	gt_native_frames_sort(*list, n);
	return n;
}

static int compare_modules(const void *a, const void *b)
{
	const struct gt_module *x = a, *y = b;

	return GT_COMPARE(x->path, y->path);
}

static void add_library(struct segment *g, const struct gt_frame_sink *sink,
	const struct gt_module *module, const struct gt_native_frame *list, size_t n)
{
	const char *path = gt_str(gt_seg_segment(g->seg), list[0].module);
	struct library *l = library_of(path, module);
	int64_t from = gt_clock_monotonic();
	enum gt_lines_state state;

	if (!l || !l->files.n)
		return;
	/* without time left, the state says that lines are missing */
	gt_native_frames_read(&l->places, &symbols.files, &l->files, list, n,
		symbols.lines_ns < LINES_NS ? LINES_NS - symbols.lines_ns : 1, &state);
	symbols.lines_ns += gt_clock_monotonic() - from;
	if (state != GT_LINES_READ)
		l->lines = state;
	gt_native_frames_describe(sink, &l->places, list, n);
}

static void add_names(struct gt_seg *seg, void *arg)
{
	const struct gt_segment *s = gt_seg_segment(seg);
	struct segment g = { .seg = seg };
	const struct gt_frame_sink sink = { &g, add_string, set_frame, add_inlined_frame,
		set_inlined };
	struct gt_module *modules = calloc(s->nmodules + 1ul, sizeof(*modules));
	struct gt_native_frame *list = NULL;
	size_t n = modules ? list_frames(s, &list) : 0, nmodules = s->nmodules, here;

	if (modules && nmodules)
		memcpy(modules, s->modules, nmodules * sizeof(*modules));
	if (modules)
		GT_SORT(modules, nmodules, compare_modules);
	pthread_mutex_lock(&symbols.lock);
	for (size_t i = 0; i < n; i += here) {
		size_t m = GT_LOWER_BOUND(k, 0, nmodules, modules[k].path < list[i].module);

		here = gt_native_frames_of_module(list + i, n - i);
		if (m < nmodules && modules[m].path == list[i].module)
			add_library(&g, &sink, &modules[m], list + i, here);
	}
	pthread_mutex_unlock(&symbols.lock);
	free(modules);
	free(list);
	free(g.inlined);
	gt_map_release(&g.strings);
	gt_map_release(&g.inlined_map);
}

/* ---- the program ---- */

int gt_trace_symbols_start(const char *const *folders, size_t n, struct gt_err *err)
{
	for (size_t i = 0; i < n; i++) {
		int fd = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return gt_err_set(err, -errno, "--symbols %s: %s", folders[i],
				errno == ENOTDIR ? "this is no folder" : strerror(errno));
		close(fd);
	}
	symbols.files.folders = folders;
	symbols.files.nfolders = n;
	if (n)
		gt_reader_set_names(add_names, NULL);
	return 0;
}

/* What the kernel and compilers map has no file. */
static bool is_missing(const struct library *l)
{
	return l->module.nid && !l->files.n && *l->path == '/';
}
static bool is_replaced(const struct library *l) { return is_missing(l) && l->files.other_build; }
static bool is_not_found(const struct library *l) { return is_missing(l) && !l->files.other_build; }
static bool has_no_id(const struct library *l) { return !l->module.nid && *l->path == '/'; }
static bool has_late_lines(const struct library *l) { return l->lines == GT_LINES_LATE; }
static bool has_bad_lines(const struct library *l) { return l->lines == GT_LINES_BAD; }

/* Prints the libraries of which this is true, with the reason. */
static void report(const char *program, bool (*is)(const struct library *), const char *reason)
{
	struct gt_buf names = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < symbols.n; i++) {
		const struct library *l = &symbols.libraries[i];
		const char *other = l->files.other_build;

		if (!is(l) || n++ >= NAMES_SHOWN)
			continue;
		gt_buf_printf(&names, "%s%s", n > 1 ? ", " : "", l->path);
		if (other && is == is_replaced)
			gt_buf_printf(&names, " (found: %s)", other);
	}
	if (n > NAMES_SHOWN)
		gt_buf_printf(&names, " and %zu more", n - NAMES_SHOWN);
	gt_buf_byte(&names, 0);
	if (n && !names.failed)
		gt_message(stderr, program, "--symbols: %s: %s", reason, (const char *)names.data);
	gt_buf_release(&names);
}

void gt_trace_symbols_report(const char *program)
{
	static const struct {
		bool (*is)(const struct library *);
		const char *reason;
	} reasons[] = {
		{ is_not_found, "no file has the build id of" },
		{ is_replaced, "not used, the file does not have the recorded build id" },
		{ has_no_id, "the recording has no build id, so no file can be chosen, for" },
		{ has_late_lines, "lines are missing, reading took more than 120 s, of" },
		{ has_bad_lines,
			"lines are missing, the debug data are damaged or too large for the memory, of" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		report(program, reasons[i].is, reasons[i].reason);
	if (symbols.files.has_deep_folders)
		gt_message(stderr, program,
			"--symbols: folders below more than %u folders were not searched",
			GT_DEBUG_FOLDER_DEPTH);
	if (symbols.files.is_cut)
		gt_message(stderr, program,
			"--symbols: only the first %u files and folders were searched",
			GT_DEBUG_ENTRIES);
}

void gt_trace_symbols_finish(void)
{
	gt_reader_set_names(NULL, NULL);
	for (size_t i = 0; i < symbols.n; i++) {
		free(symbols.libraries[i].path);
		gt_library_files_release(&symbols.libraries[i].files);
		gt_code_places_release(&symbols.libraries[i].places);
	}
	free(symbols.libraries);
	symbols.libraries = NULL;
	symbols.n = symbols.cap = 0;
	gt_map_release(&symbols.map);
	symbols.map = (struct gt_map){ 0 };
	symbols.lines_ns = 0;
	gt_debug_files_release(&symbols.files);
}
