//! getrusage(2) of this process and of the children it waited for.

use model::Usage;

/// What this process and its waited-for children have used so far.
pub fn resource_usage() -> Usage {
    let own = raw(libc::RUSAGE_SELF);
    let children = raw(libc::RUSAGE_CHILDREN);
    let sum = |own: i64, children: i64| (own + children).unsigned_abs();
    let ns = |time: libc::timeval| time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000;
    Usage {
        user_ns: sum(ns(own.ru_utime), ns(children.ru_utime)),
        system_ns: sum(ns(own.ru_stime), ns(children.ru_stime)),
        max_rss_bytes: own.ru_maxrss.max(children.ru_maxrss).unsigned_abs() * 1024,
        voluntary_switches: sum(own.ru_nvcsw, children.ru_nvcsw),
        involuntary_switches: sum(own.ru_nivcsw, children.ru_nivcsw),
        minor_faults: sum(own.ru_minflt, children.ru_minflt),
        major_faults: sum(own.ru_majflt, children.ru_majflt),
    }
}

/// What was used between two readings; the resident set is the later one's.
pub fn usage_between(before: &Usage, after: &Usage) -> Usage {
    Usage {
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        max_rss_bytes: after.max_rss_bytes,
        voluntary_switches: after.voluntary_switches.saturating_sub(before.voluntary_switches),
        involuntary_switches: after
            .involuntary_switches
            .saturating_sub(before.involuntary_switches),
        minor_faults: after.minor_faults.saturating_sub(before.minor_faults),
        major_faults: after.major_faults.saturating_sub(before.major_faults),
    }
}

/// Page faults with I/O of this thread so far.
pub fn thread_major_faults() -> u64 {
    raw(libc::RUSAGE_THREAD).ru_majflt.unsigned_abs()
}

fn raw(who: libc::c_int) -> libc::rusage {
    // SAFETY: an all-zero rusage is valid, and the kernel fills it; the call
    // cannot fail for the three constants that are given (getrusage(2)).
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    }
}
