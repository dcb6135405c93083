package org.schedlab.bank.events;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** The mark that an event has had its effect. */
@Entity
@Table(name = "inbox")
class InboxEvent {

    @Id
    @Column(length = 36)
    private String eventId;

    @Column(nullable = false, length = 40)
    private String topic;

    protected InboxEvent() {
    }

    InboxEvent(String eventId, String topic) {
        this.eventId = eventId;
        this.topic = topic;
    }
}
