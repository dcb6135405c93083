package org.schedlab.bank.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.settings.EventsMode;
import org.schedlab.bank.settings.Fault;
import org.schedlab.bank.settings.Settings;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class SlowStartTest {

    @Test
    void theBurnFallsEvenlyToNothing() {
        assertThat(SlowStart.burnUs(-5)).isEqualTo(SlowStart.FIRST_BURN_US);
        assertThat(SlowStart.burnUs(0)).isEqualTo(SlowStart.FIRST_BURN_US);
        assertThat(SlowStart.burnUs(10_000)).isEqualTo(SlowStart.FIRST_BURN_US / 2);
        assertThat(SlowStart.burnUs(20_000)).isZero();
        assertThat(SlowStart.burnUs(86_400_000)).isZero();
    }

    @Test
    void aRequestBurnsCpuOnlyWithTheFault() throws Exception {
        assertThat(cpuUsOfOneRequest(EnumSet.of(Fault.SLOW_START))).isGreaterThan(SlowStart.FIRST_BURN_US / 2);
        assertThat(cpuUsOfOneRequest(EnumSet.noneOf(Fault.class))).isLessThan(SlowStart.FIRST_BURN_US / 2);
    }

    private static long cpuUsOfOneRequest(Set<Fault> faults) throws Exception {
        var filter = new SlowStart(new Settings(0, EventsMode.OFF, "", 1, 1, faults, Optional.empty()));
        var request = new MockHttpServletRequest("GET", "/");
        var threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        filter.doFilter(request, new MockHttpServletResponse(), new MockFilterChain());
        return (threads.getCurrentThreadCpuTime() - before) / 1_000;
    }
}
