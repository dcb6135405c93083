/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What per_cpu_queues.bpf.h keeps of each task and each CPU, as members of the contexts. A
 * scheduler declares its `struct account` before: where a task stands in virtual time.
 */
#ifndef SCHEDLAB_QUEUE_CONTEXT_BPF_H
#define SCHEDLAB_QUEUE_CONTEXT_BPF_H

#include "context.bpf.h"

/* In every task_context, after TASK_CONTEXT: */
#define TASK_QUEUE_CONTEXT                                                        \
	struct account account; /* out of date while it runs: the CPU has it then */ \
	s32 queue_cpu;		/* whose queue it is or last was a member of; -1: none */ \
	u32 is_member

/* In every cpu_context, after CPU_CONTEXT. The lock is for all but balanced_ns: a CPU
 * that pulls a task changes the account of another CPU's queue. */
#define CPU_QUEUE_CONTEXT                                                      \
	struct bpf_spin_lock lock;                                             \
	s32 running;	     /* pid, 0: none of ours */                        \
	struct account account; /* of the running task */                      \
	u64 since_ns;	     /* not charged to the running task from here on */ \
	u64 load;	     /* sum of the weights of the members */           \
	u32 nr;		     /* members: tasks that wait, and the one that runs */ \
	u32 version;	     /* counts changes, to bring events into order */  \
	u64 balanced_ns

/* A task becomes a member of a queue: what is known, and b, c and d of EVENT_PLACE. */
struct arrival {
	s32 from; /* whose queue it was a member of last; -1: none */
	s32 cpu;
	u16 flags; /* WAKEUP or FORK; neither: it was runnable already */
	u64 b;
	u64 c;
	u64 d;
};

/* EVENT_QUEUE: a queue after a change. */
struct queue_state {
	u64 clock_ns;
	u64 version_and_load;
	u64 c;
	u64 d;
};

/* What a choice is made from, read at once: the running task, the virtual time, the members. */
struct view {
	struct account account;
	u64 virtual_time;
	u64 load;
	u32 nr;
	bool is_candidate; /* the running task may go on */
	bool has_yielded;
	bool is_served; /* its request ended */
};

#endif
