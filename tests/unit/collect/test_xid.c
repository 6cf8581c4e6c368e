/* Xid messages in lines of the kernel's log. */
#include "collect/source/xid.h"

#include "tests/unit/t.h"

static void messages(void)
{
	struct gt_xid x;

	CHECK(gt_xid_parse(&x,
		"4,1234,5678,-;NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n SUBSYSTEM=pci\n"));
	CHECK_EQ(x.number, 79);
	CHECK_STR(x.device, "0000:3b:00");
	CHECK_STR(x.text, "pid=1234, name=python, GPU has fallen off the bus.");
	CHECK(gt_xid_parse(&x, "NVRM: Xid (0000:03:00): 14")); /* of old drivers */
	CHECK_EQ(x.number, 14);
	CHECK_STR(x.text, "");
}

static void others(void)
{
	struct gt_xid x;

	CHECK(!gt_xid_parse(&x, "4,1234,5678,-;NVRM: loading NVIDIA UNIX x86_64 Kernel Module\n"));
	CHECK(!gt_xid_parse(&x, "NVRM: Xid (PCI:0000:3b:00): none\n"));
	CHECK(!gt_xid_parse(&x, "NVRM: Xid (): 3\n"));
	CHECK(!gt_xid_parse(&x, ""));
}

T_MAIN(T(messages), T(others))
