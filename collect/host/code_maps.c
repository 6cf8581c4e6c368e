#include "collect/host/code_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/symbols/vdso_image.h"

#define PAGE 4096u     /* no mapping begins within one */
#define CODES_MAX 8192 /* of a process: a program may map and unmap code for ever */

static struct gt_code_process *process_of(struct gt_code_maps *m, uint32_t tgid, bool adds)
{
	const struct gt_code_process new = { .tgid = tgid };
	uint32_t i = gt_map_find_item(&m->map, m->processes, sizeof(new), &tgid, sizeof(tgid));

	if (i == UINT32_MAX && adds)
		i = gt_map_add_item(
			&m->map, &m->processes, &m->n, &m->cap, sizeof(new), &new, sizeof(tgid));
	return i == UINT32_MAX ? NULL : &m->processes[i];
}

static bool same_path(const void *arg, uint32_t i, const void *key, size_t len)
{
	const struct gt_code_maps *m = arg;

	return !strncmp(m->files[i], key, len) && !m->files[i][len];
}

/* UINT32_MAX: no memory */
static uint32_t file_of(struct gt_code_maps *m, const char *path)
{
	size_t len = strlen(path);
	uint64_t hash = gt_hash(path, len);
	uint32_t i = gt_map_get(&m->files_map, hash, same_path, m, path, len);
	char *copy;

	if (i != UINT32_MAX)
		return i;
	if (gt_grow(&m->files, &m->files_cap, m->nfiles + 1, sizeof(*m->files)) ||
		!(copy = strdup(path)))
		return UINT32_MAX;
	m->files[m->nfiles] = copy;
	if (gt_map_add(&m->files_map, hash, (uint32_t)m->nfiles)) {
		free(copy);
		return UINT32_MAX;
	}
	return (uint32_t)m->nfiles++;
}

/* Removes the code that lies wholly in this range: it was unmapped. */
static void remove_covered(struct gt_code_process *p, uint64_t low, uint64_t high)
{
	size_t left = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].low < low || p->items[i].high > high)
			p->items[left++] = p->items[i];
	p->n = left;
}

void gt_code_maps_add(
	struct gt_code_maps *m, uint32_t tgid, const struct gt_mapped_code *code, const char *path)
{
	struct gt_code_process *p = process_of(m, tgid, true);
	uint32_t file = file_of(m, path);

	if (!p || file == UINT32_MAX)
		return;
	memset(p->recent, 0, sizeof(p->recent));
	remove_covered(p, code->low, code->high);
	if (p->n >= CODES_MAX)
		memmove(p->items, p->items + 1, --p->n * sizeof(*p->items));
	if (gt_grow(&p->items, &p->cap, p->n + 1, sizeof(*p->items)))
		return;
	p->items[p->n] = *code;
	p->items[p->n].number = ++m->last_number;
	p->items[p->n++].file = file;
}

void gt_code_maps_fork(struct gt_code_maps *m, uint32_t parent, uint32_t child)
{
	struct gt_code_process *to = process_of(m, child, true), *from;

	if (to)
		to->threads = 0;
	from = to ? process_of(m, parent, false) : NULL;
	if (!from || from == to || gt_grow(&to->items, &to->cap, from->n, sizeof(*to->items)))
		return;
	to->n = from->n;
	if (from->n) /* else both may be NULL */
		memcpy(to->items, from->items, from->n * sizeof(*to->items));
}

void gt_code_maps_add_thread(struct gt_code_maps *m, uint32_t tgid)
{
	struct gt_code_process *p = process_of(m, tgid, true);

	if (p)
		p->threads++;
}

bool gt_code_maps_end_thread(struct gt_code_maps *m, uint32_t tgid)
{
	struct gt_code_process *p = process_of(m, tgid, false);

	return !p || !p->threads--;
}

void gt_code_maps_forget(struct gt_code_maps *m, uint32_t tgid)
{
	struct gt_code_process *p = process_of(m, tgid, false);

	if (!p)
		return;
	free(p->items);
	gt_map_remove_item(&m->map, m->processes, &m->n, sizeof(*p), (uint32_t)(p - m->processes),
		sizeof(p->tgid));
}

static bool contains(const struct gt_mapped_code *c, uint64_t address)
{
	return address >= c->low && address < c->high;
}

struct gt_mapped_code *gt_code_maps_find(struct gt_code_maps *m, uint32_t tgid, uint64_t address)
{
	struct gt_code_process *p = process_of(m, tgid, false);
	uint32_t *recent;

	if (!p)
		return NULL;
	recent = &p->recent[address / PAGE % GT_CODE_RECENT];
	if (*recent && contains(&p->items[*recent - 1], address))
		return &p->items[*recent - 1];
	for (size_t i = p->n; i-- > 0;) /* the latest one at this address */
		if (contains(&p->items[i], address)) {
			*recent = (uint32_t)i + 1;
			return &p->items[i];
		}
	return NULL;
}

bool gt_mapped_code_path(const struct gt_code_maps *m, uint32_t tgid,
	const struct gt_mapped_code *code, char to[GT_CODE_PATH])
{
	const char *path = m->files[code->file], *vdso;
	uint64_t bytes;

	if (gt_is_vdso(path, strlen(path))) {
		vdso = gt_vdso_path(&bytes);
		if (!vdso || bytes != code->high - code->low) /* of another word size */
			return false;
		snprintf(to, GT_CODE_PATH, "%s", vdso);
		return true;
	}
	snprintf(to, GT_CODE_PATH, "/proc/%u/root", tgid);
	if (access(to, X_OK))
		*to = 0;
	strncat(to, path, PATH_MAX);
	return true;
}

void gt_code_maps_release(struct gt_code_maps *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->processes[i].items);
	for (size_t i = 0; i < m->nfiles; i++)
		free(m->files[i]);
	free(m->processes);
	free(m->files);
	gt_map_release(&m->map);
	gt_map_release(&m->files_map);
	*m = (struct gt_code_maps){ 0 };
}
