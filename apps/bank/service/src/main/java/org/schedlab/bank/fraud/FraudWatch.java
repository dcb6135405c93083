package org.schedlab.bank.fraud;

import jakarta.persistence.EntityManager;
import java.math.BigDecimal;
import org.schedlab.bank.events.Draft;
import org.schedlab.bank.events.MessageHandler;
import org.schedlab.bank.events.Topics;
import org.schedlab.bank.outbox.Outbox;
import org.schedlab.bank.transfer.TransferMade;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** Raises an alert for each transfer above the threshold. */
@Component
public class FraudWatch implements MessageHandler {

    /** Amounts above this raise an alert; of amounts drawn evenly from 1 to 1000 that is one in ten. */
    public static final BigDecimal THRESHOLD = new BigDecimal("900.00");

    private final EntityManager entities;
    private final Outbox outbox;
    private final JsonMapper json;

    FraudWatch(EntityManager entities, Outbox outbox, JsonMapper json) {
        this.entities = entities;
        this.outbox = outbox;
        this.json = json;
    }

    @Override
    public String topic() {
        return Topics.TRANSACTIONS;
    }

    @Override
    public void handle(String payload) {
        TransferMade transfer = json.readValue(payload, TransferMade.class);
        if (transfer.amount().compareTo(THRESHOLD) <= 0
                || entities.find(FraudAlert.class, transfer.transferId()) != null) {
            return;
        }
        var suspected = new FraudSuspected(transfer.transferId(), transfer.source(), transfer.amount());
        entities.persist(new FraudAlert(suspected));
        outbox.append(new Draft(Topics.FRAUD_ALERTS, String.valueOf(transfer.source()), suspected));
    }
}
