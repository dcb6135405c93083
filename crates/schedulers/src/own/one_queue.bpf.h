/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One queue in order of arrival, for fifo and rr: they differ in how long a task may run
 * and nothing else. A task_context needs `queued_ns`.
 */
#ifndef SCHEDLAB_ONE_QUEUE_BPF_H
#define SCHEDLAB_ONE_QUEUE_BPF_H

/* To the tail, with a whole quota unless it was only moved (its nice value or its CPUs
 * changed while it waited). */
static __always_inline void enqueue_at_tail(struct task_struct *p, u64 enq_flags, u64 quota_ns)
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
		task->left_ns = quota_ns;
	task->queued_ns = now;
	end_enqueue(task);
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

	if (!key)
		return 0;
	bpf_for_each(scx_dsq, p, QUEUE, 0) {
		if (!is_allowed(p, cpu))
			continue;
		task = context_of(p);
		if (!task)
			return 0;
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			/* Another CPU was faster. */
			count(STAT_MOVES_LOST);
			continue;
		}
		is_taken(task);
		*key = task->queued_ns;
		return p->pid;
	}
	return 0;
}

static __always_inline void dispatch_from_head(s32 cpu, struct task_struct *prev, u64 quota_ns)
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
			before->left_ns = quota_ns;
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
	     .a = prev ? prev->pid : 0, .b = now, .c = key, .d = before ? before->queued_ns : 0);
}

static __always_inline void run_from_head(struct task_struct *p)
{
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (task && own)
		start_running(p, task, own, cpu, bpf_ktime_get_ns(), task->queued_ns);
}

static __always_inline void stop_to_tail(struct task_struct *p, bool runnable)
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

#endif
