// SPDX-License-Identifier: GPL-2.0-only
/*
 * Round robin: one queue, equal quanta. See rr.md.
 */
#include "scx.bpf.h"

const volatile u64 quantum_ns = 10000000;

#define QUOTA_NS quantum_ns
#include "one_queue.bpf.h"

SCHEDULER("rr", ONE_QUEUE)
