package org.schedlab.bank.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import tools.jackson.databind.JsonNode;

class TransferApiTest extends BankTest {

    @Test
    void aTransferMovesTheMoney() {
        assertThat(bank.transfer("a", 1, 2, "12.34").status()).isEqualTo(201);
        assertThat(bank.balance(1)).isEqualTo("987.66");
        assertThat(bank.balance(2)).isEqualTo("1012.34");
    }

    @Test
    void aReplayAnswersTheSameAndMovesNothing() {
        Client.Answer first = bank.transfer("a", 1, 2, "12.34");
        Client.Answer replay = bank.transfer("a", 1, 2, "12.340");
        assertThat(replay.status()).isEqualTo(200);
        assertThat(replay.raw().body()).isEqualTo(first.raw().body());
        assertThat(bank.balance(1)).isEqualTo("987.66");
        assertThat(bank.books(10).number("replays")).isEqualTo(1);
        assertThat(bank.books(10).number("events_sent")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"1,2,12.35", "1,3,12.34", "2,1,12.34"})
    void aKeyCannotBeUsedForAnotherTransfer(long from, long to, String amount) {
        bank.transfer("a", 1, 2, "12.34");
        assertThat(bank.transfer("a", from, to, amount).status()).isEqualTo(409);
        assertThat(bank.balance(1)).isEqualTo("987.66");
    }

    @Test
    void moreThanTheBalanceIsRefusedAndTheWholeBalanceIsNot() {
        assertThat(bank.transfer("a", 1, 2, "1000.01").status()).isEqualTo(422);
        assertThat(bank.transfer("b", 1, 2, "1000.00").status()).isEqualTo(201);
        assertThat(bank.balance(1)).isEqualTo("0.00");
    }

    @Test
    void aRefusedTransferLeavesItsKeyFree() {
        bank.transfer("a", 1, 2, "1500");
        bank.transfer("b", 2, 1, "500");
        assertThat(bank.transfer("a", 1, 2, "1500").status()).isEqualTo(201);
    }

    @Test
    void aBalanceThatWouldNotFitIsRefused() {
        long full = bank.post("/api/accounts", "{\"owner\":\"ada\",\"opening\":99999999999999999.99}").number("id");
        Client.Answer refused = bank.transfer("a", 1, full, "0.01");
        assertThat(refused.status()).isEqualTo(422);
        assertThat(refused.text("type")).isEqualTo("urn:schedlab:bank:balance-too-large");
        assertThat(bank.balance(1)).isEqualTo("1000.00");
    }

    @Test
    void anAccountNumberIsNeverRounded() {
        assertThat(bank.post("/api/transactions/transfer", "{\"from\":1.9,\"to\":2,\"amount\":1}").status())
                .isEqualTo(400);
    }

    @Test
    void anAccountCannotPayItself() {
        assertThat(bank.transfer("a", 1, 1, "1").status()).isEqualTo(422);
    }

    @ParameterizedTest
    @CsvSource({"1,999", "999,1", "0,1", "-1,1"})
    void anUnknownAccountIsNotFound(long from, long to) {
        assertThat(bank.transfer("a", from, to, "1").status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "0", "0.001", "1e18", "1e-999999999", "\"much\"", "null", "true"})
    void anAmountThatIsNoMoneyIsRefused(String amount) {
        assertThat(bank.transfer("a", 1, 2, amount).status()).isEqualTo(400);
    }

    @Test
    void theKeyIsRequiredAndBounded() {
        String body = "{\"from\":1,\"to\":2,\"amount\":1}";
        assertThat(bank.post("/api/transactions/transfer", body).status()).isEqualTo(400);
        assertThat(bank.transfer("k".repeat(101), 1, 2, "1").status()).isEqualTo(400);
        assertThat(bank.transfer("k".repeat(100), 1, 2, "1").status()).isEqualTo(201);
    }

    @Test
    void theHistoryIsNewestFirstAndBounded() {
        for (int i = 1; i <= 5; i++) {
            bank.transfer("out-" + i, 1, 2, i + ".00");
            bank.transfer("in-" + i, 3, 1, i + ".50");
        }
        bank.transfer("other", 4, 5, "1");
        JsonNode newest = bank.get("/api/accounts/1/transactions?limit=3").body();
        assertThat(newest.values().stream().map(line -> line.path("amount").decimalValue().toPlainString()))
                .containsExactly("5.50", "5.00", "4.50");
        assertThat(bank.get("/api/accounts/1/transactions").body().size()).isEqualTo(10);
        assertThat(bank.get("/api/accounts/9/transactions").body().size()).isZero();
        assertThat(bank.get("/api/accounts/1/transactions?limit=0").status()).isEqualTo(400);
        assertThat(bank.get("/api/accounts/1/transactions?limit=101").status()).isEqualTo(400);
    }
}
