package org.schedlab.bank.events;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.springframework.test.context.TestPropertySource;

/** Nothing listens at port 1. */
@TestPropertySource(properties = {"BANK_EVENTS=kafka", "BANK_KAFKA=127.0.0.1:1"})
class WithoutBrokerTest extends BankTest {

    @Test
    void requestsSucceedAndTheOutboxGrows() {
        for (int i = 0; i < 20; i++) {
            assertThat(bank.transfer("k" + i, 1, 2, "1").status()).isEqualTo(201);
        }
        Client.Answer health = bank.get("/actuator/health");
        assertThat(health.status()).isEqualTo(200);
        assertThat(health.text("status")).isEqualTo("UP");
        assertThat(health.raw().body()).contains("\"broker\":\"unreachable\"", "\"unsent\":20");
    }

    @Test
    void theBooksSayWhatWasNotSent() {
        bank.transfer("a", 1, 2, "1");
        assertThat(bank.books(1).raw().body()).contains("\"balanced\":false", "events_sent: 0, written 1");
    }
}
