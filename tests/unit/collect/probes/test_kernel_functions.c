/* Functions of the kernel by patterns, from texts in the form of the kernel's lists. */
#include "collect/probes/kernel_functions.h"

#include <string.h>
#include "tests/unit/t.h"

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000010 t nv_sched_run\t[nvidia]\n"
			       "ffffffff81000020 T nvidia_sched_ctx\t[nvidia]\n"
			       "ffffffff81000030 d nv_sched_data\t[nvidia]\n"
			       "ffffffff81000040 t nv_sched_run\t[nvidia]\n"
			       "ffffffff81000050 t nv_sched_lock\t[nvidia]\n"
			       "ffffffff81000060 t nv_sched_run.cold\t[nvidia]\n"
			       "ffffffff81000070 t __pfx_nv_sched_run\t[nvidia]\n"
			       "0000000000000000 W uvm_fault\n"
			       "ffffffff81000080 B uvm_buffer\n";
static const char available[] = "schedule\nvfs_read\nfeed\nnv_sched_run [nvidia]\nvfs_write\n";

static void read_list(struct gt_kernel_functions *f, const char *text, const char *glob,
	const char *const *without, size_t limit)
{
	const struct gt_kernel_selection which = { glob, without, limit };
	struct gt_err err = GT_ERR_INIT;
	FILE *list = fmemopen((void *)text, strlen(text), "r");

	*f = (struct gt_kernel_functions){ NULL };
	CHECK(list && !gt_kernel_functions_read(f, list, &which, &err));
	if (list)
		fclose(list);
}

static void only_functions_and_each_once(void)
{
	struct gt_kernel_functions f;

	read_list(&f, kallsyms, "nv*sched*", NULL, 100);
	CHECK_EQ(f.n, 3);
	CHECK_STR(f.names[0], "nv_sched_lock");
	CHECK_STR(f.names[1], "nv_sched_run");
	CHECK_STR(f.names[2], "nvidia_sched_ctx");
	gt_kernel_functions_release(&f);
}

static void some_are_left_out(void)
{
	static const char *const locks[] = { "*lock*", NULL };
	struct gt_kernel_functions f;

	read_list(&f, kallsyms, "nv*sched*", locks, 1);
	CHECK_EQ(f.n, 1);
	CHECK_EQ(f.matching, 2);
	CHECK_STR(f.names[0], "nv_sched_run");
	gt_kernel_functions_release(&f);
}

static void weak_functions_without_addresses(void)
{
	struct gt_kernel_functions f;

	read_list(&f, kallsyms, "uvm*", NULL, 100);
	CHECK_EQ(f.n, 1);
	CHECK_STR(f.names[0], "uvm_fault");
	gt_kernel_functions_release(&f);
}

static void list_of_tracefs(void)
{
	struct gt_kernel_functions f;

	read_list(&f, available, "*", NULL, 100);
	CHECK_EQ(f.n, 5);
	CHECK_STR(f.names[0], "feed"); /* is no address */
	gt_kernel_functions_release(&f);
	read_list(&f, available, "vfs_raed", NULL, 100);
	CHECK_EQ(f.n, 0);
	CHECK_STR(f.nearest, "vfs_read");
	gt_kernel_functions_release(&f);
}

T_MAIN(T(only_functions_and_each_once), T(some_are_left_out), T(weak_functions_without_addresses),
	T(list_of_tracefs))
