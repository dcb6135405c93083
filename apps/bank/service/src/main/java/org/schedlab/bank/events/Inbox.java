package org.schedlab.bank.events;

import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/** Turns at-least-once delivery into an exactly-once effect: the effect and its mark share a transaction. */
@Component
public class Inbox {

    private final EntityManager entities;
    private final TransactionTemplate transaction;
    private final Epoch epoch;
    private final Tally tally;
    private final Map<String, MessageHandler> handlers;

    Inbox(EntityManager entities, TransactionTemplate transaction, Epoch epoch, Tally tally,
            List<MessageHandler> handlers) {
        this.entities = entities;
        this.transaction = transaction;
        this.epoch = epoch;
        this.tally = tally;
        this.handlers = handlers.stream().collect(Collectors.toMap(MessageHandler::topic, Function.identity()));
    }

    /** Takes a message; it may come again after an exception. */
    public void receive(Message message) {
        epoch.during(() -> {
            if (message.epoch().equals(epoch.id())) {
                boolean isFirst = Boolean.TRUE.equals(transaction.execute(status -> accept(message)));
                tally.received(!isFirst);
            }
            return null;
        });
    }

    private boolean accept(Message message) {
        if (entities.find(InboxEvent.class, message.eventId()) != null) {
            return false;
        }
        entities.persist(new InboxEvent(message.eventId(), message.topic()));
        MessageHandler handler = handlers.get(message.topic());
        if (handler != null) {
            handler.handle(message.payload());
        }
        return true;
    }
}
