package org.schedlab.bank.fault;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.springframework.test.context.TestPropertySource;

@TestPropertySource(properties = "BANK_FAULT=double-send")
class DoubleSendTest extends BankTest {

    @Test
    void theBooksSeeTheSecondEventYetItHasNoSecondEffect() {
        for (int i = 0; i < 100; i++) {
            bank.transfer("k" + i, 1 + i % ACCOUNTS, 1 + (i + 1) % ACCOUNTS, "950");
        }
        Client.Answer books = bank.books(20);
        assertThat(books.text("balanced")).isEqualTo("false");
        assertThat(books.number("events_sent")).isEqualTo(100);
        assertThat(books.number("events_consumed")).isEqualTo(102);
        assertThat(books.number("alerts_raised")).isEqualTo(100);
        assertThat(books.number("alerts_consumed")).isEqualTo(100);
        assertThat(books.body().path("broken").values().toString()).contains("events_consumed: 102, sent 100");
    }
}
