package org.schedlab.bank.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Damages the tables behind the back of the service: the books must see it. */
class AuditTest extends BankTest {

    @Autowired
    private JdbcClient database;

    @Test
    void aBalanceThatNoTransferExplainsIsSeen() {
        database.sql("update account set balance = balance + 1 where id = 3").update();
        assertThat(bank.books(0).raw().body()).contains("\"balanced\":false", "\"mismatched_accounts\":1",
                "total: 20001.00, opened with 20000.00");
    }

    @Test
    void moneyBetweenTheWrongAccountsIsSeenThoughTheTotalIsRight() {
        database.sql("update account set balance = balance + 1001 where id = 3").update();
        database.sql("update account set balance = balance - 1001 where id = 4").update();
        assertThat(bank.books(0).raw().body()).contains("\"mismatched_accounts\":2", "\"negative_accounts\":1",
                "\"total\":20000.00");
    }

    @Test
    void aTransferToNowhereIsSeen() {
        database.sql("insert into transfer values (-1, 'stray', 1, 999, 0.01, current_timestamp)").update();
        assertThat(bank.books(0).raw().body()).contains("\"mismatched_accounts\":2", "events_written: 0, transfers 1");
    }

    @Test
    void aLostEventIsSeen() {
        bank.transfer("a", 1, 2, "950");
        bank.books(10);
        database.sql("delete from inbox where topic = 'fraud-alerts'").update();
        assertThat(bank.books(0).raw().body()).contains("alerts_consumed: 0, raised 1");
    }
}
