package org.schedlab.bank.settings;

/** Where the events of the outbox go. */
public enum EventsMode {
    /** To the broker at BANK_KAFKA. */
    KAFKA,
    /** Through queues within this process, with the same outbox and consumers. */
    LOCAL,
    /** Nowhere: no event is written. */
    OFF
}
