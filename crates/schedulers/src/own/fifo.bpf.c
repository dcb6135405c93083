// SPDX-License-Identifier: GPL-2.0-only
/*
 * First come, first served: one queue, no preemption. See fifo.md.
 */
#include "scx.bpf.h"

const volatile u64 run_limit_ns = 100000000;

#define QUOTA_NS run_limit_ns
#include "one_queue.bpf.h"

SCHEDULER("fifo", ONE_QUEUE)
