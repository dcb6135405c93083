package org.schedlab.bank.outbox;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.schedlab.bank.events.Epoch;
import org.schedlab.bank.events.EventBus;
import org.schedlab.bank.events.Message;
import org.schedlab.bank.events.Tally;
import org.schedlab.bank.events.Topics;
import org.schedlab.bank.settings.Fault;
import org.schedlab.bank.settings.Settings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Sends what the outbox holds and marks it once the bus has acknowledged it. */
@Component
public class Publisher {

    private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);
    private static final int BATCH = 256;
    private static final long IDLE_MS = 500;
    private static final long PAUSE_AFTER_FAILURE_MS = 1_000;
    private static final int DOUBLE_EVERY = 50;

    private final Outbox outbox;
    private final EventBus bus;
    private final Epoch epoch;
    private final Tally tally;
    private final boolean doublesSome;
    private long sentTransactions;
    private volatile boolean isReachable;

    Publisher(Outbox outbox, EventBus bus, Epoch epoch, Tally tally, Settings settings) {
        this.outbox = outbox;
        this.bus = bus;
        this.epoch = epoch;
        this.tally = tally;
        this.doublesSome = settings.has(Fault.DOUBLE_SEND);
    }

    /** Whether the last attempt to reach the bus succeeded. */
    public boolean isReachable() {
        return isReachable;
    }

    /** Publishes until the thread is interrupted. */
    public void publishForEver() {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                step();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void step() throws InterruptedException {
        try {
            if (!bus.isReady()) {
                unreachable("it does not answer");
                return;
            }
            isReachable = true;
            if (!publishBatch()) {
                outbox.awaitWork(IDLE_MS);
            }
        } catch (ExecutionException error) {
            bus.recover();
            unreachable(error.getCause().getMessage());
        } catch (RuntimeException error) {
            bus.recover();
            unreachable(error.toString());
        }
    }

    private void unreachable(String reason) throws InterruptedException {
        if (isReachable) {
            LOG.warn("events stay in the outbox until the broker is back: {}", reason);
        }
        isReachable = false;
        Thread.sleep(PAUSE_AFTER_FAILURE_MS);
    }

    private boolean publishBatch() throws InterruptedException, ExecutionException {
        List<Sending> batch = epoch.during(() -> outbox.unsent(BATCH).stream()
                .map(event -> new Sending(event.id(), event.message(epoch.id())))
                .toList());
        List<Flight> flights = new ArrayList<>();
        for (Sending sending : batch) {
            flights.add(new Flight(sending, bus.send(sending.message)));
            if (doublesSome && isToBeDoubled(sending.message)) {
                Message twin = sending.message.underAnotherId();
                flights.add(new Flight(new Sending(sending.outboxId, twin), bus.send(twin)));
            }
        }
        List<Sending> acknowledged = new ArrayList<>();
        try {
            for (Flight flight : flights) {
                flight.landing.get();
                acknowledged.add(flight.sending);
            }
        } finally {
            record(acknowledged);
        }
        return !batch.isEmpty();
    }

    private void record(List<Sending> acknowledged) {
        epoch.during(() -> {
            List<Sending> current = acknowledged.stream()
                    .filter(sending -> sending.message.epoch().equals(epoch.id()))
                    .toList();
            if (!current.isEmpty()) {
                outbox.markSent(current.stream().map(Sending::outboxId).distinct().toList());
                current.forEach(sending -> tally.acknowledged(sending.message));
            }
            return null;
        });
    }

    private boolean isToBeDoubled(Message message) {
        return message.topic().equals(Topics.TRANSACTIONS) && ++sentTransactions % DOUBLE_EVERY == 0;
    }

    private record Sending(Long outboxId, Message message) {
    }

    private record Flight(Sending sending, CompletableFuture<?> landing) {
    }
}
