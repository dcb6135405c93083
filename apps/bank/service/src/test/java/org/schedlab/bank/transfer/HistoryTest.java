package org.schedlab.bank.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.transaction.support.TransactionTemplate;

class HistoryTest extends BankTest {

    @Autowired
    private History history;

    @Autowired
    private TransactionTemplate transaction;

    /** H2 reuses the results of the last execution on a connection, and overlooks that the limit differs. */
    @Test
    void aGreaterLimitOnTheSameConnectionFindsMore() {
        for (int i = 0; i < 5; i++) {
            bank.transfer("out-" + i, 1, 2, "1");
            bank.transfer("in-" + i, 3, 1, "1");
        }
        transaction.executeWithoutResult(oneConnection -> {
            assertThat(history.newest(1, 3)).hasSize(3);
            assertThat(history.newest(1, 20)).hasSize(10);
        });
    }
}
