/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One queue for each CPU, and how tasks come from one to another: for cfs and eevdf, which
 * differ in what virtual time is and in what they take from a queue.
 *
 * A queue is a list of the kernel's with the number of its CPU, ordered by key, and an
 * account of its members: the runnable tasks of that CPU, the running one included. The
 * kernel locks the list; the account has a lock of its own, under which nothing is called.
 *
 * A scheduler defines these before it includes this file; all but the first three are called
 * under the lock of the account:
 *
 *	u64 key_of(account)			the key of a task in its queue
 *	before_arrival(task, arrival)		what arrive() needs of the queue it comes from
 *	s32 take(cpu, view, key)		moves the task that is to run next to the CPU;
 *						0: the running one goes on, or there is none
 *	serve(own, ran_ns)			the running task ran
 *	observe(own, first)			a look at the queue: its first key, or NONE
 *	bool end_request(own, has_yielded)	a choice is due for the running task's sake
 *	begin_turn(account)			it was chosen again
 *	u64 turn_ns(own, account)		how long it may run from now on
 *	arrive(own, account, arrival)		a member more (load and nr count it already)
 *	depart(own, account)			a member less (load and nr count it no more)
 *	describe(own, first, state)		c and d of EVENT_QUEUE
 *	u64 virtual_time(own)
 */
#ifndef SCHEDLAB_PER_CPU_QUEUES_BPF_H
#define SCHEDLAB_PER_CPU_QUEUES_BPF_H

/*
 * A tick looks at the running task every 4 ms (10 ms at HZ=100). One that was not looked at for
 * longer than this did not run: a hypervisor had the CPU. Charged for 400 ms of that, a task
 * would wait until each of a hundred others had run as long, and the kernel would end us.
 */
#define MOST_CHARGE_NS 12000000ULL

/* Charges the running task up to `now`. */
static __always_inline void advance(struct cpu_context *own, u64 now)
{
	u64 ran;

	if (!own->running || now <= own->since_ns)
		return;
	ran = now - own->since_ns;
	own->since_ns = now;
	serve(own, ran < MOST_CHARGE_NS ? ran : MOST_CHARGE_NS);
}

static __always_inline void read_state(struct cpu_context *own, u64 now, u64 first,
				       struct queue_state *state)
{
	own->version++;
	state->clock_ns = now;
	state->version_and_load = ((u64)own->version << 32) | (u32)own->load;
	describe(own, first, state);
}

static __always_inline void tell_queue(s32 cpu, s32 pid, u16 flags, u64 begin,
				       struct queue_state *state)
{
	EMIT(.kind = EVENT_QUEUE, .flags = flags, .begin_ns = begin, .pid = pid, .target = cpu,
	     .a = state->clock_ns, .b = state->version_and_load, .c = state->c, .d = state->d);
}

/* The key of the first task of a CPU's queue. */
static __always_inline u64 first_key(s32 cpu)
{
	struct task_struct *p;
	u64 key = NONE;

	bpf_for_each(scx_dsq, p, cpu, 0) {
		key = p->scx.dsq_vtime;
		break;
	}
	return key;
}

/* The running task is charged, and the queue looked at. */
static __always_inline void bring_up_to_date(s32 cpu, struct cpu_context *own, u64 now,
					     struct view *view)
{
	u64 begin = trace_begin(), first = first_key(cpu);
	struct queue_state state = {};

	bpf_spin_lock(&own->lock);
	advance(own, now);
	observe(own, first);
	if (view) {
		if (view->is_candidate)
			view->is_served = end_request(own, view->has_yielded);
		view->account = own->account;
		view->virtual_time = virtual_time(own);
		view->load = own->load;
		view->nr = own->nr;
	}
	read_state(own, now, first, &state);
	bpf_spin_unlock(&own->lock);
	tell_queue(cpu, 0, 0, begin, &state);
}

static __always_inline void leave_queue(s32 pid, struct task_context *task, u64 now)
{
	u64 begin = trace_begin();
	struct cpu_context *own = cpu_context(task->queue_cpu);
	struct queue_state state = {};

	if (!task->is_member || !own)
		return;
	bpf_spin_lock(&own->lock);
	advance(own, now);
	task->is_member = 0;
	own->load -= task->account.weight;
	own->nr--;
	depart(own, &task->account);
	read_state(own, now, NONE, &state);
	bpf_spin_unlock(&own->lock);
	tell_queue(task->queue_cpu, pid, FLAG_LEFT, begin, &state);
}

/* Makes a task a member of the queue of `cpu`, wherever it was one before. */
static __noinline int join_queue(struct task_context *task, s32 pid, s32 cpu, u64 now, u16 flags)
{
	u64 begin = trace_begin(), first = NONE, weight;
	struct cpu_context *own = cpu_context(cpu);
	struct arrival arrival = {};
	struct queue_state state = {};

	if (!task || !own)
		return 0;
	weight = nice_weight(task->static_prio);
	leave_queue(pid, task, now);
	arrival.flags = flags;
	arrival.from = task->queue_cpu;
	arrival.cpu = cpu;
	before_arrival(task, &arrival);
	first = first_key(cpu);
	bpf_spin_lock(&own->lock);
	advance(own, now);
	observe(own, first);
	task->account.weight = weight;
	own->load += weight;
	own->nr++;
	arrive(own, &task->account, &arrival);
	task->is_member = 1;
	read_state(own, now, first, &state);
	bpf_spin_unlock(&own->lock);
	task->queue_cpu = cpu;
	tell_queue(cpu, pid, FLAG_JOINED, begin, &state);
	EMIT(.kind = EVENT_PLACE, .flags = flags & (FLAG_FORK | FLAG_WAKEUP), .begin_ns = begin,
	     .pid = pid, .target = cpu, .a = arrival.from, .b = arrival.b, .c = arrival.c,
	     .d = arrival.d);
	return 0;
}

static __always_inline bool is_member_of(struct task_context *task, s32 cpu)
{
	return task->is_member && task->queue_cpu == cpu;
}

/* A task to the queue of its CPU; whether no idle CPU will look after it. */
static __always_inline bool enqueue_to_cpu(struct task_struct *p, struct task_context *task,
					   struct cpu_context *own, s32 cpu, u64 now, u64 enq_flags,
					   u16 *flags)
{
	u64 begin = trace_begin();
	bool is_claimed = task->is_claimed;

	count(STAT_ENQUEUES);
	*flags = enqueue_flags(task, enq_flags);
	if (is_member_of(task, cpu))
		bring_up_to_date(cpu, own, now, NULL);
	else
		join_queue(task, p->pid, cpu, now, *flags);
	end_enqueue(task);
	task->left_ns = 0;
	if (enqueue_past(p, USED_UP_NS, enq_flags))
		return false;
	announce(task);
	insert_ordered(p, cpu, USED_UP_NS, key_of(&task->account), enq_flags);
	EMIT(.kind = EVENT_ENQUEUE, .flags = *flags, .begin_ns = begin, .pid = p->pid,
	     .target = cpu, .a = now, .b = key_of(&task->account), .c = allowed_word(p));
	return !is_claimed && (!is_balancing || wake_idle_cpu(p) < 0);
}

/* Preempts the running task of `cpu` for p. */
static __always_inline void preempt(s32 cpu, struct cpu_context *own, s32 pid, u64 key)
{
	u64 begin = trace_begin();

	count(STAT_PREEMPT_KICKS);
	scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
	EMIT(.kind = EVENT_KICK, .flags = FLAG_PREEMPT, .begin_ns = begin, .pid = pid,
	     .target = cpu, .a = key, .b = key_of(&own->account), .c = own->running);
}

/*
 * Takes one task out of another CPU's queue to run here next: the first that may run here
 * and, where this CPU is not idle, weighs less than the loads differ by. It becomes a member
 * here when it starts to run. Loads are read once: the other CPU goes on meanwhile.
 */
static __noinline s32 pull_from(s32 source, s32 cpu, bool is_idle)
{
	u64 begin = trace_begin(), source_load, load, below = NONE;
	struct cpu_context *own = cpu_context(cpu), *other = cpu_context(source);
	struct task_context *task;
	struct task_struct *p;
	s32 pid;

	if (!own || !other)
		return 0;
	source_load = other->load;
	load = own->load;
	barrier();
	if (!is_idle)
		below = source_load > load ? source_load - load : 0;
	bpf_for_each(scx_dsq, p, source, 0) {
		if (!is_allowed(p, cpu))
			continue;
		task = context_of(p);
		if (!task)
			return 0;
		if (task->account.weight >= below)
			continue;
		pid = p->pid;
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			count(STAT_MOVES_LOST);
			continue;
		}
		has_left(source, cpu);
		is_taken(task);
		EMIT(.kind = EVENT_BALANCE, .flags = is_idle ? FLAG_IDLE : 0,
		     .begin_ns = begin, .pid = pid, .target = cpu, .a = source, .b = source_load,
		     .c = load, .d = task->account.weight);
		return pid;
	}
	return 0;
}

/* The CPU with nothing to run: from the longest queue, else from any. */
static __noinline s32 pull_when_idle(s32 cpu, u64 *nr_queued)
{
	s32 other, longest = -1, most = 0, nr, pid;

	*nr_queued = 0;
	bpf_for(other, 0, nr_cpus) {
		nr = scx_bpf_dsq_nr_queued(other);
		if (nr <= 0)
			continue;
		*nr_queued += nr;
		if (other != cpu && nr > most) {
			most = nr;
			longest = other;
		}
	}
	if (longest < 0)
		return 0;
	pid = pull_from(longest, cpu, true);
	if (pid)
		return pid;
	bpf_for(other, 0, nr_cpus) {
		if (other == cpu || other == longest || scx_bpf_dsq_nr_queued(other) <= 0)
			continue;
		pid = pull_from(other, cpu, true);
		if (pid)
			return pid;
	}
	return 0;
}

/*
 * Periodic balancing: from the CPU with the greatest load, when that exceeds ours by more
 * than the weight of the task, or the difference would only change sides.
 */
static __noinline s32 pull_from_busiest(s32 cpu)
{
	struct cpu_context *own = cpu_context(cpu), *candidate;
	u64 most = 0;
	s32 other, busiest = -1;

	if (!own)
		return 0;
	bpf_for(other, 0, nr_cpus) {
		candidate = cpu_context(other);
		if (candidate && other != cpu && candidate->load > most) {
			most = candidate->load;
			busiest = other;
		}
	}
	if (busiest < 0 || most <= own->load)
		return 0;
	return pull_from(busiest, cpu, false);
}

/*
 * A CPU that is going offline is not asked for tasks any more, and is waited for until its own
 * are gone: see scheduler.bpf.h. All that wait in its queue are given to it; the kernel moves
 * away those that may run elsewhere.
 */
static __noinline int rescue_from(s32 leaving)
{
	struct task_struct *p;
	s32 cpu;

	bpf_for_each(scx_dsq, p, leaving, 0) {
		cpu = scx_bpf_task_cpu(p);
		if (scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL_ON | (u32)cpu, 0))
			tell_rescue(p, cpu, 0);
	}
	scx_bpf_kick_cpu(leaving, 0);
	return 0;
}

/* The others notice, when they balance or have nothing to run. */
static __noinline int rescue_from_others(s32 cpu)
{
	s32 other;

	bpf_for(other, 0, nr_cpus) {
		if (other != cpu && is_leaving(other) && scx_bpf_dsq_nr_queued(other) > 0)
			rescue_from(other);
	}
	return 0;
}

/* A task goes on where it is. */
static __always_inline s32 keep(struct task_struct *prev, struct task_context *before,
				struct cpu_context *own)
{
	u64 left_ns;

	bpf_spin_lock(&own->lock);
	begin_turn(&own->account);
	left_ns = turn_ns(own, &own->account);
	bpf_spin_unlock(&own->lock);
	before->has_yielded = 0;
	before->left_ns = left_ns;
	set_slice(prev, left_ns);
	count(STAT_KEPT);
	return prev->pid;
}

/* Nothing to run: another CPU's task, or one that arrived here meanwhile. */
static __always_inline s32 look_elsewhere(s32 cpu, struct cpu_context *own, u64 now,
					  struct view *view, u64 *key)
{
	u64 nr_queued = 0;
	s32 pid = 0;

	want_work(own);
	rescue_from_others(cpu);
	if (is_balancing)
		pid = pull_when_idle(cpu, &nr_queued);
	if (pid)
		return pid;
	bring_up_to_date(cpu, own, now, view);
	pid = take(cpu, view, key);
	if (!pid && is_balancing)
		look_again_if_late(cpu, own, nr_queued);
	return pid;
}

SEC("?struct_ops/dispatch")
void BPF_PROG(queue_dispatch, s32 cpu, struct task_struct *prev)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), key = 0;
	struct task_context *before = prev ? context_of(prev) : NULL;
	struct cpu_context *own = cpu_context(cpu);
	struct view view = {};
	s32 pid = 0;
	u16 flags = 0;

	if (!own)
		return;
	if (prev && before && (prev->scx.flags & SCX_TASK_QUEUED) && is_allowed(prev, cpu) &&
	    own->running == prev->pid) {
		view.is_candidate = true;
		view.has_yielded = before->has_yielded;
		flags = FLAG_RUNNABLE | (view.has_yielded ? FLAG_YIELDED : 0);
	}
	bring_up_to_date(cpu, own, now, &view);
	if (view.is_served)
		EMIT(.kind = EVENT_REQUEST, .begin_ns = begin, .pid = prev ? prev->pid : 0,
		     .target = cpu, .a = now, .c = ve_of(&view.account),
		     .d = key_of(&view.account));
	if (now - own->balanced_ns >= balance_interval_ns) {
		own->balanced_ns = now;
		rescue_from_others(cpu);
		if (is_balancing)
			pid = pull_from_busiest(cpu);
	}
	if (!pid)
		pid = take(cpu, &view, &key);
	if (!pid && !view.is_candidate)
		pid = look_elsewhere(cpu, own, now, &view, &key);
	if (pid)
		flags |= FLAG_MOVED;
	if (!pid && prev && before && view.is_candidate) {
		flags |= FLAG_KEPT;
		key = key_of(&view.account);
		pid = keep(prev, before, own);
	}
	count(STAT_DISPATCHES);
	EMIT(.kind = EVENT_DISPATCH, .flags = flags, .begin_ns = begin, .pid = pid, .target = cpu,
	     .a = prev ? prev->pid : 0, .b = now, .c = key);
}

SEC("?struct_ops/running")
void BPF_PROG(queue_running, struct task_struct *p)
{
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);
	u64 now = bpf_ktime_get_ns(), left_ns;

	if (!task || !own)
		return;
	/* Pulled; or woken past enqueue, because a CPU or this scheduler is ending. */
	if (!is_member_of(task, cpu))
		join_queue(task, p->pid, cpu, now, task->is_member ? 0 : FLAG_WAKEUP);
	bpf_spin_lock(&own->lock);
	own->running = p->pid;
	own->account = task->account;
	own->since_ns = now;
	left_ns = turn_ns(own, &own->account);
	bpf_spin_unlock(&own->lock);
	task->left_ns = left_ns;
	set_slice(p, left_ns);
	start_running(p, task, own, cpu, now, key_of(&task->account));
}

SEC("?struct_ops/stopping")
void BPF_PROG(queue_stopping, struct task_struct *p, bool runnable)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns(), ran;
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (!task || !own)
		return;
	ran = charge(task, now);
	task->since_ns = 0;
	bpf_spin_lock(&own->lock);
	advance(own, now);
	if (own->running == p->pid) {
		task->account = own->account;
		own->running = 0;
	}
	bpf_spin_unlock(&own->lock);
	EMIT(.kind = EVENT_STOPPING, .flags = runnable ? FLAG_RUNNABLE : 0, .begin_ns = begin,
	     .pid = p->pid, .target = cpu, .a = now, .b = key_of(&task->account), .c = ran,
	     .d = task->left_ns);
}

/* A task sleeps, ends, or is taken out because its nice value or its CPUs change. */
SEC("struct_ops/queue_quiescent")
void BPF_PROG(queue_quiescent, struct task_struct *p, u64 deq_flags)
{
	u64 begin = trace_begin(), now = bpf_ktime_get_ns();
	struct task_context *task = context_of(p);

	if (!task)
		return;
	is_taken(task);
	leave_queue(p->pid, task, now);
	EMIT(.kind = EVENT_QUIESCENT, .begin_ns = begin, .pid = p->pid, .a = deq_flags);
}

SEC("struct_ops.s/queue_init_task")
s32 BPF_PROG(queue_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	u64 begin = trace_begin();
	struct task_context *task =
		bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!task)
		return -ENOMEM;
	task->last_cpu = task->queue_cpu = -1;
	task->static_prio = p->static_prio;
	task->is_new = args->fork;
	EMIT(.kind = EVENT_INIT_TASK, .flags = args->fork ? FLAG_FORK : 0, .begin_ns = begin,
	     .pid = p->pid, .a = p->static_prio, .c = allowed_word(p));
	return 0;
}

SEC("struct_ops/queue_exit_task")
void BPF_PROG(queue_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	u64 begin = trace_begin();
	struct task_context *task = bpf_task_storage_get(&tasks, p, 0, 0);

	if (task) {
		is_taken(task);
		leave_queue(p->pid, task, bpf_ktime_get_ns());
	}
	EMIT(.kind = EVENT_EXIT_TASK, .begin_ns = begin, .pid = p->pid);
}

/* What is still there when the kernel tells us. */
SEC("struct_ops/queue_cpu_offline")
void BPF_PROG(queue_cpu_offline, s32 cpu)
{
	u64 begin = trace_begin();
	struct cpu_context *own = cpu_context(cpu);

	if (own)
		want_no_work(own);
	rescue_from(cpu);
	EMIT(.kind = EVENT_CPU, .begin_ns = begin, .target = cpu);
}

/* A queue for each CPU that there may be. */
static __always_inline s32 init_queues(void)
{
	s32 cpu, error = init_cpus();

	if (error)
		return error;
	bpf_for(cpu, 0, nr_cpus) {
		error = scx_bpf_create_dsq(cpu, -1);
		if (error)
			return error;
	}
	return 0;
}

#define QUEUES_SCHEDULER(id, ...)                             \
	SCHEDULER(id, .init_task = (void *)queue_init_task,   \
		  .exit_task = (void *)queue_exit_task,       \
		  .dispatch = (void *)queue_dispatch,         \
		  .running = (void *)queue_running,           \
		  .stopping = (void *)queue_stopping,         \
		  .quiescent = (void *)queue_quiescent,       \
		  .cpu_offline = (void *)queue_cpu_offline, __VA_ARGS__)

#endif
