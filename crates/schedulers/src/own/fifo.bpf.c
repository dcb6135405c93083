// SPDX-License-Identifier: GPL-2.0-only
/*
 * First come, first served: one queue, no preemption. See fifo.md.
 */
#include "context.bpf.h"

struct task_context {
	TASK_CONTEXT;
	u64 queued_ns; /* when it was last enqueued */
};

struct cpu_context {
	CPU_CONTEXT;
};

#include "scheduler.bpf.h"
#include "one_queue.bpf.h"

const volatile u64 run_limit_ns = 100000000;

SEC("struct_ops/fifo_select_cpu")
s32 BPF_PROG(fifo_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return select_idle_cpu(p, prev_cpu, wake_flags, true);
}

SEC("struct_ops/fifo_enqueue")
void BPF_PROG(fifo_enqueue, struct task_struct *p, u64 enq_flags)
{
	enqueue_at_tail(p, enq_flags, run_limit_ns);
}

SEC("struct_ops/fifo_dispatch")
void BPF_PROG(fifo_dispatch, s32 cpu, struct task_struct *prev)
{
	dispatch_from_head(cpu, prev, run_limit_ns);
}

SEC("struct_ops/fifo_running")
void BPF_PROG(fifo_running, struct task_struct *p)
{
	run_from_head(p);
}

SEC("struct_ops/fifo_stopping")
void BPF_PROG(fifo_stopping, struct task_struct *p, bool runnable)
{
	stop_to_tail(p, runnable);
}

SEC("struct_ops.s/fifo_init")
s32 BPF_PROG(fifo_init)
{
	return init_cpus() ?: scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER("fifo",
	.select_cpu = (void *)fifo_select_cpu,
	.enqueue = (void *)fifo_enqueue,
	.dispatch = (void *)fifo_dispatch,
	.running = (void *)fifo_running,
	.stopping = (void *)fifo_stopping,
	.init = (void *)fifo_init)
