package org.schedlab.bank.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class GcPausesTest {

    @Test
    void pausesAreSummedAndTheNewestKept() throws Exception {
        GcPauses pauses = new GcPauses();
        pauses.stopListening();
        for (int i = 1; i <= 150; i++) {
            pauses.keep(new GcPause(i, i, "Copy", "a reason"));
        }
        GcPausesView view = pauses.view();
        assertThat(view.count()).isEqualTo(150);
        assertThat(view.totalMs()).isEqualTo(150 * 151 / 2);
        assertThat(view.maxMs()).isEqualTo(150);
        assertThat(view.recent()).hasSize(100).last().extracting(GcPause::durationMs).isEqualTo(150L);
    }

    @Test
    void concurrentPhasesAreNoPauses() throws Exception {
        GcPauses pauses = new GcPauses();
        pauses.stopListening();
        pauses.keep(new GcPause(1, 500, "ZGC Cycles", "a reason"));
        pauses.keep(new GcPause(1, 500, "G1 Concurrent GC", "a reason"));
        pauses.keep(new GcPause(1, 1, "ZGC Pauses", "a reason"));
        assertThat(pauses.view().count()).isEqualTo(1);
    }

    @Test
    @Timeout(240)
    void aCollectionIsHeard() throws Exception {
        GcPauses pauses = new GcPauses();
        while (pauses.view().count() == 0) {
            System.gc();
            Thread.sleep(50);
        }
        assertThat(pauses.view().recent().get(0).cause()).isNotBlank();
        pauses.stopListening();
    }
}
