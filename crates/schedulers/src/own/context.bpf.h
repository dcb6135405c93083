/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What scheduler.bpf.h keeps of each task and each CPU, as members of the contexts that a
 * scheduler declares.
 */
#ifndef SCHEDLAB_CONTEXT_BPF_H
#define SCHEDLAB_CONTEXT_BPF_H

#include "scx.bpf.h"

/* In every task_context: */
#define TASK_CONTEXT                                                                 \
	u64 since_ns;	 /* start of the time that is not charged yet; 0: does not run */ \
	u64 left_ns;	 /* left of its quota */                                     \
	s32 last_cpu;	 /* -1: none yet */                                          \
	s32 static_prio; /* as of the last set_weight */                             \
	u32 is_waiting;	 /* announced and not taken; changed atomically */           \
	u8 is_claimed;	 /* select_cpu claimed an idle CPU for it */                 \
	u8 is_sync;	 /* the waker is about to sleep */                           \
	u8 is_new;	 /* forked, and not enqueued yet */                          \
	u8 has_yielded

/* In every cpu_context: */
#define CPU_CONTEXT                                                          \
	u64 retry_since_ns;                                                  \
	u32 wants_work /* found nothing; changed atomically */

#endif
