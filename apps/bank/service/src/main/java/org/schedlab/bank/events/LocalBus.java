package org.schedlab.bank.events;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One queue and one consumer thread per topic, within this process. */
final class LocalBus implements EventBus {

    private static final Logger LOG = LoggerFactory.getLogger(LocalBus.class);
    private static final long PAUSE_AFTER_FAILURE_MS = 1_000;

    private final Map<String, BlockingQueue<Message>> queues = Map.of(
            Topics.TRANSACTIONS, new LinkedBlockingQueue<>(),
            Topics.FRAUD_ALERTS, new LinkedBlockingQueue<>());
    private volatile boolean isClosed;

    @Override
    public void open(Consumer<Message> receiver) {
        queues.forEach((topic, queue) -> {
            Thread thread = new Thread(() -> consume(queue, receiver), "local-" + topic);
            thread.setDaemon(true);
            thread.start();
        });
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public CompletableFuture<?> send(Message message) {
        queues.get(message.topic()).add(message);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void recover() {
        // A queue within the process does not fail.
    }

    @Override
    public void close() {
        isClosed = true;
    }

    private void consume(BlockingQueue<Message> queue, Consumer<Message> receiver) {
        try {
            while (!isClosed) {
                deliver(queue.take(), receiver);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    /** A message that fails is delivered again, as a broker would. */
    private void deliver(Message message, Consumer<Message> receiver) throws InterruptedException {
        while (!isClosed) {
            try {
                receiver.accept(message);
                return;
            } catch (RuntimeException error) {
                LOG.warn("event {} will be delivered again: {}", message.eventId(), error.getMessage());
                Thread.sleep(PAUSE_AFTER_FAILURE_MS);
            }
        }
    }
}
