/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One queue in order of arrival, for fifo and rr: they differ in how long a task may run
 * and nothing else. A scheduler says what that is, then includes this:
 *
 *	const volatile u64 quantum_ns = 10000000;
 *	#define QUOTA_NS quantum_ns
 *	#include "one_queue.bpf.h"
 *	SCHEDULER("rr", ONE_QUEUE)
 */
#ifndef SCHEDLAB_ONE_QUEUE_BPF_H
#define SCHEDLAB_ONE_QUEUE_BPF_H

#include "context.bpf.h"

struct task_context {
	TASK_CONTEXT;
	u64 queued_ns; /* when it was last enqueued */
};

struct cpu_context {
	CPU_CONTEXT;
};

#include "scheduler.bpf.h"

/* To the tail, with a whole quota unless it was only moved (its nice value or its CPUs
 * changed while it waited). */
SEC("?struct_ops/enqueue")
void BPF_PROG(one_queue_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns();
	struct task_context *task = context_of(p);
	bool is_claimed;
	u16 flags;

	if (!task)
		return;
	count(STAT_ENQUEUES);
	flags = enqueue_flags(task, enq_flags);
	is_claimed = task->is_claimed;
	if ((flags & (FLAG_WAKEUP | FLAG_YIELDED)) || task->left_ns < USED_UP_NS)
		task->left_ns = QUOTA_NS;
	task->queued_ns = now;
	end_enqueue(task);
	if (enqueue_past(p, task->left_ns, enq_flags))
		return;
	announce(task);
	scx_bpf_dsq_insert(p, QUEUE, task->left_ns, enq_flags);
	EMIT(.kind = EVENT_ENQUEUE, .flags = flags, .begin_ns = begin, .pid = p->pid,
	     .target = scx_bpf_task_cpu(p), .a = now, .b = now, .c = allowed_word(p),
	     .d = task->left_ns);
	if (!is_claimed)
		wake_idle_cpu(p);
}

/* The first that may run here, moved to the CPU. Not static, so that the verifier looks at
 * it once. */
__noinline s32 take_head(s32 cpu, u64 *key)
{
	struct task_struct *p;
	struct task_context *task;
	s32 from;

	if (!key)
		return 0;
	bpf_for_each(scx_dsq, p, QUEUE, 0) {
		if (!is_allowed(p, cpu)) {
			RESCUE_IF_STRANDED(p);
			continue;
		}
		task = context_of(p);
		if (!task)
			return 0;
		from = scx_bpf_task_cpu(p);
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			/* Another CPU was faster. */
			count(STAT_MOVES_LOST);
			continue;
		}
		has_left(from, cpu);
		is_taken(task);
		*key = task->queued_ns;
		return p->pid;
	}
	return 0;
}

static __always_inline void dispatch_from_head(s32 cpu, struct task_struct *prev)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), key = 0;
	struct task_context *before = prev ? context_of(prev) : NULL;
	struct cpu_context *own = cpu_context(cpu);
	bool is_runnable = prev && (prev->scx.flags & SCX_TASK_QUEUED) && is_allowed(prev, cpu);
	bool is_used_up = true;
	s32 pid = 0;
	u16 flags = 0;

	if (!own)
		return;
	if (before && is_runnable) {
		charge(before, now);
		tell_charge(prev, before, cpu, now, before->queued_ns);
		is_used_up = before->has_yielded || before->left_ns < USED_UP_NS;
		flags = FLAG_RUNNABLE | (before->has_yielded ? FLAG_YIELDED : 0);
	}
	if (is_used_up)
		pid = take_head(cpu, &key);
	if (pid) {
		flags |= FLAG_MOVED;
	} else if (before && is_runnable) {
		/* Nobody else, or its time is not over: it goes on where it is. */
		if (is_used_up)
			before->left_ns = QUOTA_NS;
		before->has_yielded = 0;
		set_slice(prev, before->left_ns);
		pid = prev->pid;
		flags |= FLAG_KEPT;
		count(STAT_KEPT);
	} else {
		want_work(own);
		pid = take_head(cpu, &key);
		if (pid)
			flags |= FLAG_MOVED;
		else
			look_again_if_late(cpu, own, scx_bpf_dsq_nr_queued(QUEUE));
	}
	count(STAT_DISPATCHES);
	EMIT(.kind = EVENT_DISPATCH, .flags = flags, .begin_ns = begin, .pid = pid, .target = cpu,
	     .a = prev ? prev->pid : 0, .b = now, .c = key);
}

SEC("?struct_ops/dispatch")
void BPF_PROG(one_queue_dispatch, s32 cpu, struct task_struct *prev)
{
	dispatch_from_head(cpu, prev);
}

SEC("?struct_ops/running")
void BPF_PROG(one_queue_running, struct task_struct *p)
{
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (task && own)
		start_running(p, task, own, cpu, bpf_ktime_get_ns(), task->queued_ns);
}

SEC("?struct_ops/stopping")
void BPF_PROG(one_queue_stopping, struct task_struct *p, bool runnable)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), ran;
	struct task_context *task = context_of(p);

	if (!task)
		return;
	ran = charge(task, now);
	task->since_ns = 0;
	EMIT(.kind = EVENT_STOPPING, .flags = runnable ? FLAG_RUNNABLE : 0, .begin_ns = begin,
	     .pid = p->pid, .target = scx_bpf_task_cpu(p), .a = now, .b = task->queued_ns,
	     .c = ran, .d = task->left_ns);
}

SEC("?struct_ops.s/init")
s32 BPF_PROG(one_queue_init)
{
	return init_cpus() ?: scx_bpf_create_dsq(QUEUE, -1);
}

/* What a scheduler gives after it replaces these. */
#define ONE_QUEUE                                      \
	.enqueue = (void *)one_queue_enqueue,          \
	.dispatch = (void *)one_queue_dispatch,        \
	.running = (void *)one_queue_running,          \
	.stopping = (void *)one_queue_stopping,        \
	.init = (void *)one_queue_init

#endif
