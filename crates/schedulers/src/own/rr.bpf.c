// SPDX-License-Identifier: GPL-2.0-only
/*
 * Round robin: one queue, equal quanta. See rr.md.
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

const volatile u64 quantum_ns = 10000000;

SEC("struct_ops/rr_select_cpu")
s32 BPF_PROG(rr_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return select_idle_cpu(p, prev_cpu, wake_flags, true);
}

SEC("struct_ops/rr_enqueue")
void BPF_PROG(rr_enqueue, struct task_struct *p, u64 enq_flags)
{
	enqueue_at_tail(p, enq_flags, quantum_ns);
}

SEC("struct_ops/rr_dispatch")
void BPF_PROG(rr_dispatch, s32 cpu, struct task_struct *prev)
{
	dispatch_from_head(cpu, prev, quantum_ns);
}

SEC("struct_ops/rr_running")
void BPF_PROG(rr_running, struct task_struct *p)
{
	run_from_head(p);
}

SEC("struct_ops/rr_stopping")
void BPF_PROG(rr_stopping, struct task_struct *p, bool runnable)
{
	stop_to_tail(p, runnable);
}

SEC("struct_ops.s/rr_init")
s32 BPF_PROG(rr_init)
{
	return init_cpus() ?: scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER("rr",
	.select_cpu = (void *)rr_select_cpu,
	.enqueue = (void *)rr_enqueue,
	.dispatch = (void *)rr_dispatch,
	.running = (void *)rr_running,
	.stopping = (void *)rr_stopping,
	.init = (void *)rr_init)
