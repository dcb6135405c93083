/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all our schedulers share: contexts, accounting, idle CPUs, kicks, counters, and the
 * operations that are the same for all.
 *
 * A scheduler says what it keeps of a task and of a CPU, then includes this:
 *
 *	#include "context.bpf.h"
 *	struct task_context { TASK_CONTEXT; u64 deadline; };
 *	struct cpu_context { CPU_CONTEXT; };
 *	#include "scheduler.bpf.h"
 *
 * and ends with SCHEDULER(name, .enqueue = ..., ...).
 */
#ifndef SCHEDLAB_SCHEDULER_BPF_H
#define SCHEDLAB_SCHEDULER_BPF_H

#include "trace.bpf.h"

/* The one queue of a scheduler with one queue; others number from here. */
#define QUEUE 0ULL

/* CPUs we keep a context of; more are refused at init. */
#define MAX_CPUS 1024

/* Less than this left is used up (BFS: RESCHED_US), or the task would run to the next
 * tick for next to nothing. */
#define USED_UP_NS 100000ULL

/* How long an idle CPU goes on looking for a task that is being inserted. The insertion
 * follows enqueue at once, unless a hypervisor takes the CPU away in between. */
#define RETRY_NS 20000000ULL

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_context);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, u32);
	__type(value, struct cpu_context);
} cpus SEC(".maps");

static u32 nr_cpus = 0;

/* Counters, for each CPU. src/own/statistics.rs has the names in this order. */
enum statistic {
	STAT_WAKE_UPS,
	STAT_IDLE_CLAIMS,
	STAT_ENQUEUES,
	STAT_DISPATCHES,
	STAT_KEPT,
	STAT_SWITCHES,
	STAT_MIGRATIONS,
	STAT_IDLE_KICKS,
	STAT_PREEMPT_KICKS,
	STAT_RETRIES,
	STAT_MOVES_LOST,
	STATS,
};

struct statistics {
	u64 count[STATS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct statistics);
} statistics SEC(".maps");

static __always_inline void count(enum statistic which)
{
	u32 key = 0;
	struct statistics *own = bpf_map_lookup_elem(&statistics, &key);

	if (own)
		own->count[which]++;
}

static __always_inline struct task_context *context_of(struct task_struct *p)
{
	struct task_context *task = bpf_task_storage_get(&tasks, p, 0, 0);

	if (!task)
		give_up("a task has no context");
	return task;
}

static __always_inline struct cpu_context *cpu_context(s32 cpu)
{
	u32 key = cpu;

	return bpf_map_lookup_elem(&cpus, &key);
}

/*
 * Accounting. The kernel's p->scx.slice does not tell what is left: a preemption zeroes it,
 * and a task may be charged by a different clock. Ours is CLOCK_MONOTONIC between running
 * and stopping, read once for each operation and written into its event.
 */
static __always_inline u64 charge(struct task_context *task, u64 now)
{
	u64 ran = task->since_ns && now > task->since_ns ? now - task->since_ns : 0;

	if (task->since_ns < now)
		task->since_ns = now;
	task->left_ns -= ran < task->left_ns ? ran : task->left_ns;
	return ran;
}

/* After a charge of the running task in a dispatch. */
static __always_inline void tell_charge(struct task_struct *p, struct task_context *task, s32 cpu,
					u64 now, u64 key)
{
	EMIT(.kind = EVENT_CHARGE, .begin_ns = now, .pid = p->pid, .target = cpu, .a = now,
	     .b = key, .d = task->left_ns);
}

/*
 * Waiting tasks. The kernel inserts a task after enqueue has returned, so the length of a
 * queue comes too late to tell an idle CPU that something is on its way; this comes before.
 */
static u64 nr_waiting = 0;

static __always_inline void announce(struct task_context *task)
{
	if (!__sync_lock_test_and_set(&task->is_waiting, 1))
		__sync_fetch_and_add(&nr_waiting, 1);
}

static __always_inline void is_taken(struct task_context *task)
{
	if (__sync_lock_test_and_set(&task->is_waiting, 0))
		__sync_fetch_and_sub(&nr_waiting, 1);
}

/*
 * CPUs that found nothing. A CPU is in the kernel's mask of idle CPUs only after its
 * dispatch; a task that is enqueued between the two sees no idle CPU, and the CPU saw no
 * task. So the CPU says that it wants work before it looks again, and enqueue announces
 * before it looks at which wants it: one of the two sees the other (Dekker). The atomic
 * operations are full barriers.
 */
static u64 nr_wanting = 0;

static __always_inline void want_work(struct cpu_context *own)
{
	if (!__sync_lock_test_and_set(&own->wants_work, 1))
		__sync_fetch_and_add(&nr_wanting, 1);
}

static __always_inline bool want_no_work(struct cpu_context *own)
{
	if (!__sync_lock_test_and_set(&own->wants_work, 0))
		return false;
	__sync_fetch_and_sub(&nr_wanting, 1);
	return true;
}

/*
 * The end of a dispatch that found nothing twice, the second time after want_work().
 * Announced but in no queue means that an insertion is under way: look again at once.
 */
static __always_inline void look_again_if_late(s32 cpu, struct cpu_context *own, u64 nr_queued)
{
	u64 now;

	if (nr_waiting <= nr_queued) {
		own->retry_since_ns = 0;
		return;
	}
	now = bpf_ktime_get_ns();
	if (!own->retry_since_ns)
		own->retry_since_ns = now;
	if (now - own->retry_since_ns > RETRY_NS)
		return;
	count(STAT_RETRIES);
	EMIT(.kind = EVENT_KICK, .flags = FLAG_RETRY, .begin_ns = now, .target = cpu);
	scx_bpf_kick_cpu(cpu, 0);
}

/*
 * Claims an idle CPU for a task: the one it last ran on, else the nearest by cache, as the
 * kernel's default does it (whole idle cores first). The wake-up is not passed on as
 * synchronous, or the default would name the waker's CPU, which is not idle.
 */
static __always_inline s32 claim_idle_cpu(struct task_struct *p, s32 prev_cpu)
{
	bool is_idle = false;
	s32 cpu;

	if (is_allowed(p, prev_cpu) && scx_bpf_test_and_clear_cpu_idle(prev_cpu))
		return prev_cpu;
	cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, 0, &is_idle);
	return is_idle ? cpu : -1;
}

/*
 * The body of select_cpu of a scheduler that wakes idle CPUs. The task is not given to
 * the CPU: it goes through enqueue into the queue, and the kernel reschedules the CPU.
 */
static __always_inline s32 select_idle_cpu(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
					   bool look_for_idle)
{
	u64 begin = trace_begin();
	struct task_context *task = context_of(p);
	s32 cpu = look_for_idle ? claim_idle_cpu(p, prev_cpu) : -1;

	if (!task)
		return prev_cpu;
	count(STAT_WAKE_UPS);
	if (cpu >= 0)
		count(STAT_IDLE_CLAIMS);
	task->is_claimed = cpu >= 0;
	task->is_sync = !!(wake_flags & SCX_WAKE_SYNC);
	EMIT(.kind = EVENT_SELECT_CPU, .flags = cpu >= 0 ? FLAG_IDLE : 0, .begin_ns = begin,
	     .pid = p->pid, .target = cpu >= 0 ? cpu : prev_cpu, .a = prev_cpu, .b = wake_flags,
	     .c = allowed_word(p));
	return cpu >= 0 ? cpu : prev_cpu;
}

static __always_inline void kick_idle(s32 cpu, s32 pid)
{
	u64 begin = trace_begin();

	count(STAT_IDLE_KICKS);
	scx_bpf_kick_cpu(cpu, 0);
	EMIT(.kind = EVENT_KICK, .flags = FLAG_IDLE, .begin_ns = begin, .pid = pid, .target = cpu);
}

/* Wakes an idle CPU, or one that is about to become idle, for a task that was announced. */
static __always_inline s32 wake_idle_cpu(struct task_struct *p)
{
	s32 cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0), candidate;

	if (cpu < 0 && nr_wanting) {
		bpf_for(candidate, 0, nr_cpus) {
			struct cpu_context *other = cpu_context(candidate);

			if (!other || !other->wants_work || !is_allowed(p, candidate))
				continue;
			if (want_no_work(other)) {
				cpu = candidate;
				break;
			}
		}
	}
	if (cpu >= 0)
		kick_idle(cpu, p->pid);
	return cpu;
}

/*
 * Flags of an enqueue for its event. A task that is new to the queue was either woken or
 * forked; anything else had been running, or had its nice value or CPUs changed.
 */
static __always_inline u16 enqueue_flags(struct task_context *task, u64 enq_flags)
{
	return (enq_flags & SCX_ENQ_WAKEUP ? FLAG_WAKEUP : 0) | (task->is_sync ? FLAG_SYNC : 0) |
	       (task->is_new ? FLAG_FORK : 0) | (task->is_claimed ? FLAG_CLAIMED : 0) |
	       (task->has_yielded ? FLAG_YIELDED : 0);
}

/* What select_cpu and yield left for enqueue holds once. */
static __always_inline void end_enqueue(struct task_context *task)
{
	task->is_sync = task->is_claimed = task->is_new = task->has_yielded = 0;
}

/* A task starts to run on this CPU. */
static __always_inline void start_running(struct task_struct *p, struct task_context *task,
					  struct cpu_context *own, s32 cpu, u64 now, u64 key)
{
	u64 begin = now;

	is_taken(task);
	want_no_work(own);
	own->retry_since_ns = 0;
	count(STAT_SWITCHES);
	if (task->last_cpu != cpu && task->last_cpu >= 0)
		count(STAT_MIGRATIONS);
	task->last_cpu = cpu;
	task->since_ns = now;
	EMIT(.kind = EVENT_RUNNING, .begin_ns = begin, .pid = p->pid, .target = cpu, .a = now,
	     .b = key, .d = task->left_ns);
}

/*
 * CPUs that are going offline. From the moment the kernel marks such a CPU inactive it asks
 * it for nothing, but waits for a grace period of RCU before it tells us (cpu_offline), and
 * then until all tasks that only this CPU may run have left it. A task of those that waits
 * in a queue of ours waits for ever, and where it was preempted in the middle of an RCU read,
 * so does the kernel. These tasks, and only these, are given to the CPU past the queue: as
 * they are enqueued, and by the other CPUs, which come upon them in the queue.
 */
static __always_inline bool is_leaving(s32 cpu)
{
	const struct cpuhp_cpu_state *state;

	if (!&cpuhp_state)
		return false;
	state = bpf_per_cpu_ptr(&cpuhp_state, cpu);
	return state && state->target < state->state;
}

static __noinline bool has_other_cpu(struct task_struct *p, s32 cpu)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();
	bool found = false;
	s32 other;

	bpf_for(other, 0, nr_cpus) {
		if (other != cpu && is_allowed(p, other) && bpf_cpumask_test_cpu(other, online)) {
			found = true;
			break;
		}
	}
	scx_bpf_put_cpumask(online);
	return found;
}

/*
 * After a task of another CPU was taken. A CPU that is going offline waits until no task counts
 * as its own any more, but looks only when it schedules (balance_push()): it may be idle, so
 * the last one to go would leave it waiting for ever.
 */
static __always_inline void has_left(s32 from, s32 cpu)
{
	if (from != cpu && is_leaving(from))
		scx_bpf_kick_cpu(from, 0);
}

static __always_inline bool is_stranded(struct task_struct *p)
{
	s32 cpu = scx_bpf_task_cpu(p);

	return is_leaving(cpu) && is_allowed(p, cpu) && !has_other_cpu(p, cpu);
}

/*
 * Whether a task was preempted where it must not change its CPU (migrate_disable()). The
 * kernel narrows its mask only after it was enqueued, and ends us when another CPU tries to
 * take it before that (task_can_run_on_remote_rq()). While BPF runs, the current task counts
 * one more than by its own doing.
 */
static __always_inline bool is_held(struct task_struct *p, u64 enq_flags)
{
	u16 depth = p->migration_disabled;

	if (enq_flags & SCX_ENQ_WAKEUP)
		return false;
	return depth > 1 || (depth && bpf_get_current_task_btf() != p);
}

static __always_inline void tell_rescue(struct task_struct *p, s32 cpu, u16 flags)
{
	u64 begin = trace_begin();

	EMIT(.kind = EVENT_RESCUE, .flags = flags, .begin_ns = begin, .pid = p->pid,
	     .target = cpu);
}

/* In enqueue, before the task is announced: whether it went past the queue. */
static __always_inline bool enqueue_past(struct task_struct *p, u64 slice_ns, u64 enq_flags)
{
	bool must_stay = is_held(p, enq_flags);

	if (!must_stay && !is_stranded(p))
		return false;
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, enq_flags);
	tell_rescue(p, scx_bpf_task_cpu(p), must_stay ? FLAG_RUNNABLE : 0);
	return true;
}

/* In a walk through a queue, on a task that may not run here. */
#define RESCUE_IF_STRANDED(p)                                                            \
	do {                                                                             \
		if (is_stranded(p)) {                                                    \
			s32 ___cpu = scx_bpf_task_cpu(p);                                \
			if (scx_bpf_dsq_move(QUEUE_POSITION, p,                          \
					     SCX_DSQ_LOCAL_ON | (u32)___cpu, 0)) {       \
				tell_rescue(p, ___cpu, 0);                               \
				scx_bpf_kick_cpu(___cpu, 0);                             \
			}                                                                \
		}                                                                        \
	} while (0)

/* What is still there when the kernel tells us. */
static __always_inline void leave_cpu(s32 cpu, u64 queue)
{
	u64 begin = trace_begin();
	struct cpu_context *own = cpu_context(cpu);
	struct task_struct *p;

	if (own)
		want_no_work(own);
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (is_allowed(p, cpu) && !has_other_cpu(p, cpu) &&
		    scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL_ON | (u32)cpu, 0))
			tell_rescue(p, cpu, 0);
	}
	scx_bpf_kick_cpu(cpu, 0);
	EMIT(.kind = EVENT_CPU, .begin_ns = begin, .target = cpu);
}

/*
 * Operations that are the same for all. The question mark has libbpf leave out those that
 * a scheduler replaces by its own.
 */

SEC("?struct_ops.s/init_task")
s32 BPF_PROG(common_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	u64 begin = trace_begin();
	struct task_context *task =
		bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!task)
		return -ENOMEM;
	task->last_cpu = -1;
	task->static_prio = p->static_prio;
	task->is_new = args->fork;
	EMIT(.kind = EVENT_INIT_TASK, .flags = args->fork ? FLAG_FORK : 0, .begin_ns = begin,
	     .pid = p->pid, .a = p->static_prio, .c = allowed_word(p));
	return 0;
}

SEC("?struct_ops/exit_task")
void BPF_PROG(common_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	u64 begin = trace_begin();
	struct task_context *task = bpf_task_storage_get(&tasks, p, 0, 0);

	if (task)
		is_taken(task);
	EMIT(.kind = EVENT_EXIT_TASK, .begin_ns = begin, .pid = p->pid);
}

SEC("?struct_ops/quiescent")
void BPF_PROG(common_quiescent, struct task_struct *p, u64 deq_flags)
{
	u64 begin = trace_begin();
	struct task_context *task = context_of(p);

	if (!task)
		return;
	is_taken(task);
	EMIT(.kind = EVENT_QUIESCENT, .begin_ns = begin, .pid = p->pid, .a = deq_flags);
}

SEC("?struct_ops/select_cpu")
s32 BPF_PROG(common_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return select_idle_cpu(p, prev_cpu, wake_flags, true);
}

SEC("?struct_ops/set_cpumask")
void BPF_PROG(common_set_cpumask, struct task_struct *p, const struct cpumask *cpumask)
{
	u64 begin = trace_begin();

	EMIT(.kind = EVENT_SET_CPUMASK, .begin_ns = begin, .pid = p->pid, .c = cpumask->bits[0]);
}

SEC("?struct_ops/set_weight")
void BPF_PROG(common_set_weight, struct task_struct *p, u32 weight)
{
	u64 begin = trace_begin();
	struct task_context *task = context_of(p);

	if (!task)
		return;
	EMIT(.kind = EVENT_SET_WEIGHT, .begin_ns = begin, .pid = p->pid, .a = p->static_prio,
	     .b = task->static_prio);
	task->static_prio = p->static_prio;
}

/* Only told: the kernel keeps its own mask of idle CPUs (KEEP_BUILTIN_IDLE). */
SEC("?struct_ops/update_idle")
void BPF_PROG(common_update_idle, s32 cpu, bool idle)
{
	u64 begin = trace_begin();

	EMIT(.kind = EVENT_IDLE, .flags = idle ? FLAG_IDLE : 0, .begin_ns = begin, .target = cpu);
}

/* The kernel would only zero the slice; the mark tells a yield from a slice used up. */
SEC("?struct_ops/yield")
bool BPF_PROG(common_yield, struct task_struct *from, struct task_struct *to)
{
	u64 begin = trace_begin();
	struct task_context *task;

	if (to)
		return false;
	task = context_of(from);
	if (!task)
		return false;
	task->has_yielded = 1;
	set_slice(from, 0);
	EMIT(.kind = EVENT_YIELD, .begin_ns = begin, .pid = from->pid);
	return false;
}

/* Without these two the kernel ends the scheduler when a CPU comes or goes. */
SEC("?struct_ops/cpu_online")
void BPF_PROG(common_cpu_online, s32 cpu)
{
	u64 begin = trace_begin();

	EMIT(.kind = EVENT_CPU, .flags = FLAG_ONLINE, .begin_ns = begin, .target = cpu);
}

SEC("?struct_ops/cpu_offline")
void BPF_PROG(common_cpu_offline, s32 cpu)
{
	leave_cpu(cpu, QUEUE);
}

/* How it ended. src/own/running.rs reads it; `kind` is written last. */
struct exit_record {
	char reason[128];
	char message[1024];
	s64 code;
	u64 kind;
};
struct exit_record exit_record = {};

SEC("?struct_ops/exit")
void BPF_PROG(common_exit, struct scx_exit_info *ei)
{
	bpf_probe_read_kernel_str(exit_record.reason, sizeof(exit_record.reason), ei->reason);
	bpf_probe_read_kernel_str(exit_record.message, sizeof(exit_record.message), ei->msg);
	exit_record.code = ei->exit_code;
	barrier();
	exit_record.kind = ei->kind;
}

/* What every init does first. */
static __always_inline s32 init_cpus(void)
{
	nr_cpus = scx_bpf_nr_cpu_ids();
	if (nr_cpus > MAX_CPUS) {
		give_up("this machine has more than 1024 CPUs");
		return -ENOENT;
	}
	return 0;
}

/*
 * The operations. 30 s is the longest time a task may wait that the kernel accepts
 * (SCX_WATCHDOG_MAX_TIMEOUT). Exiting tasks take part as all others do, and those whose
 * migration is disabled as far as is_held() lets them. What is given twice counts as given
 * last.
 */
#define SCHEDULER(id, ...)                                                        \
	_Pragma("clang diagnostic push")                                          \
	_Pragma("clang diagnostic ignored \"-Winitializer-overrides\"")           \
	SEC(".struct_ops.link")                                                   \
	struct sched_ext_ops scheduler_operations = {                             \
		.init_task = (void *)common_init_task,                            \
		.select_cpu = (void *)common_select_cpu,                          \
		.exit_task = (void *)common_exit_task,                            \
		.quiescent = (void *)common_quiescent,                            \
		.set_cpumask = (void *)common_set_cpumask,                        \
		.set_weight = (void *)common_set_weight,                          \
		.update_idle = (void *)common_update_idle,                        \
		.yield = (void *)common_yield,                                    \
		.cpu_online = (void *)common_cpu_online,                          \
		.cpu_offline = (void *)common_cpu_offline,                        \
		.exit = (void *)common_exit,                                      \
		.flags = SCX_OPS_KEEP_BUILTIN_IDLE | SCX_OPS_ENQ_EXITING |        \
			 SCX_OPS_ENQ_MIGRATION_DISABLED,                          \
		.timeout_ms = 30000,                                              \
		.name = id,                                                       \
		__VA_ARGS__                                                       \
	};                                                                        \
	_Pragma("clang diagnostic pop")

#endif
