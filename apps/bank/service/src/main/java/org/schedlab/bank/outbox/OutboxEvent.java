package org.schedlab.bank.outbox;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;
import java.util.UUID;
import org.schedlab.bank.events.Message;

/** An event that is written with the change it tells of, and sent later. */
@Entity
@Table(name = "outbox")
class OutboxEvent {

    @Id
    @SequenceGenerator(name = "outbox_seq", sequenceName = "outbox_seq", allocationSize = 50)
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "outbox_seq")
    private Long id;

    @Column(nullable = false, unique = true, length = 36)
    private String eventId;

    @Column(nullable = false, length = 40)
    private String topic;

    @Column(nullable = false, length = 40)
    private String messageKey;

    @Column(nullable = false, length = 400)
    private String payload;

    @Column(name = "is_sent", nullable = false)
    private boolean sent;

    protected OutboxEvent() {
    }

    OutboxEvent(String topic, String messageKey, String payload) {
        this.eventId = UUID.randomUUID().toString();
        this.topic = topic;
        this.messageKey = messageKey;
        this.payload = payload;
    }

    Long id() {
        return id;
    }

    Message message(String epoch) {
        return new Message(topic, messageKey, eventId, epoch, payload);
    }
}
