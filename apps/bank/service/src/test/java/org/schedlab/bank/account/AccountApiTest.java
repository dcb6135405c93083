package org.schedlab.bank.account;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;

class AccountApiTest extends BankTest {

    @Test
    void anOpenedAccountIsFoundAtItsLocation() {
        Client.Answer opened = bank.post("/api/accounts", "{\"owner\":\"ada\",\"opening\":12.5}");
        assertThat(opened.status()).isEqualTo(201);
        String location = opened.raw().headers().firstValue("Location").orElseThrow();
        assertThat(location).isEqualTo("/api/accounts/" + (ACCOUNTS + 1));
        assertThat(bank.get(location).body()).isEqualTo(opened.body());
        assertThat(opened.raw().body()).contains("\"opening\":12.50", "\"balance\":12.50", "\"owner\":\"ada\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "{\"owner\":\"ada\",\"opening\":-1}",
        "{\"owner\":\"ada\",\"opening\":0.001}",
        "{\"owner\":\"ada\",\"opening\":1e999999999}",
        "{\"owner\":\"ada\"}",
        "{\"owner\":\" \",\"opening\":1}",
        "{\"owner\":\"a\\u0000a\",\"opening\":1}",
        "{\"opening\":1}",
        "{\"owner\":",
        "[]",
        ""})
    void aMalformedAccountIsRefused(String body) {
        assertThat(bank.post("/api/accounts", body).status()).isEqualTo(400);
        assertThat(bank.books(0).number("accounts")).isEqualTo(ACCOUNTS);
    }

    @Test
    void anUnknownAccountIsNotFoundAnywhere() {
        for (String path : new String[] {"", "/balance", "/transactions", "/risk"}) {
            assertThat(bank.get("/api/accounts/999" + path).status()).as(path).isEqualTo(404);
        }
    }

    @Test
    void theBalanceHasTwoDecimals() {
        assertThat(bank.get("/api/accounts/3/balance").raw().body()).isEqualTo("{\"id\":3,\"balance\":1000.00}");
    }
}
