package org.schedlab.bank.outbox;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.schedlab.bank.events.Draft;
import org.schedlab.bank.settings.EventsMode;
import org.schedlab.bank.settings.Settings;
import org.springframework.data.domain.Limit;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import tools.jackson.databind.json.JsonMapper;

/** Events that share the fate of the transaction that wrote them. */
@Component
public class Outbox {

    private final OutboxRepository events;
    private final JsonMapper json;
    private final boolean isOff;
    private final Semaphore work = new Semaphore(0);

    Outbox(OutboxRepository events, JsonMapper json, Settings settings) {
        this.events = events;
        this.json = json;
        this.isOff = settings.events() == EventsMode.OFF;
    }

    /** Writes an event within the transaction of the caller. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void append(Draft draft) {
        if (isOff) {
            return;
        }
        events.save(new OutboxEvent(draft.topic(), draft.key(), json.writeValueAsString(draft.body())));
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                work.release();
            }
        });
    }

    public long countUnsent() {
        return events.countUnsent();
    }

    List<OutboxEvent> unsent(int limit) {
        return events.unsent(Limit.of(limit));
    }

    void markSent(Collection<Long> ids) {
        events.markSent(ids);
    }

    /** Waits until something has been written since the last call, or the time is over. */
    void awaitWork(long timeoutMs) throws InterruptedException {
        if (work.tryAcquire(timeoutMs, TimeUnit.MILLISECONDS)) {
            work.drainPermits();
        }
    }
}
