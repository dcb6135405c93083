package org.schedlab.bank.events;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Carries messages from the outbox to the inbox, at least once. */
public interface EventBus extends AutoCloseable {

    /** Delivers every message to the receiver from here on. It does not wait for a broker. */
    void open(Consumer<Message> receiver);

    /** Makes sure that messages can be sent; returns false when that is not so at the moment. */
    boolean isReady();

    /** The future completes when the message is safe on the other side. */
    CompletableFuture<?> send(Message message);

    /** Called after a failed send, before the next attempt. */
    void recover();

    /** What is under way is dropped, as it has not been acknowledged. The bus can be opened again. */
    @Override
    void close();
}
