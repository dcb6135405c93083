package org.schedlab.bank.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
class LocalBusTest {

    private static final Message MESSAGE = new Message(Topics.TRANSACTIONS, "1", "an id", "an epoch", "{}");

    /** Otherwise the outbox would mark as sent what a crash loses. */
    @Test
    void aMessageIsAcknowledgedOnlyOnceItIsReceived() throws Exception {
        Semaphore gate = new Semaphore(0);
        try (LocalBus bus = new LocalBus()) {
            bus.open(message -> gate.acquireUninterruptibly());
            CompletableFuture<?> receipt = bus.send(MESSAGE);
            Thread.sleep(50);
            assertThat(receipt).isNotDone();
            gate.release();
            receipt.get(120, TimeUnit.SECONDS);
        }
    }

    @Test
    void aMessageThatFailsIsDeliveredAgain() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        try (LocalBus bus = new LocalBus()) {
            bus.open(message -> {
                if (attempts.incrementAndGet() == 1) {
                    throw new IllegalStateException("not yet");
                }
            });
            bus.send(MESSAGE).get(120, TimeUnit.SECONDS);
            assertThat(attempts).hasValue(2);
        }
    }
}
