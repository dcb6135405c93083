package org.schedlab.bank.transfer;

import java.math.BigDecimal;
import java.time.Instant;
import org.schedlab.bank.events.Draft;
import org.schedlab.bank.events.Topics;

/** The event that a transfer was made. */
public record TransferMade(long transferId, long source, long target, BigDecimal amount, Instant madeAt) {

    static TransferMade of(Transfer transfer) {
        return new TransferMade(transfer.id(), transfer.source(), transfer.target(), transfer.amount(),
                transfer.madeAt());
    }

    /** Keyed by the source account: the transfers out of one account keep their order. */
    Draft message() {
        return new Draft(Topics.TRANSACTIONS, String.valueOf(source), this);
    }
}
