package org.schedlab.bank.admin;

import com.sun.management.GarbageCollectionNotificationInfo;
import jakarta.annotation.PreDestroy;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.springframework.stereotype.Component;

/** Listens to the collectors and keeps their pauses; phases that run beside the program are no pauses. */
@Component
class GcPauses {

    private static final int KEPT = 100;

    private final NotificationListener listener = (notification, handback) -> heard(notification);
    private final Deque<GcPause> recent = new ArrayDeque<>();
    private long count;
    private long totalMs;
    private long maxMs;

    GcPauses() {
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) collector).addNotificationListener(listener, null, null);
        }
    }

    synchronized GcPausesView view() {
        return new GcPausesView(count, totalMs, maxMs, List.copyOf(recent));
    }

    /** ZGC and Shenandoah call the concurrent part a cycle; G1 names its own so from JDK 20 on. */
    static boolean stopsTheWorld(String collector) {
        return !collector.contains("Cycles") && !collector.contains("Concurrent");
    }

    synchronized void keep(GcPause pause) {
        if (!stopsTheWorld(pause.collector())) {
            return;
        }
        count++;
        totalMs += pause.durationMs();
        maxMs = Math.max(maxMs, pause.durationMs());
        recent.addLast(pause);
        if (recent.size() > KEPT) {
            recent.removeFirst();
        }
    }

    @PreDestroy
    void stopListening() throws ListenerNotFoundException {
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            ((NotificationEmitter) collector).removeNotificationListener(listener);
        }
    }

    private void heard(Notification notification) {
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            var heard = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
            keep(new GcPause(heard.getGcInfo().getStartTime(), heard.getGcInfo().getDuration(),
                    heard.getGcName(), heard.getGcCause()));
        }
    }
}
