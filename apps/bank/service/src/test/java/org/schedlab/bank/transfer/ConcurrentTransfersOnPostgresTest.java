package org.schedlab.bank.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.Client;
import org.schedlab.bank.Crowd;
import org.schedlab.bank.OnPostgres;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;

@OnPostgres
class ConcurrentTransfersOnPostgresTest extends ConcurrentTransfersTest {

    @Autowired
    private JdbcClient database;

    @Override
    String lockTimeout() {
        return "select extract(epoch from current_setting('lock_timeout')::interval) * 1000";
    }

    @Override
    String setLockTimeout(int ms) {
        return "set local lock_timeout = " + ms;
    }

    @Override
    void restoreLockTimeout() {
        // It ends with the transaction.
    }

    @Test
    void aDatabaseThatEndsItsConnectionsCostsOnlyRepetitions() throws Exception {
        CompletableFuture<List<Client.Answer>> answers = CompletableFuture.supplyAsync(this::insistentTransfers);
        for (int round = 0; round < 5 && !answers.isDone(); round++) {
            database.sql("select count(pg_terminate_backend(pid)) from pg_stat_activity"
                    + " where datname = current_database() and pid <> pg_backend_pid()").query(Long.class).single();
            Thread.sleep(100);
        }
        assertThat(answers.get()).allMatch(answer -> answer.status() == 201 || answer.status() == 200);
        Client.Answer books = bank.books(20);
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("transfers")).isEqualTo(400);
    }

    private List<Client.Answer> insistentTransfers() {
        try {
            return Crowd.of(8, 400, i -> {
                Client.Answer answer = transfer(i);
                for (int attempt = 0; answer.status() == 503 && attempt < 50; attempt++) {
                    answer = transfer(i);
                }
                return answer;
            });
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private Client.Answer transfer(int number) {
        return bank.transfer("insists-" + number, 1 + number % ACCOUNTS, 1 + (number + 1) % ACCOUNTS, "0.01");
    }
}
