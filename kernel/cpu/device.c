// SPDX-License-Identifier: GPL-2.0
/* What the init reads: /dev/raidlab-cpu. */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/string.h>
#include <linux/time-internal.h>
#include <linux/uaccess.h>
#include "model.h"

/* Out: the whole account. */
#define RL_CPU_ACCOUNT _IOR('r', 16, __u8[sizeof(raidlab_cpu_total)])
/* Begins a raidlab_cpu_window, in which the raidlab_cpu_busiest task is looked for. */
#define RL_CPU_WINDOW _IO('r', 17)
/* Charges the caller so many nanoseconds of its own work in user space. */
#define RL_CPU_WORK _IO('r', 18)
/* Out: name of the raidlab_cpu_busiest task. */
#define RL_CPU_BUSIEST _IOR('r', 19, __u8[TASK_COMM_LEN])

static long cpu_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case RL_CPU_ACCOUNT:
		return copy_to_user(user, &raidlab_cpu_total, sizeof(raidlab_cpu_total)) ? -EFAULT : 0;
	case RL_CPU_WINDOW:
		raidlab_cpu_total.begun_ns = time_travel_now();
		raidlab_cpu_total.busiest_ns = 0;
		memset(raidlab_cpu_busiest, 0, sizeof(raidlab_cpu_busiest));
		raidlab_cpu_window++;
		return 0;
	case RL_CPU_WORK:
		current->thread.cpu.user_ps += (u64)arg * 1000;
		return 0;
	case RL_CPU_BUSIEST:
		return copy_to_user(user, raidlab_cpu_busiest, sizeof(raidlab_cpu_busiest)) ? -EFAULT : 0;
	}
	return -ENOTTY;
}

static const struct file_operations cpu_fops = {
	.unlocked_ioctl = cpu_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice cpu_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "raidlab-cpu",
	.fops = &cpu_fops,
	.mode = 0600,
};

int __init raidlab_cpu_init_device(void)
{
	return misc_register(&cpu_device);
}
