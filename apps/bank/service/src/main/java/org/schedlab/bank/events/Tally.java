package org.schedlab.bank.events;

import java.util.concurrent.atomic.AtomicLong;
import org.springframework.stereotype.Component;

/** What only this process knows about the current epoch; the tables know the rest. */
@Component
public class Tally {

    private final AtomicLong replays = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong acknowledgedTransactions = new AtomicLong();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong duplicates = new AtomicLong();

    public void replayed() {
        replays.incrementAndGet();
    }

    public void acknowledged(Message message) {
        acknowledged.incrementAndGet();
        if (message.topic().equals(Topics.TRANSACTIONS)) {
            acknowledgedTransactions.incrementAndGet();
        }
    }

    public void received(boolean isDuplicate) {
        (isDuplicate ? duplicates : received).incrementAndGet();
    }

    public long replays() {
        return replays.get();
    }

    /** Messages of the topic transactions that the bus has accepted. */
    public long acknowledgedTransactions() {
        return acknowledgedTransactions.get();
    }

    /** Messages that carried an event id seen before. */
    public long duplicates() {
        return duplicates.get();
    }

    /** Whether every message that the bus accepted has come back; a redelivery stands for none. */
    public boolean isAllReceived() {
        return received.get() >= acknowledged.get();
    }

    void reset(long acknowledgedBefore, long acknowledgedTransactionsBefore, long receivedBefore) {
        replays.set(0);
        duplicates.set(0);
        acknowledged.set(acknowledgedBefore);
        acknowledgedTransactions.set(acknowledgedTransactionsBefore);
        received.set(receivedBefore);
    }
}
