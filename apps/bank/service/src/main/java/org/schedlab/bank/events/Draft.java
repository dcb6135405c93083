package org.schedlab.bank.events;

/** An event before it is written to the outbox. */
public record Draft(String topic, String key, Object body) {
}
