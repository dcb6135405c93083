package org.schedlab.bank.admin;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.Locale;
import org.schedlab.bank.settings.Fault;
import org.schedlab.bank.settings.Settings;
import org.springframework.stereotype.Component;

/** Reads the management beans of this JVM. */
@Component
class ThisProcess {

    private static final long NS_PER_MS = 1_000_000;

    private final Settings settings;
    private final GcPauses pauses;

    ThisProcess(Settings settings, GcPauses pauses) {
        this.settings = settings;
        this.pauses = pauses;
    }

    ProcessView read() {
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new ProcessView(
                ProcessHandle.current().pid(),
                ManagementFactory.getRuntimeMXBean().getUptime(),
                system.getProcessCpuTime() / NS_PER_MS,
                jitMs(),
                ManagementFactory.getThreadMXBean().getThreadCount(),
                heap.getUsed(),
                heap.getCommitted(),
                collectors(),
                pauses.view(),
                settings.events().name().toLowerCase(Locale.ROOT),
                settings.database(),
                settings.faults().stream().map(Fault::id).toList(),
                settings.workers(),
                settings.threads());
    }

    /** A JVM that only interprets (-Xint) has no compiler to ask. */
    private static long jitMs() {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        return compiler == null ? 0 : compiler.getTotalCompilationTime();
    }

    private static List<ProcessView.Collector> collectors() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(bean -> new ProcessView.Collector(
                        bean.getName(), bean.getCollectionCount(), bean.getCollectionTime()))
                .toList();
    }
}
