package org.schedlab.bank.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

class EpochTest extends BankTest {

    @Autowired
    private Epoch epoch;

    @Autowired
    private JdbcClient database;

    @Autowired
    private TransactionTemplate transaction;

    @Test
    void aRestartAfterASeedFindsTheSameEpochAndTheSameInstance() {
        String before = epoch.id();
        bank.seed(ACCOUNTS, "1.00");
        Epoch restarted = new Epoch(database, transaction, new Tally());
        assertThat(restarted.id()).isEqualTo(epoch.id()).isNotEqualTo(before);
        assertThat(restarted.instance()).isEqualTo(epoch.instance());
        assertThat(restarted.seed()).isEqualTo(7);
    }

    @Test
    void theTallyGoesOnWhereTheTablesStand() {
        bank.transfer("a", 1, 2, "950");
        bank.transfer("b", 1, 2, "1");
        bank.books(10);
        Tally tally = new Tally();
        new Epoch(database, transaction, tally);
        assertThat(tally.acknowledgedTransactions()).isEqualTo(2);
        assertThat(tally.isAllReceived()).isTrue();
        database.sql("delete from inbox where topic = 'fraud-alerts'").update();
        new Epoch(database, transaction, tally);
        assertThat(tally.isAllReceived()).isFalse();
    }

    @Test
    void booksThatCannotBeWrittenLeaveTheEpochAsItWas() {
        String before = epoch.id();
        bank.transfer("a", 1, 2, "1");
        assertThatThrownBy(() -> epoch.renew(8, () -> {
            database.sql("delete from transfer").update();
            throw new IllegalStateException("no space");
        })).hasMessage("no space");
        assertThat(epoch.id()).isEqualTo(before);
        assertThat(new Epoch(database, transaction, new Tally()).id()).isEqualTo(before);
        assertThat(bank.books(10).text("balanced")).isEqualTo("true");
        assertThat(bank.books(10).number("transfers")).isEqualTo(1);
    }
}
