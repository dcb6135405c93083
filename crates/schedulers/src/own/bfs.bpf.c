// SPDX-License-Identifier: GPL-2.0-only
/*
 * BFS: one queue, earliest effective virtual deadline first (C. Kolivas). See bfs.md.
 */
#include "context.bpf.h"

struct task_context {
	TASK_CONTEXT;
	u64 deadline;	/* virtual: only compared with others */
	u64 key;	/* the order of the queue: the deadline */
	s32 sticky_cpu; /* sticky there, while that CPU names it */
};

struct cpu_context {
	CPU_CONTEXT;
	u64 running_key; /* of the running task, as of its last dispatch */
	s32 running_pid; /* 0: none of ours */
	s32 sticky_pid;	 /* 0: none */
};

#include "scheduler.bpf.h"

/* bfs.rs has the words in this order. */
enum ablation {
	WITHOUT_NONE = 0,
	WITHOUT_DEADLINE = 1,
	WITHOUT_PREEMPTION = 2,
	WITHOUT_STICKY = 3,
	WITHOUT_IDLE = 4,
};

const volatile u64 rr_interval_ns = 6000000;
const volatile u32 without = WITHOUT_NONE;

/* 128 for nice -20, each further level 11/10 of the one before, rounded down (sched_init of
 * BFS 0.4). */
static u64 prio_ratios[40];

static __always_inline u64 deadline_distance(s32 static_prio)
{
	return prio_ratios[nice_index(static_prio)] * rr_interval_ns / 128;
}

/* time_slice_expired of BFS. */
static __always_inline void renew(struct task_context *task, u64 now)
{
	task->left_ns = rr_interval_ns;
	task->deadline = now + deadline_distance(task->static_prio);
	task->key = without == WITHOUT_DEADLINE ? now : task->deadline;
}

/* Charges a task that ran, and renews its quota and deadline where the quota is used up. */
static __always_inline u64 settle(struct task_context *task, u64 now)
{
	u64 ran = charge(task, now);

	if (task->left_ns < USED_UP_NS)
		renew(task, now);
	return ran;
}

/* A CPU that is going offline does not come back for its sticky task, and one that the task
 * may not use any more cannot. */
static __always_inline bool is_sticky(struct task_struct *p, struct task_context *task)
{
	struct cpu_context *there;

	if (task->sticky_cpu < 0 || is_leaving(task->sticky_cpu) ||
	    !is_allowed(p, task->sticky_cpu))
		return false;
	there = cpu_context(task->sticky_cpu);
	return there && there->sticky_pid == p->pid;
}

/* A task that is sticky no more is offered to an idle CPU, as a woken one is. */
static __always_inline void offer(s32 pid)
{
	struct task_struct *p = bpf_task_from_pid(pid);
	struct task_context *task;

	if (!p)
		return;
	task = bpf_task_storage_get(&tasks, p, 0, 0);
	if (task && task->is_waiting)
		wake_idle_cpu(p);
	bpf_task_release(p);
}

/* The CPU's former sticky task is none any more: its CPU names another (swap_sticky). */
static __always_inline void make_sticky(struct task_struct *p, struct task_context *task,
					struct cpu_context *own, s32 cpu)
{
	s32 former = own->sticky_pid;

	task->sticky_cpu = cpu;
	own->sticky_pid = p->pid;
	if (former && former != p->pid && without != WITHOUT_IDLE)
		offer(former);
}

/* Preempts the CPU whose task has the latest deadline, where that is later than p's. */
static __always_inline void preempt_latest(struct task_struct *p, struct task_context *task)
{
	u64 begin = trace_begin(), latest = 0;
	s32 cpu, victim = -1, pid = 0;

	bpf_for(cpu, 0, nr_cpus) {
		struct cpu_context *other = cpu_context(cpu);

		if (!other || !other->running_pid || !is_allowed(p, cpu))
			continue;
		if (victim < 0 || other->running_key > latest) {
			latest = other->running_key;
			pid = other->running_pid;
			victim = cpu;
		}
	}
	if (victim < 0 || latest <= task->key)
		return;
	count(STAT_PREEMPT_KICKS);
	scx_bpf_kick_cpu(victim, SCX_KICK_PREEMPT);
	EMIT(.kind = EVENT_KICK, .flags = FLAG_PREEMPT, .begin_ns = begin, .pid = p->pid,
	     .target = victim, .a = task->key, .b = latest, .c = pid);
}

SEC("struct_ops/bfs_select_cpu")
s32 BPF_PROG(bfs_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return select_idle_cpu(p, prev_cpu, wake_flags, without != WITHOUT_IDLE);
}

SEC("struct_ops/bfs_enqueue")
void BPF_PROG(bfs_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns();
	struct task_context *task = context_of(p);
	u16 flags;

	if (!task)
		return;
	count(STAT_ENQUEUES);
	flags = enqueue_flags(task, enq_flags);
	/* A new task, or one that was there before us. */
	if (task->left_ns < USED_UP_NS)
		renew(task, now);
	if (without == WITHOUT_DEADLINE && (flags & FLAG_WAKEUP))
		task->key = now;
	if (flags & (FLAG_WAKEUP | FLAG_FORK))
		task->sticky_cpu = -1;
	if (is_sticky(p, task))
		flags |= FLAG_STICKY;
	end_enqueue(task);
	if (enqueue_past(p, task->left_ns, enq_flags))
		return;
	announce(task);
	insert_ordered(p, QUEUE, task->left_ns, task->key, enq_flags);
	EMIT(.kind = EVENT_ENQUEUE, .flags = flags, .begin_ns = begin, .pid = p->pid,
	     .target = scx_bpf_task_cpu(p), .a = now, .b = task->key, .c = allowed_word(p),
	     .d = task->left_ns);
	/* The claimed CPU comes by itself; a sticky task is left to its own. */
	if (flags & (FLAG_CLAIMED | FLAG_STICKY))
		return;
	if (without != WITHOUT_IDLE && wake_idle_cpu(p) >= 0)
		return;
	/* A waker that is about to sleep is not preempted: its CPU is free soon. */
	if ((flags & (FLAG_WAKEUP | FLAG_FORK)) && !(flags & FLAG_SYNC) &&
	    without != WITHOUT_PREEMPTION)
		preempt_latest(p, task);
}

/*
 * Takes the earliest task that may run here, of those that are not sticky elsewhere or
 * (of_others) of those that are, but none that is later than `bound`. Not static, so that
 * the verifier looks at it once: that halves the time of a load.
 */
__noinline s32 take_earliest(s32 cpu, bool of_others, u64 bound, u64 *key)
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
		if ((is_sticky(p, task) && task->sticky_cpu != cpu) != of_others)
			continue;
		if (task->key > bound)
			return 0;
		from = scx_bpf_task_cpu(p);
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			/* Another CPU was faster. */
			count(STAT_MOVES_LOST);
			continue;
		}
		has_left(from, cpu);
		is_taken(task);
		*key = task->key;
		return p->pid;
	}
	return 0;
}

/* For a CPU that has nothing to go on with: sticky tasks of others are better than none. */
static __always_inline s32 take_any(s32 cpu, u64 *key, u16 *flags)
{
	s32 pid = take_earliest(cpu, false, ~0ULL, key);

	if (!pid && without != WITHOUT_STICKY) {
		pid = take_earliest(cpu, true, ~0ULL, key);
		if (pid)
			*flags |= FLAG_STICKY;
	}
	if (pid)
		*flags |= FLAG_MOVED;
	return pid;
}

SEC("struct_ops/bfs_dispatch")
void BPF_PROG(bfs_dispatch, s32 cpu, struct task_struct *prev)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), key = 0;
	struct task_context *before = prev ? context_of(prev) : NULL;
	struct cpu_context *own = cpu_context(cpu);
	bool is_runnable = prev && (prev->scx.flags & SCX_TASK_QUEUED) && is_allowed(prev, cpu);
	s32 pid = 0;
	u16 flags = 0;

	if (!own)
		return;
	if (before && is_runnable) {
		flags = FLAG_RUNNABLE | (before->has_yielded ? FLAG_YIELDED : 0);
		settle(before, now);
		tell_charge(prev, before, cpu, now, before->key);
		before->has_yielded = 0;
		pid = take_earliest(cpu, false, before->key, &key);
		if (pid) {
			flags |= FLAG_MOVED;
			if (without != WITHOUT_STICKY)
				make_sticky(prev, before, own, cpu);
		} else {
			flags |= FLAG_KEPT;
			set_slice(prev, before->left_ns);
			own->running_key = key = before->key;
			pid = prev->pid;
			count(STAT_KEPT);
		}
	} else {
		pid = take_any(cpu, &key, &flags);
		if (!pid) {
			want_work(own);
			pid = take_any(cpu, &key, &flags);
		}
		if (!pid)
			look_again_if_late(cpu, own, scx_bpf_dsq_nr_queued(QUEUE));
	}
	count(STAT_DISPATCHES);
	EMIT(.kind = EVENT_DISPATCH, .flags = flags, .begin_ns = begin, .pid = pid, .target = cpu,
	     .a = prev ? prev->pid : 0, .b = now, .c = key);
}

SEC("struct_ops/bfs_running")
void BPF_PROG(bfs_running, struct task_struct *p)
{
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu), *there;

	if (!task || !own)
		return;
	/* Sticky no more, wherever it was. */
	there = task->sticky_cpu < 0 ? NULL : cpu_context(task->sticky_cpu);
	if (there)
		__sync_val_compare_and_swap(&there->sticky_pid, p->pid, 0);
	task->sticky_cpu = -1;
	own->running_key = task->key;
	own->running_pid = p->pid;
	/* Its event says that all of this has happened. */
	start_running(p, task, own, cpu, bpf_ktime_get_ns(), task->key);
}

SEC("struct_ops/bfs_stopping")
void BPF_PROG(bfs_stopping, struct task_struct *p, bool runnable)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), ran;
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (!task || !own)
		return;
	own->running_pid = 0;
	ran = settle(task, now);
	task->since_ns = 0;
	EMIT(.kind = EVENT_STOPPING, .flags = runnable ? FLAG_RUNNABLE : 0, .begin_ns = begin,
	     .pid = p->pid, .target = cpu, .a = now, .b = task->key, .c = ran, .d = task->left_ns);
}

/* A deadline that stands is moved by the difference of the distances (adjust_deadline). */
SEC("struct_ops/bfs_set_weight")
void BPF_PROG(bfs_set_weight, struct task_struct *p, u32 weight)
{
	u64 begin = trace_begin();
	struct task_context *task = context_of(p);
	s32 former;

	if (!task)
		return;
	former = task->static_prio;
	task->static_prio = p->static_prio;
	if (task->deadline) {
		task->deadline += deadline_distance(task->static_prio) - deadline_distance(former);
		if (without != WITHOUT_DEADLINE)
			task->key = task->deadline;
	}
	EMIT(.kind = EVENT_SET_WEIGHT, .begin_ns = begin, .pid = p->pid, .a = task->static_prio,
	     .b = former, .d = task->key);
}

SEC("struct_ops/bfs_cpu_offline")
void BPF_PROG(bfs_cpu_offline, s32 cpu)
{
	struct cpu_context *own = cpu_context(cpu);

	if (own) {
		own->sticky_pid = 0;
		own->running_pid = 0;
	}
	leave_cpu(cpu, QUEUE);
}

SEC("struct_ops.s/bfs_init")
s32 BPF_PROG(bfs_init)
{
	s32 index;

	prio_ratios[0] = 128;
	for (index = 1; index < 40; index++)
		prio_ratios[index] = prio_ratios[index - 1] * 11 / 10;
	return init_cpus() ?: scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER("bfs",
	.select_cpu = (void *)bfs_select_cpu,
	.enqueue = (void *)bfs_enqueue,
	.dispatch = (void *)bfs_dispatch,
	.running = (void *)bfs_running,
	.stopping = (void *)bfs_stopping,
	.set_weight = (void *)bfs_set_weight,
	.cpu_offline = (void *)bfs_cpu_offline,
	.init = (void *)bfs_init)
