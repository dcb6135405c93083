package org.schedlab.bank.admin;

import java.util.List;

/** What the JVM says about itself; times and counts are since its start. */
public record ProcessView(
        long pid,
        long uptimeMs,
        long cpuMs,
        long jitMs,
        int threads,
        long heapUsedBytes,
        long heapCommittedBytes,
        List<Collector> gc,
        GcPausesView gcPauses,
        String events,
        String database,
        List<String> faults,
        int workers,
        int requestThreads) {

    /** One collector of the JVM. */
    public record Collector(String name, long count, long timeMs) {
    }
}
