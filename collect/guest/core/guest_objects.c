/* Lists the loaded libraries of this process in load order.
 *
 * dl_iterate_phdr takes the loader's lock. glibc does not release that lock in a forked child: if
 * another thread of the parent held it at the fork (to load, close or list libraries), a child
 * that takes it waits for ever. So a forked child reads the loader's list (struct link_map, found
 * by DT_DEBUG) without the lock. After the fork only the child itself changes the list. An
 * interrupted dlclose may have left the list inconsistent: glibc unmaps a library before it
 * removes it from the list. gt_objects_verify finds such entries once, before the first lookup;
 * later listings skip them.
 *
 * One race remains: a thread of the child closes a library while another thread looks for a
 * function.
 *
 * The constructor of the guest library looks up everything that each process needs, as the
 * program may fork before its first call. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_objects.h"

#include <elf.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/core/guest_resolve.h"
#include "collect/guest/core/guest_session.h"

#define UNMAPPED 64 /* entries of unmapped libraries: at most those that one dlclose unloads */

struct list_state {
	uint32_t same_process, verified;
};
/* the kernel clears it in a forked child; NULL: not allocated yet */
static struct list_state *list_state;
static const struct r_debug *list;  /* NULL: this loader has no list */
static struct dl_phdr_info program; /* the list has no program headers of the program */
static const struct link_map *unmapped[UNMAPPED];
static uintptr_t page_bytes;

bool gt_is_forked(void)
{
	return list && list_state && !__atomic_load_n(&list_state->same_process, __ATOMIC_RELAXED);
}

bool gt_loader_is_idle(void) { return list && list->r_state == RT_CONSISTENT; }

/* ---- the loader's list ---- */

static bool is_mapped(uintptr_t address)
{
	unsigned char resident;
	uintptr_t page = address & ~(page_bytes - 1);

	return page && !syscall(SYS_mincore, page, (size_t)1, &resident);
}

/* One munmap removes a library's whole range. */
static void verify(void)
{
	const struct link_map *found[UNMAPPED] = { NULL };
	uint32_t n = 0;

	for (const struct link_map *m = list->r_map; m; m = m->l_next)
		if (n < UNMAPPED && !(is_mapped(m->l_addr) && is_mapped((uintptr_t)m->l_ld)))
			found[n++] = m;
	memcpy(unmapped, found, sizeof(found));
	__atomic_store_n(&list_state->verified, 1, __ATOMIC_RELEASE);
}

static bool is_unmapped(const struct link_map *m)
{
	for (uint32_t i = 0; i < UNMAPPED && unmapped[i]; i++)
		if (unmapped[i] == m)
			return true;
	return false;
}

/* The ELF header is at the library's base, where its first segment is mapped. False: it is not
 * there. */
static bool describe(const struct link_map *m, struct dl_phdr_info *info)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)m->l_addr;

	if (m == list->r_map) {
		*info = program;
		return true;
	}
	if (!m->l_addr || !m->l_ld || is_unmapped(m) || memcmp(head->e_ident, ELFMAG, SELFMAG))
		return false;
	*info = (struct dl_phdr_info){ .dlpi_addr = m->l_addr,
		.dlpi_name = m->l_name,
		.dlpi_phnum = head->e_phnum,
		.dlpi_phdr = (const ElfW(Phdr) *)(m->l_addr + head->e_phoff) };
	return true;
}

static int walk(gt_object_visit *visit, void *arg)
{
	struct dl_phdr_info info;
	int code = 0;

	gt_objects_verify();
	for (const struct link_map *m = list->r_map; m && !code; m = m->l_next)
		if (describe(m, &info))
			code = visit(&info, sizeof(info), arg);
	return code;
}

int gt_for_each_object(gt_object_visit *visit, void *arg)
{
	return gt_is_forked() ? walk(visit, arg) : dl_iterate_phdr(visit, arg);
}

void gt_objects_verify(void)
{
	int saved = errno;

	if (gt_is_forked() && !__atomic_load_n(&list_state->verified, __ATOMIC_ACQUIRE))
		verify();
	errno = saved;
}

/* ---- locks of the loader ---- */

static int stop_at_first(struct dl_phdr_info *info, size_t size, void *arg)
{
	return (void)info, (void)size, (void)arg, 1;
}
static void do_nothing(void) {}

/* Takes the locks that dlopen and atexit take, then sets *free and wakes the waiter. */
static void *take_locks(void *free)
{
	gt_inside = true;
	dl_iterate_phdr(stop_at_first, NULL);
	atexit(do_nothing);
	__atomic_store_n((uint32_t *)free, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, free, FUTEX_WAKE, 1, NULL, NULL, 0);
	return NULL;
}

bool gt_start_thread(void *(*run)(void *), void *arg)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		gt_find_libc_function("pthread_create");
	sigset_t all, old;
	pthread_t thread;
	int failed;

	if (!create)
		return false;
	sigfillset(&all);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, 8L);
	failed = create(&thread, NULL, run, arg);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8L);
	return !failed;
}

bool gt_locks_are_free(void)
{
	/* not on the stack: a thread that waits for ever has its address */
	static uint32_t free;
	const struct timespec wait = { .tv_nsec = 50000000 };

	if (!gt_is_forked())
		return true;
	__atomic_store_n(&free, 0, __ATOMIC_RELEASE);
	if (!gt_start_thread(take_locks, &free))
		return false;
	for (int i = 0; i < 20 && !__atomic_load_n(&free, __ATOMIC_ACQUIRE); i++)
		syscall(SYS_futex, &free, FUTEX_WAIT, 0, &wait, NULL, 0);
	return __atomic_load_n(&free, __ATOMIC_ACQUIRE);
}

/* ---- load of the guest library ---- */

/* The first object is the program. */
static int note_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	program = *info;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			for (const ElfW(Dyn) *d = (const void *)(info->dlpi_addr +
				     info->dlpi_phdr[i].p_vaddr);
				d->d_tag != DT_NULL; d++)
				if (d->d_tag == DT_DEBUG)
					list = (const struct r_debug *)d->d_un.d_ptr;
	return 1;
}

static void make_state(void)
{
	struct list_state *new = gt_map_of_process(sizeof(*new));

	if (!new)
		return; /* nothing is traced */
	new->same_process = 1;
	__atomic_store_n(&list_state, new, __ATOMIC_RELEASE);
}

static __attribute__((constructor)) void begin(void)
{
	int saved = errno;

	page_bytes = getauxval(AT_PAGESZ);
	dl_iterate_phdr(note_program, NULL);
	gt_own_object_find();
	gt_dlsym_find_function();
	gt_replaced_find();
	make_state();
	gt_timers_start();
	errno = saved;
}
