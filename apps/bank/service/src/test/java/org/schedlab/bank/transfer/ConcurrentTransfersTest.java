package org.schedlab.bank.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.schedlab.bank.Crowd;
import org.schedlab.bank.account.AccountRepository;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionTemplate;

class ConcurrentTransfersTest extends BankTest {

    @Autowired
    private AccountRepository accounts;

    @Autowired
    private TransactionTemplate transaction;

    @Autowired
    private JdbcClient database;

    @Test
    void moneyIsConservedUnderContention() throws Exception {
        var statuses = count(Crowd.transfers(bank, 8, 400, 4));
        assertThat(statuses).containsOnlyKeys(201);
        Client.Answer books = bank.books(20);
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("transfers")).isEqualTo(400);
        assertThat(books.number("events_consumed")).isEqualTo(400);
    }

    @Test
    void oppositeTransfersDoNotDeadlock() throws Exception {
        List<Client.Answer> answers = Crowd.of(8, 200, i ->
                i % 2 == 0 ? bank.transfer("k" + i, 1, 2, "0.01") : bank.transfer("k" + i, 2, 1, "0.01"));
        assertThat(count(answers)).containsOnlyKeys(201);
        assertThat(bank.balance(1)).isEqualTo("1000.00");
    }

    @Test
    void aRaceForOneKeyCommitsOnce() throws Exception {
        for (int round = 0; round < 10; round++) {
            String key = "race-" + round;
            List<Client.Answer> answers = Crowd.of(8, 8, i -> bank.transfer(key, 1, 2, "1.00"));
            assertThat(count(answers)).containsEntry(201, 1L).containsEntry(200, 7L);
            assertThat(answers.stream().map(answer -> answer.raw().body()).distinct()).hasSize(1);
        }
        assertThat(bank.balance(1)).isEqualTo("990.00");
        assertThat(bank.books(20).number("events_sent")).isEqualTo(10);
    }

    @Test
    void aRaceForOneKeyBetweenOtherAccountsCommitsOnce() throws Exception {
        List<Client.Answer> answers = Crowd.of(8, 8, i -> bank.transfer("race", 2 * i + 1, 2 * i + 2, "1.00"));
        assertThat(count(answers)).containsEntry(201, 1L).containsEntry(409, 7L);
        assertThat(bank.books(20).text("balanced")).isEqualTo("true");
    }

    @Test
    void aTransferWaitsForALockThatIsHeld() throws Exception {
        CompletableFuture<Client.Answer> answer = transaction.execute(status -> {
            accounts.lock(1);
            var waiting = CompletableFuture.supplyAsync(() -> bank.transfer("waits", 1, 2, "1"));
            pause();
            assertThat(waiting).isNotDone();
            return waiting;
        });
        assertThat(answer.get().status()).isEqualTo(201);
    }

    @Test
    void aLockIsWaitedForTenSeconds() {
        assertThat(database.sql(lockTimeout()).query(Integer.class).single()).isEqualTo(10_000);
    }

    @Test
    void aLockThatIsNotToBeHadInTimeIsATransientError() {
        transaction.executeWithoutResult(status -> {
            accounts.lock(1);
            Throwable error = CompletableFuture.supplyAsync(() -> catchThrowable(this::lockInAHurry)).join();
            assertThat(error).isInstanceOf(TransientDataAccessException.class);
        });
    }

    private void lockInAHurry() {
        transaction.executeWithoutResult(status -> {
            database.sql(setLockTimeout(100)).update();
            try {
                accounts.lock(1);
            } finally {
                status.setRollbackOnly();
                restoreLockTimeout();
            }
        });
    }

    String lockTimeout() {
        return "select lock_timeout()";
    }

    String setLockTimeout(int ms) {
        return "set lock_timeout " + ms;
    }

    /** H2 keeps the setting for the life of the connection, which goes back to the pool. */
    void restoreLockTimeout() {
        database.sql(setLockTimeout(10_000)).update();
    }

    private static void pause() {
        try {
            Thread.sleep(500);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static Map<Integer, Long> count(List<Client.Answer> answers) {
        return answers.stream().collect(Collectors.groupingBy(Client.Answer::status, Collectors.counting()));
    }
}
