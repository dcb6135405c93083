package org.schedlab.bank.money;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.schedlab.bank.problem.Refusal;

class MoneyTest {

    @ParameterizedTest
    @CsvSource({"1,1.00", "1.5,1.50", "0.01,0.01", "1e2,100.00", "1.500,1.50",
        "99999999999999999.99,99999999999999999.99"})
    void anExactAmountGetsTwoDecimals(BigDecimal amount, String expected) {
        assertThat(Money.positive(amount, "amount").toPlainString()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-0.01", "0.001", "0.009", "100000000000000000", "1e999999999", "1e-999999999"})
    void whatIsNotExactlyMoneyIsRefused(String amount) {
        assertThatThrownBy(() -> Money.positive(new BigDecimal(amount), "amount")).isInstanceOf(Refusal.class);
    }

    @Test
    void anOpeningMayBeZero() {
        assertThat(Money.notNegative(BigDecimal.ZERO, "opening")).isEqualByComparingTo("0");
    }
}
