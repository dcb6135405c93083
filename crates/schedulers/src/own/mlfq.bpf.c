// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multi-level feedback queue: rules 1 to 5 with the better accounting. See mlfq.md.
 */
#include "context.bpf.h"

/* left_ns is what is left of the allotment at the task's level. */
struct task_context {
	TASK_CONTEXT;
	u64 level; /* 0 is the top */
	u64 boost; /* number of the last boost it had */
};

struct cpu_context {
	CPU_CONTEXT;
	u64 running; /* level of the running task + 1; 0: none of ours */
	u64 boost;   /* of the running task */
};

#include "scheduler.bpf.h"

enum without {
	WITHOUT_NONE,
	WITHOUT_BOOST,
	WITHOUT_ALLOTMENT,
	WITHOUT_PREEMPTION,
};

const volatile u64 levels = 3;
const volatile u64 quantum_ns = 8000000;
const volatile u64 boost_ns = 500000000;
const volatile u32 without = WITHOUT_NONE;

#define MOST_LEVELS 8

/* Boosts so far, and when the last one was. */
static u64 boosts = 0;
static u64 boosted_ns = 0;

static __always_inline u64 quantum_of(u64 level)
{
	return quantum_ns << (level & (MOST_LEVELS - 1));
}

/*
 * Rule 4: one that used up its allotment goes a level down; at the last it gets another.
 * Rule 5: one that a boost passed by, because it ran or slept, is at the top from here on.
 * Whether it begins a new allotment.
 */
static __always_inline bool settle(struct task_struct *p, struct task_context *task, u64 now)
{
	u64 begin = trace_begin(), level = task->level;

	if (task->boost != boosts) {
		task->boost = boosts;
		task->level = 0;
		task->left_ns = quantum_of(0);
		EMIT(.kind = EVENT_BOOST, .begin_ns = begin, .pid = p->pid,
		     .target = scx_bpf_task_cpu(p), .a = now, .b = task->boost, .c = level);
		return true;
	}
	if (task->left_ns >= USED_UP_NS)
		return false;
	if (level + 1 < levels)
		task->level = level + 1;
	EMIT(.kind = EVENT_DEMOTE, .begin_ns = begin, .pid = p->pid,
	     .target = scx_bpf_task_cpu(p), .a = now, .b = quantum_of(level) - task->left_ns,
	     .c = level, .d = task->level);
	task->left_ns = quantum_of(task->level);
	return true;
}

/* Rule 5: all to the top. Those that run or sleep notice it by the number of the boost. */
static __noinline int boost_if_due(s32 cpu, u64 now)
{
	u64 begin = trace_begin(), last = boosted_ns, number;
	struct task_context *task;
	struct task_struct *p;
	u32 level;

	/* Another CPU may have had one after this one read its clock. */
	if (without == WITHOUT_BOOST || (s64)(now - last) < (s64)boost_ns ||
	    __sync_val_compare_and_swap(&boosted_ns, last, now) != last)
		return 0;
	number = __sync_fetch_and_add(&boosts, 1) + 1;
	EMIT(.kind = EVENT_BOOST, .begin_ns = begin, .target = cpu, .a = now, .b = number);
	bpf_for(level, 1, levels) {
		bpf_for_each(scx_dsq, p, level, 0) {
			s32 pid = p->pid;

			task = context_of(p);
			if (!task)
				return 0;
			if (!scx_bpf_dsq_move(QUEUE_POSITION, p, QUEUE, 0)) {
				count(STAT_MOVES_LOST);
				continue;
			}
			task->level = 0;
			task->boost = number;
			task->left_ns = quantum_of(0);
			EMIT(.kind = EVENT_BOOST, .begin_ns = begin, .pid = pid, .target = cpu,
			     .a = now, .b = number, .c = level);
		}
	}
	return 0;
}

/* Rule 1 for a task that arrives: it takes the CPU of the running task of the lowest level. */
static __always_inline void preempt_lowest(struct task_struct *p, struct task_context *task)
{
	u64 begin = trace_begin(), lowest = task->level, level;
	s32 cpu, found = -1;

	bpf_for(cpu, 0, nr_cpus) {
		struct cpu_context *own = cpu_context(cpu);

		if (!own || !own->running || !is_allowed(p, cpu))
			continue;
		level = own->boost == boosts ? own->running - 1 : 0;
		if (level > lowest) {
			lowest = level;
			found = cpu;
		}
	}
	if (found < 0)
		return;
	count(STAT_PREEMPT_KICKS);
	scx_bpf_kick_cpu(found, SCX_KICK_PREEMPT);
	EMIT(.kind = EVENT_KICK, .flags = FLAG_PREEMPT, .begin_ns = begin, .pid = p->pid,
	     .target = found, .a = task->level, .b = lowest);
}

/* To the tail of its level; to the head when it was preempted before its time was over. */
SEC("struct_ops/mlfq_enqueue")
void BPF_PROG(mlfq_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), where = enq_flags;
	struct task_context *task = context_of(p);
	bool is_claimed, is_whole;
	u16 flags;

	if (!task)
		return;
	count(STAT_ENQUEUES);
	flags = enqueue_flags(task, enq_flags);
	is_claimed = task->is_claimed;
	end_enqueue(task);
	if (flags & FLAG_FORK) {
		/* Rule 3. */
		task->boost = boosts;
		task->level = 0;
		task->left_ns = quantum_of(0);
	}
	is_whole = settle(p, task, now) || task->left_ns == quantum_of(task->level);
	if (without == WITHOUT_ALLOTMENT && (flags & FLAG_WAKEUP))
		task->left_ns = quantum_of(task->level);
	if (!is_whole && !(flags & (FLAG_WAKEUP | FLAG_FORK | FLAG_YIELDED))) {
		where |= bpf_core_enum_value(enum scx_enq_flags, SCX_ENQ_HEAD);
		flags |= FLAG_PREEMPT;
	}
	if (enqueue_past(p, task->left_ns, enq_flags))
		return;
	announce(task);
	scx_bpf_dsq_insert(p, task->level, task->left_ns, where);
	EMIT(.kind = EVENT_ENQUEUE, .flags = flags, .begin_ns = begin, .pid = p->pid,
	     .target = scx_bpf_task_cpu(p), .a = now, .b = task->level, .c = allowed_word(p),
	     .d = task->left_ns);
	if (!is_claimed && wake_idle_cpu(p) < 0 && without != WITHOUT_PREEMPTION &&
	    (flags & (FLAG_WAKEUP | FLAG_FORK)))
		preempt_lowest(p, task);
}

/* The first of a level that may run here. */
static __noinline s32 take_head(s32 cpu, u64 level)
{
	struct task_context *task;
	struct task_struct *p;
	s32 pid, from;

	bpf_for_each(scx_dsq, p, level, 0) {
		if (!is_allowed(p, cpu)) {
			RESCUE_IF_STRANDED(p);
			continue;
		}
		task = context_of(p);
		if (!task)
			return 0;
		pid = p->pid;
		from = scx_bpf_task_cpu(p);
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			/* Another CPU was faster. */
			count(STAT_MOVES_LOST);
			continue;
		}
		has_left(from, cpu);
		is_taken(task);
		return pid;
	}
	return 0;
}

/* Rules 1 and 2: the first of the highest level above `end`. */
static __always_inline s32 take_highest(s32 cpu, u64 end, u64 *key)
{
	s32 pid;
	u32 level;

	bpf_for(level, 0, end) {
		pid = take_head(cpu, level);
		if (pid) {
			*key = level;
			return pid;
		}
	}
	return 0;
}

static __always_inline u64 nr_queued(void)
{
	u64 sum = 0;
	u32 level;

	bpf_for(level, 0, levels)
		sum += scx_bpf_dsq_nr_queued(level);
	return sum;
}

SEC("struct_ops/mlfq_dispatch")
void BPF_PROG(mlfq_dispatch, s32 cpu, struct task_struct *prev)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), key = 0, end = levels;
	struct task_context *before = prev ? context_of(prev) : NULL;
	struct cpu_context *own = cpu_context(cpu);
	bool is_runnable = prev && (prev->scx.flags & SCX_TASK_QUEUED) && is_allowed(prev, cpu);
	s32 pid = 0;
	u16 flags = 0;

	if (!own)
		return;
	if (prev && before && is_runnable) {
		charge(before, now);
		tell_charge(prev, before, cpu, now, before->level);
	}
	boost_if_due(cpu, now);
	if (prev && before && is_runnable) {
		flags = FLAG_RUNNABLE | (before->has_yielded ? FLAG_YIELDED : 0);
		/* Those of its level go first when its time is over. */
		end = settle(prev, before, now) || before->has_yielded;
		end += before->level;
	}
	pid = take_highest(cpu, end, &key);
	if (pid) {
		flags |= FLAG_MOVED;
	} else if (prev && before && is_runnable) {
		before->has_yielded = 0;
		own->running = before->level + 1;
		own->boost = before->boost;
		set_slice(prev, before->left_ns);
		pid = prev->pid;
		key = before->level;
		flags |= FLAG_KEPT;
		count(STAT_KEPT);
	} else {
		want_work(own);
		pid = take_highest(cpu, levels, &key);
		if (pid)
			flags |= FLAG_MOVED;
		else
			look_again_if_late(cpu, own, nr_queued());
	}
	count(STAT_DISPATCHES);
	EMIT(.kind = EVENT_DISPATCH, .flags = flags, .begin_ns = begin, .pid = pid, .target = cpu,
	     .a = prev ? prev->pid : 0, .b = now, .c = key);
}

SEC("struct_ops/mlfq_running")
void BPF_PROG(mlfq_running, struct task_struct *p)
{
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (!task || !own)
		return;
	own->running = task->level + 1;
	own->boost = task->boost;
	if (task->left_ns < USED_UP_NS)
		task->left_ns = quantum_of(task->level);
	set_slice(p, task->left_ns);
	start_running(p, task, own, cpu, bpf_ktime_get_ns(), task->level);
}

SEC("struct_ops/mlfq_stopping")
void BPF_PROG(mlfq_stopping, struct task_struct *p, bool runnable)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), ran;
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (!task || !own)
		return;
	own->running = 0;
	ran = charge(task, now);
	task->since_ns = 0;
	EMIT(.kind = EVENT_STOPPING, .flags = runnable ? FLAG_RUNNABLE : 0, .begin_ns = begin,
	     .pid = p->pid, .target = cpu, .a = now, .b = task->level, .c = ran,
	     .d = task->left_ns);
}

SEC("struct_ops/mlfq_cpu_offline")
void BPF_PROG(mlfq_cpu_offline, s32 cpu)
{
	u32 level;

	bpf_for(level, 0, levels)
		leave_cpu(cpu, level);
}

/* A queue for each level. */
SEC("struct_ops.s/mlfq_init")
s32 BPF_PROG(mlfq_init)
{
	s32 level, error = init_cpus();

	if (error)
		return error;
	boosted_ns = bpf_ktime_get_ns();
	bpf_for(level, 0, levels) {
		error = scx_bpf_create_dsq(level, -1);
		if (error)
			return error;
	}
	return 0;
}

SCHEDULER("mlfq",
	.enqueue = (void *)mlfq_enqueue,
	.dispatch = (void *)mlfq_dispatch,
	.running = (void *)mlfq_running,
	.stopping = (void *)mlfq_stopping,
	.cpu_offline = (void *)mlfq_cpu_offline,
	.init = (void *)mlfq_init)
