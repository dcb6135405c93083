package org.schedlab.bank.outbox;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

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
    private final Set<String> counted = new HashSet<>();
    private long sentTransactions;
    private boolean isStuck;
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
            isReachable = bus.isReady();
            if (!isReachable) {
                stuck("the broker does not answer");
                return;
            }
            boolean isIdle = !publishBatch();
            flowing();
            if (isIdle) {
                outbox.awaitWork(IDLE_MS);
            }
        } catch (DataAccessException | TransactionException error) {
            stuck("the database does not answer: " + error.getMessage());
        } catch (ExecutionException error) {
            refused(error.getCause());
        } catch (RuntimeException error) {
            refused(error);
        }
    }

    private void refused(Throwable error) throws InterruptedException {
        isReachable = false;
        bus.recover();
        stuck("the broker does not take them: " + NestedExceptionUtils.getMostSpecificCause(error).getMessage());
    }

    /** Says so once, however many attempts fail. */
    private void stuck(String reason) throws InterruptedException {
        if (!isStuck) {
            LOG.warn("events stay in the outbox: {}", reason);
        }
        isStuck = true;
        Thread.sleep(PAUSE_AFTER_FAILURE_MS);
    }

    private void flowing() {
        if (isStuck) {
            LOG.warn("events leave the outbox again");
        }
        isStuck = false;
    }

    /** Returns whether there was anything to send; throws the first failure, with all else done. */
    private boolean publishBatch() throws InterruptedException, ExecutionException {
        List<Sending> batch = epoch.during(() -> outbox.unsent(BATCH).stream()
                .map(event -> new Sending(event.id(), event.message(epoch.id()), false))
                .toList());
        List<Sending> landed = new ArrayList<>();
        ExecutionException failure = null;
        try {
            for (Flight flight : depart(batch)) {
                try {
                    flight.landing.get();
                    landed.add(flight.sending);
                } catch (ExecutionException lost) {
                    failure = failure == null ? lost : failure;
                }
            }
        } finally {
            record(landed);
        }
        if (failure != null) {
            throw failure;
        }
        return !batch.isEmpty();
    }

    private List<Flight> depart(List<Sending> batch) {
        List<Flight> flights = new ArrayList<>();
        for (Sending sending : batch) {
            Flight flight = depart(sending);
            flights.add(flight);
            if (flight.landing.isCompletedExceptionally()) {
                // Each of the others would wait as long, and as much in vain.
                return flights;
            }
            if (doublesSome && isToBeDoubled(sending.message)) {
                flights.add(depart(new Sending(sending.outboxId, sending.message.underAnotherId(), true)));
            }
        }
        return flights;
    }

    private Flight depart(Sending sending) {
        try {
            return new Flight(sending, bus.send(sending.message));
        } catch (RuntimeException refused) {
            return new Flight(sending, CompletableFuture.failedFuture(refused));
        }
    }

    /**
     * Counts before it marks, and remembers whom it counted until that is done: when the answer to the
     * commit is lost, nobody knows whether they come again.
     */
    private void record(List<Sending> landed) {
        epoch.during(() -> {
            List<Sending> current = landed.stream()
                    .filter(sending -> sending.message.epoch().equals(epoch.id()))
                    .toList();
            if (!current.isEmpty()) {
                current.stream().map(Sending::message).filter(message -> counted.add(message.eventId()))
                        .forEach(tally::acknowledged);
                outbox.markSent(current.stream().filter(sending -> !sending.isTwin).map(Sending::outboxId).toList());
                current.forEach(sending -> counted.remove(sending.message.eventId()));
            }
            return null;
        });
    }

    private boolean isToBeDoubled(Message message) {
        return message.topic().equals(Topics.TRANSACTIONS) && ++sentTransactions % DOUBLE_EVERY == 0;
    }

    private record Sending(Long outboxId, Message message, boolean isTwin) {
    }

    private record Flight(Sending sending, CompletableFuture<?> landing) {
    }
}
