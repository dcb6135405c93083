package org.schedlab.bank.fault;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.schedlab.bank.settings.Fault;
import org.schedlab.bank.settings.Settings;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** The fault slow-start: extra CPU per request that falls evenly to nothing over the first 20 seconds. */
@Component
class SlowStart extends OncePerRequestFilter {

    static final long LASTS_MS = 20_000;
    static final long FIRST_BURN_US = 10_000;
    private static final int ROUNDS_BETWEEN_LOOKS = 500;

    private final boolean isOn;
    private volatile long readyNs = System.nanoTime();
    private volatile long sink;

    SlowStart(Settings settings) {
        this.isOn = settings.has(Fault.SLOW_START);
    }

    @EventListener(ApplicationReadyEvent.class)
    void ready() {
        readyNs = System.nanoTime();
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return !isOn;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        burn(burnUs((System.nanoTime() - readyNs) / 1_000_000));
        chain.doFilter(request, response);
    }

    static long burnUs(long sinceReadyMs) {
        long left = Math.max(0, LASTS_MS - Math.max(0, sinceReadyMs));
        return FIRST_BURN_US * left / LASTS_MS;
    }

    /** Burns CPU time, not wall time: on a busy machine the work stays the same. */
    void burn(long us) {
        var threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + us * 1_000;
        long value = sink;
        while (threads.getCurrentThreadCpuTime() < end) {
            for (int round = 0; round < ROUNDS_BETWEEN_LOOKS; round++) {
                value = value * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
            }
        }
        sink = value;
    }
}
