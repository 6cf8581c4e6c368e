// SPDX-License-Identifier: GPL-2.0
/* A stand-in for NVIDIA's driver in the virtual machine of make check-vm: the character device 195
 * with an ioctl whose functions are named as the driver's are. It drives nothing. */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#define MAJOR_OF_NVIDIA 195

/* not inlined, not cloned, and with an effect: each is a function of its own */
#define DRIVER_FUNCTION noinline __attribute__((noclone))

static unsigned long calls;

DRIVER_FUNCTION int nv_sched_pick_channel(int channel)
{
	WRITE_ONCE(calls, calls + 1);
	return channel + 1;
}

DRIVER_FUNCTION int nv_ctx_switch(int channel)
{
	udelay(50);
	return nv_sched_pick_channel(channel);
}

DRIVER_FUNCTION int uvm_map_range(int range)
{
	WRITE_ONCE(calls, calls + 1);
	return -range;
}

/* Request 1 calls nv_ctx_switch, which calls nv_sched_pick_channel; request 2 calls uvm_map_range.
 */
DRIVER_FUNCTION long nvidia_standin_ioctl(
	struct file *file, unsigned int request, unsigned long arg)
{
	switch (request & 0xff) {
	case 1: return nv_ctx_switch((int)arg) > 0 ? 0 : -EINVAL;
	case 2: return uvm_map_range((int)arg) <= 0 ? 0 : -EINVAL;
	default: return -EINVAL;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = nvidia_standin_ioctl,
};

static int __init begin(void)
{
	return register_chrdev(MAJOR_OF_NVIDIA, "nvidia-standin", &operations);
}
static void __exit end(void) { unregister_chrdev(MAJOR_OF_NVIDIA, "nvidia-standin"); }

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stand-in for a GPU driver, for tests");
