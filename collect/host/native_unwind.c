#define _GNU_SOURCE
#include "collect/host/native_unwind.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/base/buf.h"

/* A file, for all processes that have mapped it. */
struct unwind_file {
	struct {
		uint64_t device, inode;
	} key;
	int fd;
	struct gt_elf_cfi *cfi; /* NULL: nothing is known of its functions */
	uint64_t number;        /* no other one has it, also none that was closed */
	uint64_t used;          /* when: a count of uses */
};
struct gt_native_unwinder {
	size_t most; /* files that are open at a time */
	uint64_t opened, uses;
	struct gt_map map;
	struct unwind_file *files;
	size_t n, cap;
};

/* ---- files ---- */

struct gt_native_unwinder *gt_native_unwinder_new(size_t files)
{
	struct gt_native_unwinder *u = calloc(1, sizeof(*u));

	if (u)
		u->most = files;
	return u;
}

static void close_file(struct unwind_file *f)
{
	gt_elf_cfi_close(f->cfi);
	close(f->fd);
}

void gt_native_unwinder_free(struct gt_native_unwinder *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->n; i++)
		close_file(&u->files[i]);
	gt_map_release(&u->map);
	free(u->files);
	free(u);
}

/* Another file may be there by now. Negative: the mapped one is not. */
static int open_mapped(
	const struct gt_native_thread *t, const struct gt_mapped_code *m, struct stat *st)
{
	char there[GT_CODE_PATH];
	int fd = gt_mapped_code_path(t->code, t->tgid, m, there)
		? open(there, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
		: -1;

	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode) &&
		(!m->inode || st->st_ino == m->inode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void close_least_recent(struct gt_native_unwinder *u)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < u->n; i++)
		if (u->files[i].used < u->files[least].used)
			least = i;
	close_file(&u->files[least]);
	gt_map_remove_item(
		&u->map, u->files, &u->n, sizeof(*u->files), least, sizeof(u->files->key));
}

/* The index of the file; UINT32_MAX: it is not there, or there is no memory. */
static uint32_t find_file(struct gt_native_unwinder *u, const struct gt_native_thread *t,
	const struct gt_mapped_code *m)
{
	struct unwind_file new = { .number = u->opened + 1 };
	struct stat st;
	uint32_t i;

	new.fd = open_mapped(t, m, &st);
	if (new.fd < 0)
		return UINT32_MAX;
	new.key.device = st.st_dev;
	new.key.inode = st.st_ino;
	i = gt_map_find_item(&u->map, u->files, sizeof(new), &new.key, sizeof(new.key));
	if (i != UINT32_MAX) {
		close(new.fd);
		return i;
	}
	if (u->n >= u->most)
		close_least_recent(u);
	new.cfi = gt_elf_cfi_open(new.fd);
	i = gt_map_add_item(&u->map, &u->files, &u->n, &u->cap, sizeof(new), &new, sizeof(new.key));
	if (i == UINT32_MAX)
		close_file(&new);
	else
		u->opened++;
	return i;
}

/* Looks for the file of the code, once more if it has been closed. */
static void search_file(
	struct gt_native_unwinder *u, const struct gt_native_thread *t, struct gt_mapped_code *m)
{
	uint32_t i = m->unwind_file;

	if (m->is_searched && (!m->cfi || (i < u->n && u->files[i].number == m->unwind_number))) {
		if (m->cfi)
			u->files[i].used = ++u->uses;
		return;
	}
	i = find_file(u, t, m);
	m->is_searched = true;
	m->cfi = i == UINT32_MAX ? NULL : u->files[i].cfi;
	if (!m->cfi)
		return;
	u->files[i].used = ++u->uses;
	m->unwind_file = i;
	m->unwind_number = u->files[i].number;
	m->bias = m->low - gt_elf_cfi_address(m->cfi, m->offset);
}

/* ---- a walk ---- */

struct walk {
	struct gt_native_unwinder *u;
	struct gt_native_thread *t;
	struct gt_native_stack *s;
};

static bool read_word(void *arg, uint64_t address, uint64_t *word)
{
	const struct gt_stack_memory *m = arg;

	if (address < m->low || m->bytes < 8 || address - m->low > m->bytes - 8)
		return false;
	memcpy(word, m->data + (address - m->low), 8);
	return true;
}

static bool add(struct walk *w, uint64_t address)
{
	if (w->s->n >= GT_NATIVE_FRAMES)
		return false;
	w->s->addresses[w->s->n++] = address;
	return true;
}

/* The mapped code there. Its call frame information is valid until the next call. */
static const struct gt_mapped_code *find_code(const struct walk *w, uint64_t address)
{
	struct gt_mapped_code *m = gt_code_maps_find(w->t->code, w->t->tgid, address);

	if (m)
		search_file(w->u, w->t, m);
	return m;
}

/* Damaged stacks lead anywhere, and so do those with frames of a library that was unloaded, once
 * another one is there. */
static bool is_return(const struct walk *w, uint64_t address)
{
	const struct gt_mapped_code *m = find_code(w, address - 1);

	return m && (!m->cfi || gt_elf_cfi_is_return(m->cfi, address - m->bias));
}

/* A frame record has the caller's frame pointer, and the return address. */
static bool follow_frame_pointer(struct walk *w)
{
	struct gt_cpu_registers *r = &w->t->registers;
	const uint64_t fp = r->value[GT_CPU_FP];
	uint64_t caller_fp, ra;

	if (!gt_cpu_knows(r, GT_CPU_FP) || fp < r->value[GT_CPU_SP] || fp % 8 ||
		!read_word(&w->t->memory, fp, &caller_fp) || !read_word(&w->t->memory, fp + 8, &ra))
		return false;
	ra &= GT_CPU_CODE_MASK;
	if (!is_return(w, ra))
		return false;
	*r = (struct gt_cpu_registers){ .pc = ra, .is_return = true };
	gt_cpu_set(r, GT_CPU_FP, caller_fp);
	r->value[GT_CPU_SP] = fp + 16;
#ifdef __x86_64__ /* elsewhere it is that or more */
	r->known |= 1ull << GT_CPU_SP;
#endif
	return add(w, GT_NATIVE_GAP);
}

/* Goes to the caller. False: it is not known, or there is none. */
static bool leave_frame(struct walk *w)
{
	struct gt_cpu_registers *r = &w->t->registers;
	const struct gt_mapped_code *m = find_code(w, r->pc - r->is_return);
	enum gt_cfi_step step = GT_CFI_NO_ENTRY;
	const bool was_return = r->is_return;

	if (m && m->cfi)
		step = gt_elf_cfi_step(m->cfi, m->bias, r, read_word, &w->t->memory);
	if (step == GT_CFI_CALLER) {
		/* the function that returns from a signal handler was not called */
		w->s->addresses[w->s->n - 1] += was_return && !r->is_return;
		return true;
	}
	w->s->is_part = step != GT_CFI_END;
	return m && step == GT_CFI_NO_ENTRY && follow_frame_pointer(w);
}

/* Adds the frame. False: it is the last one. */
static bool add_frame(struct walk *w)
{
	const struct gt_native_thread *t = w->t;
	const struct gt_cpu_registers *r = &t->registers;

	w->s->has_found = r->pc - t->stop_low < t->stop_high - t->stop_low;
	w->s->is_part = !w->s->has_found;
	return !w->s->has_found && (!r->is_return || is_return(w, r->pc)) &&
		add(w, r->pc + !r->is_return);
}

void gt_native_unwind(
	struct gt_native_unwinder *u, struct gt_native_thread *t, struct gt_native_stack *s)
{
	struct walk w = { u, t, s };

	s->n = 0;
	while (add_frame(&w) && leave_frame(&w))
		;
}
