package org.schedlab.bank.events;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One queue and one consumer thread per topic, within this process.
 *
 * <p>A message is acknowledged once it is received, because these queues do not outlive the process. The
 * publisher waits for its batch, so they hold no more than that.
 */
final class LocalBus implements EventBus {

    private static final Logger LOG = LoggerFactory.getLogger(LocalBus.class);
    private static final long PAUSE_AFTER_FAILURE_MS = 1_000;
    private static final long STOP_MS = 1_000;

    private final Map<String, BlockingQueue<Delivery>> queues = Map.of(
            Topics.TRANSACTIONS, new LinkedBlockingQueue<>(),
            Topics.FRAUD_ALERTS, new LinkedBlockingQueue<>());
    private final List<Thread> consumers = new ArrayList<>();
    private volatile boolean isClosed;

    @Override
    public void open(Consumer<Message> receiver) {
        isClosed = false;
        queues.forEach((topic, queue) -> {
            Thread thread = new Thread(() -> consume(queue, receiver), "local-" + topic);
            thread.setDaemon(true);
            thread.start();
            consumers.add(thread);
        });
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public CompletableFuture<?> send(Message message) {
        Delivery delivery = new Delivery(message, new CompletableFuture<>());
        queues.get(message.topic()).add(delivery);
        return delivery.receipt;
    }

    @Override
    public void recover() {
        // A queue within the process does not fail.
    }

    @Override
    public void close() {
        isClosed = true;
        consumers.forEach(Thread::interrupt);
        try {
            for (Thread consumer : consumers) {
                consumer.join(STOP_MS);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        consumers.clear();
        queues.values().forEach(BlockingQueue::clear);
    }

    private void consume(BlockingQueue<Delivery> queue, Consumer<Message> receiver) {
        try {
            while (!isClosed) {
                deliver(queue.take(), receiver);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** A message that fails is delivered again, as a broker would. */
    private void deliver(Delivery delivery, Consumer<Message> receiver) throws InterruptedException {
        while (!isClosed) {
            try {
                receiver.accept(delivery.message);
                delivery.receipt.complete(null);
                return;
            } catch (RuntimeException error) {
                LOG.warn("event {} will be delivered again: {}", delivery.message.eventId(), error.getMessage());
                Thread.sleep(PAUSE_AFTER_FAILURE_MS);
            }
        }
    }

    private record Delivery(Message message, CompletableFuture<Void> receipt) {
    }
}
