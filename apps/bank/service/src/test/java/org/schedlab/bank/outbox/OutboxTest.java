package org.schedlab.bank.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.events.Draft;
import org.schedlab.bank.events.Epoch;
import org.schedlab.bank.events.EventBus;
import org.schedlab.bank.events.Inbox;
import org.schedlab.bank.events.Message;
import org.schedlab.bank.events.Tally;
import org.schedlab.bank.settings.Settings;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;
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
        FlakyBus bus = new FlakyBus(inbox::receive);
        Thread publisher = new Thread(new Publisher(outbox, bus, epoch, tally, settings)::publishForEver);
        publisher.start();
        var books = bank.books(30);
        publisher.interrupt();
        publisher.join();
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("events_consumed")).isEqualTo(10);
        assertThat(books.number("events_duplicated")).isPositive();
        assertThat(bus.recoveries).isPositive();
    }

    /** Delivers the fifth message and denies it once: the publisher has to send it again. */
    private static final class FlakyBus implements EventBus {

        private final Consumer<Message> receiver;
        private final List<String> sent = new ArrayList<>();
        private int recoveries;

        private FlakyBus(Consumer<Message> receiver) {
            this.receiver = receiver;
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
            return sent.size() == 5
                    ? CompletableFuture.failedFuture(new IllegalStateException("denied"))
                    : CompletableFuture.completedFuture(null);
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
