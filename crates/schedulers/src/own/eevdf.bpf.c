// SPDX-License-Identifier: GPL-2.0-only
/*
 * Earliest eligible virtual deadline first, as published in 1995. See eevdf.md.
 */
#include "context.bpf.h"

/*
 * Virtual time is in ns that a task of weight 1024 would have been served. Nothing is lost
 * in divisions: what a division leaves stays in `rest`, in service ns times 1024.
 */
struct account {
	u64 ve;	     /* when the request became eligible, virtual */
	u64 rest;    /* service before ve that is no whole ns of it, below weight */
	u64 vd;	     /* virtual deadline of the request */
	u64 used_ns; /* service of the request so far */
	u64 weight;
	s64 lag; /* when it last left a queue, in service ns times 1024 */
};

#include "queue_context.bpf.h"

struct task_context {
	TASK_CONTEXT;
	TASK_QUEUE_CONTEXT;
};

/*
 * The virtual time of a queue is the mean, by weight, of what its members have had: the sum
 * of their lags is zero by construction. 0 <= rest < load.
 */
struct cpu_context {
	CPU_CONTEXT;
	CPU_QUEUE_CONTEXT;
	u64 virtual_time;
	u64 rest;
};

#include "scheduler.bpf.h"

enum without {
	WITHOUT_NONE,
	WITHOUT_ELIGIBILITY,
	WITHOUT_PREEMPTION,
	WITHOUT_LAG,
};

const volatile u64 slice_ns = 3000000;
const volatile u64 balance_interval_ns = 16000000;
const volatile u32 without = WITHOUT_NONE;

#define is_balancing true

/* No key: nobody waits, or nothing weighs too much. */
#define NONE (~0ULL)

/* A tick at HZ=250: how much longer than asked for a task may be served. */
#define TICK_NS 4000000ULL

static __always_inline bool is_before(u64 one, u64 other)
{
	return (s64)(one - other) < 0;
}

static __always_inline u64 key_of(struct account *account)
{
	return account->vd;
}

static __always_inline u64 ve_of(struct account *account)
{
	return account->ve;
}

static __always_inline u64 virtual_time(struct cpu_context *own)
{
	return own->virtual_time;
}

/* Adds service (in ns times 1024) to the mean; the machine has no signed division. */
static __always_inline void add_to_mean(struct cpu_context *own, s64 service)
{
	u64 load = own->load, back;
	s64 sum = (s64)own->rest + service;

	if (!load) {
		own->rest = 0;
	} else if (sum >= 0) {
		own->virtual_time += (u64)sum / load;
		own->rest = (u64)sum % load;
	} else {
		back = ((u64)-sum + load - 1) / load;
		own->virtual_time -= back;
		own->rest = (u64)sum + back * load;
	}
}

/* What a member has had beyond the virtual time, in service ns times 1024. */
static __always_inline s64 lead_of(struct cpu_context *own, struct account *account)
{
	return (s64)(account->ve - own->virtual_time) * (s64)account->weight +
	       (s64)(account->rest + account->used_ns * NICE_0_WEIGHT);
}

/* V advances by ran / load. */
static __always_inline void serve(struct cpu_context *own, u64 ran_ns)
{
	own->account.used_ns += ran_ns;
	add_to_mean(own, (s64)(ran_ns * NICE_0_WEIGHT));
}

static __always_inline void observe(struct cpu_context *own, u64 first)
{
}

static __always_inline void describe(struct cpu_context *own, u64 first,
				     struct queue_state *state)
{
	state->c = own->virtual_time;
	state->d = own->rest;
}

static __always_inline u64 turn_ns(struct cpu_context *own, struct account *account)
{
	u64 used = account->used_ns;

	return used + USED_UP_NS < slice_ns ? slice_ns - used : USED_UP_NS;
}

static __always_inline void begin_turn(struct account *account)
{
}

/* vd = ve + r / w */
static __always_inline void request(struct account *account)
{
	account->used_ns = 0;
	account->vd = account->ve + slice_ns * NICE_0_WEIGHT / (account->weight ?: 1);
}

/* A request that was served, or given back by a yield: ve advances by what it used. */
static __always_inline bool end_request(struct cpu_context *own, bool has_yielded)
{
	struct account *account = &own->account;
	u64 weight = account->weight ?: 1, service;

	if (!has_yielded && account->used_ns + USED_UP_NS < slice_ns)
		return false;
	service = account->rest + account->used_ns * NICE_0_WEIGHT;
	account->ve += service / weight;
	account->rest = service % weight;
	request(account);
	return true;
}

static __always_inline void before_arrival(struct task_context *task, struct arrival *arrival)
{
}

/*
 * Its lag comes with it: ve = V - lag / w, and then V := V - lag / W, with W the load with
 * the newcomer.
 */
static __always_inline void arrive(struct cpu_context *own, struct account *account,
				   struct arrival *arrival)
{
	s64 lag = account->lag;
	u64 weight = account->weight ?: 1, back;

	if (lag <= 0) {
		account->ve = own->virtual_time + (u64)-lag / weight;
		account->rest = (u64)-lag % weight;
	} else {
		back = ((u64)lag + weight - 1) / weight;
		account->ve = own->virtual_time - back;
		account->rest = back * weight - (u64)lag;
	}
	request(account);
	add_to_mean(own, -lag);
	arrival->b = (u64)lag;
	arrival->c = account->ve;
	arrival->d = account->vd;
}

/* V := V + lag / W, with W the load of those that remain. */
static __always_inline void depart(struct cpu_context *own, struct account *account)
{
	const s64 most = (s64)((slice_ns + TICK_NS) * NICE_0_WEIGHT);
	s64 lag = -lead_of(own, account);

	add_to_mean(own, lag);
	account->lag = without == WITHOUT_LAG ? 0 : lag > most ? most : lag < -most ? -most : lag;
}

static __always_inline bool is_eligible(u64 ve, u64 now)
{
	return without == WITHOUT_ELIGIBILITY || !is_before(now, ve);
}

/* The first that is eligible, or the first where `any` will do. */
static __always_inline s32 take_first(s32 cpu, struct view *view, bool may_go_on, bool any, u64 *key)
{
	struct task_context *task;
	struct task_struct *p;
	u64 vd;
	s32 pid;

	bpf_for_each(scx_dsq, p, cpu, 0) {
		vd = p->scx.dsq_vtime;
		if (may_go_on && !is_before(vd, view->account.vd))
			return 0;
		if (!is_allowed(p, cpu))
			continue;
		task = context_of(p);
		if (!task)
			return 0;
		if (!any && !is_eligible(task->account.ve, view->virtual_time))
			continue;
		pid = p->pid;
		if (!scx_bpf_dsq_move(QUEUE_POSITION, p, SCX_DSQ_LOCAL, 0)) {
			/* Another CPU pulled it. */
			count(STAT_MOVES_LOST);
			continue;
		}
		is_taken(task);
		*key = vd;
		return pid;
	}
	return 0;
}

/*
 * The eligible task of the earliest virtual deadline; the running one is a candidate. Some
 * member is always eligible, but it may be on its way to another CPU: then any will do.
 */
static __always_inline s32 take(s32 cpu, struct view *view, u64 *key)
{
	bool may_go_on = view->is_candidate && !view->has_yielded &&
			 is_eligible(view->account.ve, view->virtual_time);
	s32 pid = take_first(cpu, view, may_go_on, false, key);

	if (!pid && !view->is_candidate)
		pid = take_first(cpu, view, false, true, key);
	return pid;
}

#include "per_cpu_queues.bpf.h"

/* A woken task that is eligible preempts a later deadline. */
static __always_inline void preempt_if_later(struct task_struct *p, struct task_context *task,
					     struct cpu_context *own, s32 cpu)
{
	if (own->running && is_before(task->account.vd, own->account.vd) &&
	    is_eligible(task->account.ve, own->virtual_time))
		preempt(cpu, own, p->pid, task->account.vd);
}

SEC("struct_ops/eevdf_enqueue")
void BPF_PROG(eevdf_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 now = bpf_ktime_get_ns();
	struct task_context *task = context_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);
	u16 flags = 0;

	if (!task || !own)
		return;
	if (enqueue_to_cpu(p, task, own, cpu, now, enq_flags, &flags) &&
	    without != WITHOUT_PREEMPTION && (flags & (FLAG_WAKEUP | FLAG_FORK)))
		preempt_if_later(p, task, own, cpu);
}

/* Only charges; a request ends with the slice. */
SEC("struct_ops/eevdf_tick")
void BPF_PROG(eevdf_tick, struct task_struct *p)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_context *own = cpu_context(cpu);

	if (own && own->running == p->pid)
		bring_up_to_date(cpu, own, bpf_ktime_get_ns(), NULL);
}

SEC("struct_ops.s/eevdf_init")
s32 BPF_PROG(eevdf_init)
{
	return init_queues();
}

QUEUES_SCHEDULER("eevdf",
	.enqueue = (void *)eevdf_enqueue,
	.tick = (void *)eevdf_tick,
	.init = (void *)eevdf_init)
