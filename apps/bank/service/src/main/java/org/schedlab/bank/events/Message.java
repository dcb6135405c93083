package org.schedlab.bank.events;

import java.util.UUID;

/**
 * An event on its way. The event id tells a redelivery from another event; the epoch tells an event
 * of these books from one of books that a seed has closed.
 */
public record Message(String topic, String key, String eventId, String epoch, String payload) {

    /** What the fault double-send publishes: the same content as another event. */
    public Message underAnotherId() {
        return new Message(topic, key, UUID.randomUUID().toString(), epoch, payload);
    }
}
