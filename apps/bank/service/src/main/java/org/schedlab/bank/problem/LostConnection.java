package org.schedlab.bank.problem;

import java.sql.SQLException;
import java.util.List;
import org.hibernate.TransactionException;

/** Recognizes that the database went away in the middle of a request, for which JPA has no name. */
final class LostConnection {

    /** Classes of SQLSTATE: connection exception, insufficient resources, operator intervention. */
    private static final List<String> CLASSES = List.of("08", "53", "57P");

    private LostConnection() {
    }

    static boolean isBehind(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            // A transaction that cannot even be rolled back has lost its connection.
            if (cause instanceof TransactionException) {
                return true;
            }
            if (cause instanceof SQLException database && database.getSQLState() != null
                    && CLASSES.stream().anyMatch(database.getSQLState()::startsWith)) {
                return true;
            }
        }
        return false;
    }
}
