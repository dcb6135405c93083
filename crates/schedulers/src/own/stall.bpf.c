// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fixture for tests: fifo for a while, then a scheduler that is broken. It takes tasks
 * and gives them to nobody, until the kernel's watchdog ends it.
 */
#include "context.bpf.h"

struct task_context {
	TASK_CONTEXT;
	u64 queued_ns;
};

struct cpu_context {
	CPU_CONTEXT;
};

#include "scheduler.bpf.h"
#include "one_queue.bpf.h"

#define QUOTA_NS 10000000ULL

const volatile u64 after_ns = 4000000000;

u64 broken_from_ns = 0;

SEC("struct_ops/stall_select_cpu")
s32 BPF_PROG(stall_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return select_idle_cpu(p, prev_cpu, wake_flags, true);
}

SEC("struct_ops/stall_enqueue")
void BPF_PROG(stall_enqueue, struct task_struct *p, u64 enq_flags)
{
	enqueue_at_tail(p, enq_flags, QUOTA_NS);
}

SEC("struct_ops/stall_dispatch")
void BPF_PROG(stall_dispatch, s32 cpu, struct task_struct *prev)
{
	if (bpf_ktime_get_ns() < broken_from_ns)
		dispatch_from_head(cpu, prev, QUOTA_NS);
}

SEC("struct_ops/stall_running")
void BPF_PROG(stall_running, struct task_struct *p)
{
	run_from_head(p);
}

SEC("struct_ops/stall_stopping")
void BPF_PROG(stall_stopping, struct task_struct *p, bool runnable)
{
	stop_to_tail(p, runnable);
}

SEC("struct_ops.s/stall_init")
s32 BPF_PROG(stall_init)
{
	broken_from_ns = bpf_ktime_get_ns() + after_ns;
	return init_cpus() ?: scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER("stall",
	.select_cpu = (void *)stall_select_cpu,
	.enqueue = (void *)stall_enqueue,
	.dispatch = (void *)stall_dispatch,
	.running = (void *)stall_running,
	.stopping = (void *)stall_stopping,
	.init = (void *)stall_init,
	.timeout_ms = 3000)
