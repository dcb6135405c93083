package org.schedlab.bank.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.spy;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.schedlab.bank.events.Draft;
import org.schedlab.bank.events.Epoch;
import org.schedlab.bank.events.EventBus;
import org.schedlab.bank.events.Inbox;
import org.schedlab.bank.events.Message;
import org.schedlab.bank.events.Tally;
import org.schedlab.bank.settings.Fault;
import org.schedlab.bank.settings.Settings;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.support.TransactionTemplate;

/** Nothing listens at port 1, so only the publisher of a test drains the outbox. */
@TestPropertySource(properties = {"BANK_EVENTS=kafka", "BANK_KAFKA=127.0.0.1:1"})
class OutboxTest extends BankTest {

    @Autowired
    private Outbox outbox;

    @Autowired
    private TransactionTemplate transaction;

    @Autowired
    private Epoch epoch;

    @Autowired
    private Tally tally;

    @Autowired
    private Inbox inbox;

    @Autowired
    private Settings settings;

    @Test
    void anEventSharesTheFateOfItsTransaction() {
        transaction.execute(status -> {
            outbox.append(new Draft("transactions", "1", "lost"));
            status.setRollbackOnly();
            return null;
        });
        assertThat(outbox.countUnsent()).isZero();
        assertThatThrownBy(() -> outbox.append(new Draft("transactions", "1", "without")))
                .isInstanceOf(IllegalTransactionStateException.class);
    }

    @Test
    void aRefusedOrRepeatedTransferWritesNoEvent() {
        bank.transfer("a", 1, 2, "1");
        bank.transfer("a", 1, 2, "1");
        bank.transfer("a", 1, 2, "2");
        bank.transfer("b", 1, 2, "5000");
        assertThat(outbox.countUnsent()).isEqualTo(1);
    }

    @Test
    void aBusThatFailsAtFirstGetsEachEventInTheEnd() throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            bank.transfer("k" + i, 1, 2, "1");
        }
        FlakyBus bus = new FlakyBus(inbox::receive, 5);
        var books = booksAfterPublishing(new Publisher(outbox, bus, epoch, tally, settings));
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("events_consumed")).isEqualTo(10);
        assertThat(books.number("events_duplicated")).isPositive();
        // All but the refused one had landed: nothing else is sent again.
        assertThat(bus.sent).hasSize(11);
        assertThat(bus.recoveries).isPositive();
    }

    @Test
    void aMarkWhoseAnswerIsLostIsCountedOnce() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            bank.transfer("k" + i, 1, 2, "1");
        }
        Outbox forgetful = spy(AopTestUtils.<Outbox>getTargetObject(outbox));
        doAnswer(call -> {
            call.callRealMethod();
            throw new TransientDataAccessResourceException("no answer");
        }).doThrow(new TransientDataAccessResourceException("no connection")).doCallRealMethod()
                .when(forgetful).markSent(any());
        bank.transfer("k3", 1, 2, "1");
        FlakyBus bus = new FlakyBus(inbox::receive, Integer.MAX_VALUE);
        var books = booksAfterPublishing(new Publisher(forgetful, bus, epoch, tally, settings));
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("events_acknowledged")).isEqualTo(4);
    }

    @Test
    void anEventOfWhichOnlyTheTwinLandedIsSentAgain() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            bank.transfer("k" + i, 1, 2, "1");
        }
        FlakyBus bus = new FlakyBus(inbox::receive, 50);
        Settings doubling = new Settings(0, settings.events(), settings.kafka(), 1, 1,
                Set.of(Fault.DOUBLE_SEND), Optional.empty());
        booksAfterPublishing(new Publisher(outbox, bus, epoch, tally, doubling));
        assertThat(bus.sent).hasSize(52);
        assertThat(bus.sent.get(51)).isEqualTo(bus.sent.get(49)).isNotEqualTo(bus.sent.get(50));
        assertThat(outbox.countUnsent()).isZero();
    }

    private Client.Answer booksAfterPublishing(Publisher publisher) throws InterruptedException {
        Thread thread = new Thread(publisher::publishForEver);
        thread.start();
        Client.Answer books = bank.books(30);
        thread.interrupt();
        thread.join();
        return books;
    }

    /** Turns out only when it is waited for, as with a broker. */
    private static final class Denial extends CompletableFuture<Void> {

        @Override
        public Void get() throws ExecutionException {
            throw new ExecutionException(new IllegalStateException("denied"));
        }
    }

    /** Delivers all messages and denies one: the publisher has to send it again. */
    private static final class FlakyBus implements EventBus {

        private final Consumer<Message> receiver;
        private final int denied;
        private final List<String> sent = new ArrayList<>();
        private int recoveries;

        private FlakyBus(Consumer<Message> receiver, int denied) {
            this.receiver = receiver;
            this.denied = denied;
        }

        @Override
        public void open(Consumer<Message> ignored) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public CompletableFuture<?> send(Message message) {
            sent.add(message.eventId());
            receiver.accept(message);
            return sent.size() == denied ? new Denial() : CompletableFuture.completedFuture(null);
        }

        @Override
        public void recover() {
            recoveries++;
        }

        @Override
        public void close() {
            sent.clear();
        }
    }
}
