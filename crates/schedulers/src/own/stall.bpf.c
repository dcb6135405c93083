// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fixture for tests: fifo for a while, then a scheduler that is broken. It takes tasks
 * and gives them to nobody, until the kernel's watchdog ends it.
 */
#define QUOTA_NS 10000000ULL
#include "one_queue.bpf.h"

const volatile u64 after_ns = 4000000000;

u64 broken_from_ns = 0;

SEC("struct_ops/stall_dispatch")
void BPF_PROG(stall_dispatch, s32 cpu, struct task_struct *prev)
{
	if (bpf_ktime_get_ns() < broken_from_ns)
		dispatch_from_head(cpu, prev);
}

SEC("struct_ops.s/stall_init")
s32 BPF_PROG(stall_init)
{
	broken_from_ns = bpf_ktime_get_ns() + after_ns;
	return init_cpus() ?: scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER("stall", ONE_QUEUE,
	.dispatch = (void *)stall_dispatch,
	.init = (void *)stall_init,
	.timeout_ms = 3000)
