// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lottery scheduling, as published in 1994. See lottery.md.
 */
#include "context.bpf.h"

struct task_context {
	TASK_CONTEXT;
	u64 tickets;	    /* in the queue, compensation included */
	u64 compensated_by; /* ran this much of its last quantum; 0: no compensation */
	u32 is_counted;	    /* its tickets are in the total; changed atomically */
};

struct cpu_context {
	CPU_CONTEXT;
};

#include "scheduler.bpf.h"

/* lottery.rs has the words in this order. */
enum ablation {
	WITHOUT_NONE = 0,
	WITHOUT_DRAW = 1,
	WITHOUT_HOLDER = 2,
};

const volatile u64 quantum_ns = 10000000;
const volatile u64 seed = 1;
const volatile bool compensation = true;
const volatile u32 without = WITHOUT_NONE;

/* One that ran less than this part of its quantum is compensated for this part: without a
 * limit a task that ran for 1 us would hold 10,000 times its tickets. */
#define MOST_COMPENSATION 64

/*
 * How often a ticket is drawn again that no task holds which may run here. Tasks that may not are
 * rare; after that the first that may is taken and the event says that it was no draw.
 */
#define MOST_DRAWS 16

/* Tickets of all that wait. */
static u64 total_tickets = 0;
static u64 drawn = 0;

/* splitmix64 (Steele, Lea, Flood 2014) of a counter: each CPU takes the next number. */
static __always_inline u64 next_random(void)
{
	u64 number = __sync_fetch_and_add(&drawn, 1) + 1;
	u64 z = seed + number * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static __always_inline void count_tickets(struct task_context *task)
{
	if (!__sync_lock_test_and_set(&task->is_counted, 1))
		__sync_fetch_and_add(&total_tickets, task->tickets);
}

static __always_inline void uncount_tickets(struct task_context *task)
{
	if (__sync_lock_test_and_set(&task->is_counted, 0))
		__sync_fetch_and_sub(&total_tickets, task->tickets);
}

/* weight, or weight / f for one that used only the fraction f of its last quantum. */
static __always_inline u64 tickets_of(struct task_context *task)
{
	u64 weight = nice_weight(task->static_prio), ran = task->compensated_by;

	if (!compensation || !ran || ran >= quantum_ns)
		return weight;
	if (ran < quantum_ns / MOST_COMPENSATION)
		return weight * MOST_COMPENSATION;
	return weight * quantum_ns / ran;
}

struct draw {
	u64 random;
	u64 total;
	u64 tickets; /* of the winner */
	u64 before;  /* of the running task */
	s32 pid;     /* the winner; 0: nobody, or the running task */
	bool is_prev;
};

/* Goes along the queue, most tickets first, until the tickets passed exceed the one drawn. */
static __always_inline void find_holder(s32 cpu, u64 drawn_ticket, struct draw *draw)
{
	struct task_context *task;
	struct task_struct *p;
	u64 passed = draw->before, tickets;
	s32 from;

	bpf_for_each(scx_dsq, p, QUEUE, 0) {
		/* The key: the more tickets, the less. */
		tickets = ~p->scx.dsq_vtime;
		passed += tickets;
		if (drawn_ticket >= passed && without != WITHOUT_HOLDER)
			continue;
		if (!is_allowed(p, cpu)) {
			RESCUE_IF_STRANDED(p);
			return;
		}
		task = context_of(p);
		if (!task)
			return;
		draw->tickets = tickets;
		draw->pid = p->pid;
		from = scx_bpf_task_cpu(p);
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			/* Another CPU drew it at the same time. */
			count(STAT_MOVES_LOST);
			draw->pid = 0;
			return;
		}
		uncount_tickets(task);
		has_left(from, cpu);
		is_taken(task);
		return;
	}
}

/* Draws until a task that may run here holds the ticket. */
static __noinline int draw_ticket(s32 cpu, s32 prev, struct draw *draw)
{
	u64 begin, ticket;
	s32 round;

	if (!draw)
		return 0;
	bpf_for(round, 0, MOST_DRAWS) {
		begin = trace_begin();
		draw->total = total_tickets + draw->before;
		if (!draw->total)
			return 0;
		draw->random = next_random();
		draw->pid = 0;
		ticket = draw->random % draw->total;
		if (ticket < draw->before || (without == WITHOUT_DRAW && draw->before)) {
			draw->is_prev = true;
			draw->tickets = draw->before;
		} else {
			find_holder(cpu, ticket, draw);
		}
		EMIT(.kind = EVENT_DRAW,
		     .flags = draw->pid || draw->is_prev ? 0 : FLAG_RETRY, .begin_ns = begin,
		     .pid = draw->is_prev ? prev : draw->pid, .target = cpu, .a = draw->random,
		     .b = draw->total, .c = draw->tickets, .d = draw->before);
		if (draw->pid || draw->is_prev)
			return 0;
	}
	return 0;
}

/* The first that may run here, where no draw found one. */
static __always_inline s32 take_any(s32 cpu)
{
	struct task_context *task;
	struct task_struct *p;
	s32 pid, from;

	bpf_for_each(scx_dsq, p, QUEUE, 0) {
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
			count(STAT_MOVES_LOST);
			continue;
		}
		uncount_tickets(task);
		has_left(from, cpu);
		is_taken(task);
		return pid;
	}
	return 0;
}

SEC("struct_ops/lottery_enqueue")
void BPF_PROG(lottery_enqueue, struct task_struct *p, u64 enq_flags)
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
	end_enqueue(task);
	uncount_tickets(task);
	task->tickets = tickets_of(task);
	task->left_ns = 0;
	if (enqueue_past(p, quantum_ns, enq_flags))
		return;
	count_tickets(task);
	announce(task);
	insert_ordered(p, QUEUE, quantum_ns, ~task->tickets, enq_flags);
	EMIT(.kind = EVENT_ENQUEUE, .flags = flags, .begin_ns = begin, .pid = p->pid,
	     .target = scx_bpf_task_cpu(p), .a = now, .b = task->tickets, .c = allowed_word(p),
	     .d = task->compensated_by);
	if (!is_claimed)
		wake_idle_cpu(p);
}

/* The running task goes on: it won, or nobody else may run here. */
static __always_inline void keep(struct task_struct *prev, struct task_context *before)
{
	before->left_ns = quantum_ns;
	before->has_yielded = 0;
	set_slice(prev, quantum_ns);
	count(STAT_KEPT);
}

SEC("struct_ops/lottery_dispatch")
void BPF_PROG(lottery_dispatch, s32 cpu, struct task_struct *prev)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns();
	struct task_context *before = prev ? context_of(prev) : NULL;
	struct cpu_context *own = cpu_context(cpu);
	struct draw draw = {};
	bool is_runnable = prev && (prev->scx.flags & SCX_TASK_QUEUED) && is_allowed(prev, cpu);
	u16 flags = 0;

	if (!own)
		return;
	if (before && is_runnable) {
		charge(before, now);
		flags = FLAG_RUNNABLE | (before->has_yielded ? FLAG_YIELDED : 0);
		/* One that yielded takes part again when somebody else has run. */
		if (!before->has_yielded)
			draw.before = nice_weight(before->static_prio);
	}
	draw_ticket(cpu, prev ? prev->pid : 0, &draw);
	if (!draw.pid && !draw.is_prev)
		draw.pid = take_any(cpu);
	if (draw.pid) {
		flags |= FLAG_MOVED;
	} else if (prev && before && is_runnable) {
		flags |= FLAG_KEPT;
		draw.pid = prev->pid;
		keep(prev, before);
	} else {
		want_work(own);
		draw.pid = take_any(cpu);
		if (draw.pid)
			flags |= FLAG_MOVED;
		else
			look_again_if_late(cpu, own, scx_bpf_dsq_nr_queued(QUEUE));
	}
	count(STAT_DISPATCHES);
	EMIT(.kind = EVENT_DISPATCH, .flags = flags, .begin_ns = begin, .pid = draw.pid,
	     .target = cpu, .a = prev ? prev->pid : 0, .b = now, .c = draw.tickets);
}

/* A winner's compensation is over, and it has a whole quantum. */
SEC("struct_ops/lottery_running")
void BPF_PROG(lottery_running, struct task_struct *p)
{
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (!task || !own)
		return;
	uncount_tickets(task);
	if (task->left_ns < USED_UP_NS)
		task->left_ns = quantum_ns;
	task->compensated_by = 0;
	set_slice(p, task->left_ns);
	start_running(p, task, own, cpu, bpf_ktime_get_ns(), task->tickets);
}

/* One that sleeps before its quantum is used up is compensated for the rest. */
SEC("struct_ops/lottery_stopping")
void BPF_PROG(lottery_stopping, struct task_struct *p, bool runnable)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), ran;
	struct task_context *task = context_of(p);

	if (!task)
		return;
	ran = charge(task, now);
	task->since_ns = 0;
	if (!runnable && task->left_ns >= USED_UP_NS)
		task->compensated_by = quantum_ns - task->left_ns ?: 1;
	EMIT(.kind = EVENT_STOPPING, .flags = runnable ? FLAG_RUNNABLE : 0, .begin_ns = begin,
	     .pid = p->pid, .target = scx_bpf_task_cpu(p), .a = now, .b = task->tickets,
	     .c = ran, .d = task->left_ns);
}

SEC("struct_ops/lottery_quiescent")
void BPF_PROG(lottery_quiescent, struct task_struct *p, u64 deq_flags)
{
	u64 begin = trace_begin();
	struct task_context *task = context_of(p);

	if (!task)
		return;
	uncount_tickets(task);
	is_taken(task);
	EMIT(.kind = EVENT_QUIESCENT, .begin_ns = begin, .pid = p->pid, .a = deq_flags);
}

SEC("struct_ops/lottery_exit_task")
void BPF_PROG(lottery_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	u64 begin = trace_begin();
	struct task_context *task = bpf_task_storage_get(&tasks, p, 0, 0);

	if (task) {
		uncount_tickets(task);
		is_taken(task);
	}
	EMIT(.kind = EVENT_EXIT_TASK, .begin_ns = begin, .pid = p->pid);
}

SEC("struct_ops.s/lottery_init")
s32 BPF_PROG(lottery_init)
{
	return init_cpus() ?: scx_bpf_create_dsq(QUEUE, -1);
}

SCHEDULER("lottery",
	.enqueue = (void *)lottery_enqueue,
	.dispatch = (void *)lottery_dispatch,
	.running = (void *)lottery_running,
	.stopping = (void *)lottery_stopping,
	.quiescent = (void *)lottery_quiescent,
	.exit_task = (void *)lottery_exit_task,
	.init = (void *)lottery_init)
