package org.schedlab.bank.events;

import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
    private final Set<String> uncertain = ConcurrentHashMap.newKeySet();

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
                boolean isFirst = commit(message);
                tally.received(!(uncertain.remove(message.eventId()) || isFirst));
            }
            return null;
        });
    }

    /** When the answer to the commit is lost, the next delivery is the first that can be counted. */
    private boolean commit(Message message) {
        try {
            return Boolean.TRUE.equals(transaction.execute(status -> accept(message)));
        } catch (RuntimeException error) {
            uncertain.add(message.eventId());
            throw error;
        }
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
