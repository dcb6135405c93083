package org.schedlab.bank.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.persistence.EntityManager;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionTemplate;

class InboxTest extends BankTest {

    private static final String PAYLOAD =
            "{\"transfer_id\":1,\"source\":1,\"target\":2,\"amount\":950.00,\"made_at\":\"2026-01-01T00:00:00Z\"}";

    @Autowired
    private Inbox inbox;

    @Autowired
    private Epoch epoch;

    @Autowired
    private EntityManager entities;

    @Autowired
    private PlatformTransactionManager transactions;

    @Test
    void aRedeliveryHasNoEffectAndIsCountedApart() {
        Message message = message(epoch.id());
        inbox.receive(message);
        inbox.receive(message);
        Client.Answer books = bank.books(5);
        assertThat(books.number("events_consumed")).isEqualTo(1);
        assertThat(books.number("events_duplicated")).isEqualTo(1);
        assertThat(books.number("alerts_raised")).isEqualTo(1);
    }

    @Test
    void anEventOfBooksThatASeedHasClosedIsIgnored() {
        Message message = message(epoch.id());
        bank.seed(ACCOUNTS, "1000.00");
        inbox.receive(message);
        inbox.receive(message(""));
        assertThat(bank.books(5).number("events_consumed")).isZero();
    }

    @Test
    void aSecondEventOfTheSameTransferRaisesNoSecondAlert() {
        Message message = message(epoch.id());
        inbox.receive(message);
        inbox.receive(message.underAnotherId());
        assertThat(bank.books(5).number("events_consumed")).isEqualTo(2);
        assertThat(bank.books(5).number("alerts_raised")).isEqualTo(1);
    }

    @Test
    void aCommitWhoseAnswerIsLostCountsOnceInTheEnd() {
        Tally tally = new Tally();
        AtomicBoolean hasFailed = new AtomicBoolean();
        TransactionTemplate forgetful = new TransactionTemplate(transactions) {
            @Override
            public <T> T execute(TransactionCallback<T> action) {
                T result = super.execute(action);
                if (hasFailed.compareAndSet(false, true)) {
                    throw new IllegalStateException("no answer");
                }
                return result;
            }
        };
        Message message = message(epoch.id());
        tally.acknowledged(message);
        Inbox strained = new Inbox(entities, forgetful, epoch, tally, List.of());
        assertThatThrownBy(() -> strained.receive(message)).hasMessage("no answer");
        assertThat(tally.isAllReceived()).isFalse();
        strained.receive(message);
        strained.receive(message);
        assertThat(tally.isAllReceived()).isTrue();
        assertThat(tally.duplicates()).isEqualTo(1);
    }

    private static Message message(String epoch) {
        return new Message(Topics.TRANSACTIONS, "1", UUID.randomUUID().toString(), epoch, PAYLOAD);
    }
}
