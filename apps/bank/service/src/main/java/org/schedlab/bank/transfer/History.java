package org.schedlab.bank.transfer;

import java.util.List;
import org.schedlab.bank.account.AccountRepository;
import org.schedlab.bank.problem.Refusal;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The transfers of one account, newest first. */
@Component
class History {

    static final int MAX_LIMIT = 100;

    // Two index scans of at most :limit rows each; one query with OR would read the whole ledger.
    private static final String QUERY = """
            select id, source, target, amount, made_at from (
              (select * from transfer where source = :id order by source, id desc fetch first :limit rows only)
              union all
              (select * from transfer where target = :id order by target, id desc fetch first :limit rows only)
            ) as movement
            order by id desc fetch first :limit rows only
            """;

    private final AccountRepository accounts;
    private final JdbcClient database;

    History(AccountRepository accounts, JdbcClient database) {
        this.accounts = accounts;
        this.database = database;
    }

    List<TransferView> newest(long account, int limit) {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw Refusal.malformed("limit has to be 1 to " + MAX_LIMIT);
        }
        if (!accounts.existsById(account)) {
            throw Refusal.unknownAccount(account);
        }
        return database.sql(QUERY)
                .param("id", account)
                .param("limit", limit)
                .query((row, number) -> new TransferView(
                        row.getLong("id"), row.getLong("source"), row.getLong("target"),
                        row.getBigDecimal("amount"), row.getTimestamp("made_at").toInstant()))
                .list();
    }
}
