package org.schedlab.bank.fault;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.schedlab.bank.Crowd;
import org.springframework.test.context.TestPropertySource;

@TestPropertySource(properties = {"BANK_FAULT=lost-update", "BANK_EVENTS=off"})
class LostUpdateTest extends BankTest {

    @Test
    void theBooksSeeTheLostUpdatesAndLeaveEventsOut() throws Exception {
        Crowd.transfers(bank, 8, 600, 4);
        Client.Answer books = bank.books(5);
        assertThat(books.text("balanced")).isEqualTo("false");
        assertThat(books.number("mismatched_accounts")).isPositive();
        assertThat(books.body().path("broken").values().toString()).contains("mismatched_accounts: ");
        assertThat(books.text("events")).isEqualTo("off");
        assertThat(books.body().has("events_sent")).isFalse();
    }

    @Test
    void aSingleClientLosesNothing() throws Exception {
        Crowd.transfers(bank, 1, 50, 4);
        assertThat(bank.books(5).text("balanced")).isEqualTo("true");
    }

    @Test
    void theProcessNamesTheFault() {
        assertThat(bank.get("/admin/process").raw().body())
                .contains("\"faults\":[\"lost-update\"]", "\"events\":\"off\"");
    }
}
