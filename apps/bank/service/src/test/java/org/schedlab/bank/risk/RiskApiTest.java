package org.schedlab.bank.risk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;

class RiskApiTest extends BankTest {

    @Test
    void theAnswerDependsOnTheSeedAndNotOnTheBalance() {
        String before = bank.get("/api/accounts/1/risk?paths=2000&tasks=3").text("checksum");
        bank.transfer("a", 1, 2, "1");
        assertThat(bank.get("/api/accounts/1/risk?paths=2000&tasks=5").text("checksum")).isEqualTo(before);
        assertThat(before).isEqualTo("07ae95a700bd053e");
    }

    @Test
    void aQuestionOutOfBoundsIsMalformed() {
        assertThat(bank.get("/api/accounts/1/risk?paths=0").status()).isEqualTo(400);
        assertThat(bank.get("/api/accounts/1/risk?tasks=65").status()).isEqualTo(400);
        assertThat(bank.get("/api/accounts/1/risk?paths=many").status()).isEqualTo(400);
    }
}
