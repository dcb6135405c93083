/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a scheduler decided and what it knew when it did: one event of 64 bytes for each
 * operation, from which a model that shares no code can recompute every decision.
 * src/own/trace.rs reads these; the two must agree.
 *
 * Each event has the clock (CLOCK_MONOTONIC) at the begin and at the end of the operation,
 * because the operations of several CPUs overlap: what happened first is known only
 * where the intervals do not. Without tracing all of it is removed by the verifier.
 */
#ifndef SCHEDLAB_TRACE_BPF_H
#define SCHEDLAB_TRACE_BPF_H

const volatile bool tracing = false;

/* A lost event makes a trace useless as a proof; how many were lost is kept. */
u64 events_lost = 0;

enum event_kind {
	EVENT_INIT_TASK = 1,	/* a static_prio, c allowed CPUs; flag FORK */
	EVENT_EXIT_TASK = 2,
	EVENT_SELECT_CPU = 3,	/* target chosen CPU, a previous CPU, b wake_flags, c allowed CPUs; flag IDLE */
	EVENT_ENQUEUE = 4,	/* target CPU of the task, a clock used, b key, c allowed CPUs, d quota left;
				   flags WAKEUP, SYNC, FORK, CLAIMED, STICKY, YIELDED */
	EVENT_DISPATCH = 5,	/* pid chosen (0: none), a previous task (0: none), b clock used,
				   c key chosen; flags RUNNABLE, KEPT, MOVED, STICKY */
	EVENT_RUNNING = 6,	/* a clock used, b key, d quota left */
	EVENT_STOPPING = 7,	/* a clock used, b key, c ran, d quota left; flag RUNNABLE */
	EVENT_QUIESCENT = 8,	/* a deq_flags */
	EVENT_SET_WEIGHT = 9,	/* a static_prio, b the one before, d key */
	EVENT_SET_CPUMASK = 10, /* c allowed CPUs */
	EVENT_KICK = 11,	/* target kicked CPU, pid on whose behalf, a its key, b key and c pid of the
				   running task; flags IDLE, PREEMPT, RETRY */
	EVENT_IDLE = 12,	/* target CPU; flag IDLE: it became idle */
	EVENT_CPU = 13,		/* target CPU; flag ONLINE: it came; else it went, with all tasks that no other may run */
	EVENT_YIELD = 14,
	EVENT_RESCUE = 15,	/* pid was given past the queue to target, which is going offline; flag RUNNABLE:
				   which it ran on, and must not leave */
	EVENT_CHARGE = 16,	/* pid, which runs on target, up to its dispatch: a clock used, b key, d quota left.
				   The dispatch may let go of the run queue afterwards, and another CPU stop and
				   start the task before the dispatch's own event */
	/* From 80 on algorithms have their own: to 95 cfs and eevdf, to 111 lottery, to 127
	   mlfq. */
	EVENT_QUEUE = 80, /* queue target after a change: a clock used, b version << 32 | load; cfs c
			     key of the first (~0: none, or not looked at), d min_vruntime; eevdf c V, d rest of V; flag JOINED or LEFT: pid did */
	EVENT_PLACE = 81, /* pid joined target, a from which queue (-1: none); cfs b min_vruntime there,
			     c vruntime before, d after; eevdf b lag, c ve, d vd; flags WAKEUP, FORK */
	EVENT_TICK = 82,  /* cfs: a clock used, b slice, c ran in this turn, d key of the first (~0: none);
			     flag PREEMPT: the turn is over */
	EVENT_BALANCE = 83, /* target pulled pid, a from which queue, b load there, c load here, d weight;
			       flag IDLE: it had nothing to run */
	EVENT_REQUEST = 84, /* eevdf: a request of pid ended: a clock used, c ve, d vd of the next */
	EVENT_DRAW = 96,    /* lottery: target drew, pid won: a random number, b tickets in the draw, c the
			       winner's, d the running task's, which come first; flag RETRY: no task that
			       may run there held it */
	EVENT_BOOST = 112,  /* mlfq: pid was moved to the top (0: all that do not wait), a clock used,
			       b number of the boost, c from which level */
	EVENT_DEMOTE = 113, /* mlfq: pid used up its allotment: a clock used, b used, c level before, d after */
};

enum event_flag {
	FLAG_WAKEUP = 1 << 0,
	FLAG_SYNC = 1 << 1,
	FLAG_FORK = 1 << 2,
	FLAG_IDLE = 1 << 3,
	FLAG_PREEMPT = 1 << 4,
	FLAG_RUNNABLE = 1 << 5,
	FLAG_KEPT = 1 << 6,
	FLAG_MOVED = 1 << 7,
	FLAG_STICKY = 1 << 8,
	FLAG_RETRY = 1 << 9,
	FLAG_YIELDED = 1 << 10,
	FLAG_CLAIMED = 1 << 11,
	FLAG_ONLINE = 1 << 12,
	FLAG_JOINED = 1 << 13,
	FLAG_LEFT = 1 << 14,
};

struct event {
	u64 begin_ns;
	u64 end_ns;
	u64 a;
	u64 b;
	u64 c;
	u64 d;
	u32 sequence; /* of the events of this CPU: a gap is a loss */
	s32 pid;
	u16 cpu; /* where the operation ran */
	s16 target;
	u16 kind;
	u16 flags;
};
_Static_assert(sizeof(struct event) == 64, "src/own/trace.rs reads 64 bytes");

/* One page until the loader asks for more. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} event_sequence SEC(".maps");

static __always_inline u64 trace_begin(void)
{
	return tracing ? bpf_ktime_get_ns() : 0;
}

static __noinline int emit(struct event *event)
{
	u32 key = 0, *sequence = bpf_map_lookup_elem(&event_sequence, &key);

	if (!event || !sequence)
		return 0;
	event->cpu = bpf_get_smp_processor_id();
	/* An interrupt may wake a task in the middle of an operation that has them on. */
	event->sequence = __sync_fetch_and_add(sequence, 1);
	event->end_ns = bpf_ktime_get_ns();
	/* The reader looks by the clock: waking it would put the tracer into the trace. */
	if (bpf_ringbuf_output(&events, event, sizeof(*event), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&events_lost, 1);
	return 0;
}

#define EMIT(...)                                           \
	do {                                                \
		if (tracing) {                              \
			struct event ___event = { __VA_ARGS__ }; \
			emit(&___event);                    \
		}                                           \
	} while (0)

#endif
