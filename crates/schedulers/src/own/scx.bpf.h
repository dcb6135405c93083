/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel as our schedulers see it: only the types, numbers and functions they use.
 *
 * Members are found by name when an object is loaded (CO-RE), so one object fits all
 * kernels from 6.18 to 7.3. Functions are weak: what a kernel lacks is absent instead of
 * an error, and code behind bpf_ksym_exists() of an absent one is removed by the verifier.
 * Numbers are those of the kernels' BTF (6.18.15, 7.2.13 and 7.3.4 agree on all given as
 * #define; the others are asked for by name).
 */
#ifndef SCHEDLAB_SCX_BPF_H
#define SCHEDLAB_SCX_BPF_H

typedef signed char s8;
typedef unsigned char u8;
typedef short s16;
typedef unsigned short u16;
typedef int s32;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s8 __s8;
typedef s16 __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* include/uapi/linux/bpf.h, 6.18: numbers of the stable interface. */
enum bpf_map_type {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
#define BPF_F_NO_PREALLOC 1
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1
#define BPF_RB_NO_WAKEUP 1

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

#define ENOMEM 12
#define ENOENT 2
#define barrier() asm volatile("" ::: "memory")

/* Types. The kernel's have more members; only the named ones are looked for. */

struct cpumask {
	unsigned long bits[128];
} __attribute__((preserve_access_index));

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
	u64 dsq_vtime;
} __attribute__((preserve_access_index));

struct task_struct {
	s32 pid;
	s32 static_prio;
	const struct cpumask *cpus_ptr;
	u16 migration_disabled;
	struct sched_ext_entity scx;
} __attribute__((preserve_access_index));

enum scx_exit_kind {
	SCX_EXIT_NONE = 0,
};

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	char *msg;
} __attribute__((preserve_access_index));

struct scx_init_task_args {
	bool fork;
} __attribute__((preserve_access_index));

/* kernel/cpu.c: how far a CPU has come on its way up or down, and where it is to go. */
enum cpuhp_state {
	CPUHP_OFFLINE = 0,
};

struct cpuhp_cpu_state {
	enum cpuhp_state state;
	enum cpuhp_state target;
} __attribute__((preserve_access_index));

extern const struct cpuhp_cpu_state cpuhp_state __ksym __weak;

struct scx_exit_task_args;
struct bpf_iter_scx_dsq {
	u64 __opaque[6];
} __attribute__((aligned(8)));

/* In a value of a map: found by name and size, so without relocations. */
struct bpf_spin_lock {
	u32 val;
};

/* The state of bpf_for(). */
struct bpf_iter_num {
	u64 __opaque[1];
} __attribute__((aligned(8)));

/* From 6.19 on: five scalars are one too many for the verifier's hidden argument. */
struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
};

/* Its numbers moved between 6.18 and 7.2: bpf_core_enum_value() asks the kernel. */
enum scx_enq_flags {
	SCX_ENQ_HEAD = 16,
};

#define SCX_ENQ_WAKEUP 1ULL
#define SCX_WAKE_SYNC 16ULL
#define SCX_KICK_PREEMPT 2ULL
#define SCX_TASK_QUEUED 1U
#define SCX_DSQ_LOCAL 0x8000000000000002ULL
#define SCX_DSQ_LOCAL_ON 0xC000000000000000ULL
#define SCX_OPS_KEEP_BUILTIN_IDLE (1ULL << 0)
#define SCX_OPS_ENQ_EXITING (1ULL << 2)
#define SCX_OPS_ENQ_MIGRATION_DISABLED (1ULL << 4)

/*
 * The operations we set, in an order of our own: libbpf goes by the names. What is not
 * here is zero for the kernel.
 */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dequeue)(struct task_struct *p, u64 deq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*runnable)(struct task_struct *p, u64 enq_flags);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 deq_flags);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*set_weight)(struct task_struct *p, u32 weight);
	void (*set_cpumask)(struct task_struct *p, const struct cpumask *cpumask);
	void (*update_idle)(s32 cpu, bool idle);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	void (*cpu_online)(s32 cpu);
	void (*cpu_offline)(s32 cpu);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *ei);
	u64 flags;
	u32 timeout_ms;
	char name[128];
};

/* Functions of the kernel (kernel/sched/ext.c, kernel/bpf/cpumask.c). */

extern s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym __weak;
extern s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym __weak;
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime,
				     u64 enq_flags) __ksym __weak;
extern bool __scx_bpf_dsq_insert_vtime(struct task_struct *p,
				       struct scx_bpf_dsq_insert_vtime_args *args) __ksym __weak;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id,
			     u64 enq_flags) __ksym __weak;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym __weak;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym __weak;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym __weak;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym __weak;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym __weak;
extern bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym __weak;
extern s32 scx_bpf_pick_idle_cpu(const struct cpumask *cpus_allowed, u64 flags) __ksym __weak;
extern s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
				  bool *is_idle) __ksym __weak;
extern u32 scx_bpf_nr_cpu_ids(void) __ksym __weak;
extern const struct cpumask *scx_bpf_get_online_cpumask(void) __ksym __weak;
extern void scx_bpf_put_cpumask(const struct cpumask *cpumask) __ksym __weak;
extern bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;
extern void scx_bpf_error_bstr(char *fmt, unsigned long long *data, u32 data__sz) __ksym __weak;
extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *p) __ksym __weak;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym __weak;

/* The iterator that bpf_for_each(scx_dsq, ...) declares, for scx_bpf_dsq_move(). */
#define QUEUE_POSITION (&___it)

/* Ends the scheduler with a message; the kernel's own classes take over. */
#define give_up(text)                                        \
	({                                                   \
		static char ___text[] = text;                \
		unsigned long long ___none = 0;              \
		scx_bpf_error_bstr(___text, &___none, 0);    \
	})

/* Inserts into a queue that is ordered by `key`, lowest first. */
static __always_inline void insert_ordered(struct task_struct *p, u64 queue, u64 slice_ns, u64 key,
					   u64 enq_flags)
{
	if (bpf_core_type_exists(struct scx_bpf_dsq_insert_vtime_args)) {
		struct scx_bpf_dsq_insert_vtime_args args = {
			.dsq_id = queue,
			.slice = slice_ns,
			.vtime = key,
			.enq_flags = enq_flags,
		};
		__scx_bpf_dsq_insert_vtime(p, &args);
	} else {
		scx_bpf_dsq_insert_vtime(p, queue, slice_ns, key, enq_flags);
	}
}

/* From 6.19 on the slice is set by a function; before it was written. */
static __always_inline void set_slice(struct task_struct *p, u64 slice_ns)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice))
		scx_bpf_task_set_slice(p, slice_ns);
	else
		p->scx.slice = slice_ns;
}

static __always_inline bool is_allowed(const struct task_struct *p, s32 cpu)
{
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* The first 64 CPUs a task may run on, for traces. */
static __always_inline u64 allowed_word(const struct task_struct *p)
{
	return p->cpus_ptr->bits[0];
}

/* kernel/sched/core.c, sched_prio_to_weight: nice -20 to 19, each 1.25 times the next. */
static const u64 nice_weights[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548,  7620,  6100,  4904,  3906,  3121,  2501,	 1991,	1586,  1277,
	1024,  820,   655,   526,   423,   335,	  272,	 215,	172,   137,
	110,   87,    70,    56,    45,	   36,	  29,	 23,	18,    15,
};
#define NICE_0_WEIGHT 1024

/* 0 for nice -20 to 39 for nice 19 (static_prio is 100 to 139). */
static __always_inline u32 nice_index(s32 static_prio)
{
	s32 index = static_prio - 100;

	return index < 0 ? 0 : index > 39 ? 39 : index;
}

static __always_inline u64 nice_weight(s32 static_prio)
{
	return nice_weights[nice_index(static_prio)];
}

#endif
