package org.schedlab.bank.admin;

import java.math.BigDecimal;
import org.schedlab.bank.events.Tally;
import org.schedlab.bank.events.Topics;
import org.schedlab.bank.fraud.FraudWatch;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Counts and sums the tables; the caller sees to it that nothing moves meanwhile. */
@Component
class Audit {

    // One pass over both tables: what remains of each account is zero when the books are right.
    // A transfer from or to an account that does not exist shows here too.
    private static final String MISMATCHED = """
            select count(*) from (
              select id, sum(difference) as remainder from (
                select id, balance - opening as difference from account
                union all select source, amount from transfer
                union all select target, -amount from transfer
              ) as movement group by id
            ) as remainders where remainder <> 0
            """;

    private final JdbcClient database;
    private final Tally tally;

    Audit(JdbcClient database, Tally tally) {
        this.database = database;
        this.tally = tally;
    }

    MoneyFigures money() {
        return new MoneyFigures(
                count("select count(*) from account"),
                count("select count(*) from transfer"),
                sum("select coalesce(sum(balance), 0.00) from account"),
                sum("select coalesce(sum(opening), 0.00) from account"),
                count(MISMATCHED),
                count("select count(*) from account where balance < 0"),
                count("select count(*) - count(distinct idempotency_key) from transfer"));
    }

    EventFigures events() {
        String transactions = "'" + Topics.TRANSACTIONS + "'";
        return new EventFigures(
                count("select count(*) from outbox where topic = " + transactions),
                count("select count(*) from outbox where is_sent and topic = " + transactions),
                tally.acknowledgedTransactions(),
                count("select count(*) from inbox where topic = " + transactions),
                tally.duplicates(),
                count("select count(*) from transfer where amount > " + FraudWatch.THRESHOLD),
                count("select count(*) from fraud_alert"),
                count("select count(*) from inbox where topic = '" + Topics.FRAUD_ALERTS + "'"));
    }

    private long count(String query) {
        return database.sql(query).query(Long.class).single();
    }

    private BigDecimal sum(String query) {
        return database.sql(query).query(BigDecimal.class).single();
    }
}
