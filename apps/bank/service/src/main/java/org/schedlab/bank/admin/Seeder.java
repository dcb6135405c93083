package org.schedlab.bank.admin;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.schedlab.bank.events.Epoch;
import org.schedlab.bank.money.Money;
import org.schedlab.bank.problem.Refusal;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Empties the bank and opens accounts in bulk. */
@Component
class Seeder {

    private static final int MAX_ACCOUNTS = 1_000_000;
    private static final int BATCH = 1_000;
    private static final int OWNER_DIGITS = 8;
    private static final List<String> TABLES = List.of("account", "transfer", "outbox", "inbox", "fraud_alert");

    private final JdbcTemplate database;
    private final Epoch epoch;

    Seeder(JdbcTemplate database, Epoch epoch) {
        this.database = database;
        this.epoch = epoch;
    }

    SeedView seed(SeedRequest request) {
        if (request.accounts() == null || request.accounts() < 1 || request.accounts() > MAX_ACCOUNTS) {
            throw Refusal.malformed("accounts has to be 1 to " + MAX_ACCOUNTS);
        }
        int accounts = request.accounts();
        BigDecimal opening = Money.notNegative(request.opening(), "opening");
        long seed = request.seed() == null ? 1 : request.seed();
        epoch.renew(seed, () -> {
            // What H2 commits by itself comes first: from the first account on, all is one transaction.
            TABLES.forEach(table -> database.execute("truncate table " + table));
            database.execute("alter sequence account_seq restart with " + (accounts + 1));
            open(accounts, opening, seed);
        });
        return new SeedView(accounts, 0, opening.multiply(BigDecimal.valueOf(accounts)), seed);
    }

    private void open(int accounts, BigDecimal opening, long seed) {
        for (int first = 1; first <= accounts; first += BATCH) {
            List<Object[]> rows = new ArrayList<>();
            for (int id = first; id < first + BATCH && id <= accounts; id++) {
                rows.add(new Object[] {id, owner(seed, id), opening, opening});
            }
            database.batchUpdate("insert into account (id, owner, opening, balance) values (?, ?, ?, ?)", rows);
        }
    }

    private static String owner(long seed, int id) {
        String digits = Long.toHexString((seed * 31 + id) * 0x9E3779B97F4A7C15L | Long.MIN_VALUE);
        return "owner-" + digits.substring(0, OWNER_DIGITS);
    }
}
