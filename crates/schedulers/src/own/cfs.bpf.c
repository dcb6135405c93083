// SPDX-License-Identifier: GPL-2.0-only
/*
 * The completely fair scheduler of Linux 2.6.23 to 6.5. See cfs.md.
 */
#include "context.bpf.h"

struct account {
	u64 vruntime; /* ns that a task of weight 1024 would have run */
	u64 rest;     /* ns of service times 1024 that are no whole ns of it yet */
	u64 weight;
	u64 turn_ns; /* ran since it was chosen */
};

#include "queue_context.bpf.h"

struct task_context {
	TASK_CONTEXT;
	TASK_QUEUE_CONTEXT;
};

struct cpu_context {
	CPU_CONTEXT;
	CPU_QUEUE_CONTEXT;
	u64 min_vruntime;
};

#include "scheduler.bpf.h"

enum without {
	WITHOUT_NONE,
	WITHOUT_GRANULARITY,
	WITHOUT_BALANCE,
	WITHOUT_SLEEPER,
};

const volatile u64 latency_ns = 6000000;
const volatile u64 min_granularity_ns = 750000;
const volatile u64 wakeup_granularity_ns = 7000000;
const volatile u64 balance_interval_ns = 16000000;
const volatile u32 without = WITHOUT_NONE;

#define is_balancing (without != WITHOUT_BALANCE)

/* No key: nobody waits, or nothing weighs too much. Keys begin far from it. */
#define NONE (~0ULL)
#define FIRST_VRUNTIME (1ULL << 40)

static __always_inline bool is_before(u64 one, u64 other)
{
	return (s64)(one - other) < 0;
}

static __always_inline u64 key_of(struct account *account)
{
	return account->vruntime;
}

static __always_inline void begin_turn(struct account *account)
{
	account->turn_ns = 0;
}

/* vruntime += ran * 1024 / weight, with the rest of the division kept. */
static __always_inline void serve(struct cpu_context *own, u64 ran_ns)
{
	struct account *account = &own->account;
	u64 service = account->rest + ran_ns * NICE_0_WEIGHT;
	u64 weight = account->weight ?: 1;

	account->vruntime += service / weight;
	account->rest = service % weight;
	account->turn_ns += ran_ns;
}

/* The lowest vruntime of the members, but never less than before. */
static __always_inline void observe(struct cpu_context *own, u64 first)
{
	u64 lowest = first;

	if (own->running && (first == NONE || is_before(own->account.vruntime, first)))
		lowest = own->account.vruntime;
	else if (first == NONE)
		return;
	if (is_before(own->min_vruntime, lowest))
		own->min_vruntime = lowest;
}

static __always_inline void describe(struct cpu_context *own, u64 first,
				     struct queue_state *state)
{
	state->c = first;
	state->d = own->min_vruntime;
}

static __always_inline u64 virtual_time(struct cpu_context *own)
{
	return own->min_vruntime;
}

/* Nothing ends: what has run longest is chosen against, however long its turn was. */
static __always_inline bool end_request(struct cpu_context *own, bool has_yielded)
{
	return false;
}
#define ve_of(account) 0

/* The share of the period that a task has by its weight among so many (sched_slice()). */
static __always_inline u64 share_ns(u32 nr, u64 load, u64 weight)
{
	u64 period = nr * min_granularity_ns, slice;

	if (period < latency_ns)
		period = latency_ns;
	slice = period * weight / (load ?: 1);
	return slice < min_granularity_ns ? min_granularity_ns : slice;
}

/* The same of a queue, under its lock: others change nr and load one after the other. */
static __always_inline u64 slice_ns(struct cpu_context *own, u64 weight)
{
	return share_ns(own->nr, own->load, weight);
}

static __always_inline u64 turn_ns(struct cpu_context *own, struct account *account)
{
	u64 slice = slice_ns(own, account->weight), ran = account->turn_ns;

	return ran + USED_UP_NS < slice ? slice - ran : USED_UP_NS;
}

static __always_inline void before_arrival(struct task_context *task, struct arrival *arrival)
{
	struct cpu_context *from = cpu_context(arrival->from);

	arrival->b = from ? from->min_vruntime : 0;
	arrival->c = task->account.vruntime;
}

/*
 * What a task is ahead of the others or behind goes with it from queue to queue. After a
 * sleep it is behind by half a latency at most (GENTLE_FAIR_SLEEPERS); when forked it begins
 * one slice ahead (START_DEBIT).
 */
static __always_inline void arrive(struct cpu_context *own, struct account *account,
				   struct arrival *arrival)
{
	u64 credit = without == WITHOUT_SLEEPER ? 0 : latency_ns / 2;

	if (arrival->from < 0)
		account->vruntime = own->min_vruntime;
	else if (arrival->from != arrival->cpu)
		account->vruntime += own->min_vruntime - arrival->b;
	if (arrival->flags & FLAG_FORK)
		account->vruntime +=
			slice_ns(own, account->weight) * NICE_0_WEIGHT / (account->weight ?: 1);
	else if ((arrival->flags & FLAG_WAKEUP) &&
		 is_before(account->vruntime, own->min_vruntime - credit))
		account->vruntime = own->min_vruntime - credit;
	account->turn_ns = 0;
	arrival->d = account->vruntime;
}

static __always_inline void depart(struct cpu_context *own, struct account *account)
{
}

/*
 * The first of the queue, unless the running task is before it. One that yielded lets the
 * first go before it, unless that would be unfair (the skip buddy of pick_next_entity()).
 */
static __always_inline s32 take(s32 cpu, struct view *view, u64 *key)
{
	u64 limit = view->account.vruntime + (view->has_yielded ? wakeup_granularity_ns : 0);
	struct task_context *task;
	struct task_struct *p;
	u64 vruntime;
	s32 pid;

	bpf_for_each(scx_dsq, p, cpu, 0) {
		vruntime = p->scx.dsq_vtime;
		if (view->is_candidate && is_before(limit, vruntime))
			return 0;
		if (!is_allowed(p, cpu))
			continue;
		task = context_of(p);
		if (!task)
			return 0;
		pid = p->pid;
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			/* Another CPU pulled it. */
			count(STAT_MOVES_LOST);
			continue;
		}
		is_taken(task);
		*key = vruntime;
		return pid;
	}
	return 0;
}

#include "per_cpu_queues.bpf.h"

/*
 * A woken task preempts one that is ahead of it by more than a granularity, which is longer
 * for a task of less weight (check_preempt_wakeup()).
 */
static __always_inline void preempt_if_ahead(struct task_struct *p, struct task_context *task,
					     struct cpu_context *own, s32 cpu)
{
	u64 granularity = wakeup_granularity_ns * NICE_0_WEIGHT / (task->account.weight ?: 1);
	u64 vruntime = task->account.vruntime;

	if (own->running && is_before(vruntime + granularity, own->account.vruntime))
		preempt(cpu, own, p->pid, vruntime);
}

SEC("struct_ops/cfs_enqueue")
void BPF_PROG(cfs_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 now = bpf_ktime_get_ns();
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);
	u16 flags = 0;

	if (!task || !own)
		return;
	task->account.turn_ns = 0;
	if (enqueue_to_cpu(p, task, own, cpu, now, enq_flags, &flags) &&
	    without != WITHOUT_GRANULARITY && (flags & (FLAG_WAKEUP | FLAG_FORK)))
		preempt_if_ahead(p, task, own, cpu);
}

/*
 * Ends a turn that was as long as the slice is at present, or that brought the task further
 * ahead of the first one than that (check_preempt_tick()).
 */
SEC("struct_ops/cfs_tick")
void BPF_PROG(cfs_tick, struct task_struct *p)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), first, slice, ran;
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);
	struct view view = {};
	bool is_over;

	if (!own || own->running != p->pid)
		return;
	bring_up_to_date(cpu, own, now, &view);
	first = first_key(cpu);
	slice = share_ns(view.nr, view.load, view.account.weight);
	ran = view.account.turn_ns;
	/* Also where nobody is in the queue: the kernel may have put somebody past it. */
	is_over = ran > slice || (first != NONE && ran >= min_granularity_ns &&
				  is_before(first + slice, view.account.vruntime));
	set_slice(p, is_over ? 0 : slice);
	EMIT(.kind = EVENT_TICK, .flags = is_over ? FLAG_PREEMPT : 0, .begin_ns = begin,
	     .pid = p->pid, .target = cpu, .a = now, .b = slice, .c = ran, .d = first);
}

SEC("struct_ops.s/cfs_init")
s32 BPF_PROG(cfs_init)
{
	s32 cpu, error = init_queues();

	if (error)
		return error;
	bpf_for(cpu, 0, nr_cpus) {
		struct cpu_context *own = cpu_context(cpu);

		if (own)
			own->min_vruntime = FIRST_VRUNTIME;
	}
	return 0;
}

QUEUES_SCHEDULER("cfs",
	.enqueue = (void *)cfs_enqueue,
	.tick = (void *)cfs_tick,
	.init = (void *)cfs_init)
