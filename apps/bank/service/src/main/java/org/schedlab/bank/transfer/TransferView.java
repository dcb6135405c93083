package org.schedlab.bank.transfer;

import java.math.BigDecimal;
import java.time.Instant;

/** A transfer as clients see it: the same at its first commit and at every replay. */
public record TransferView(long id, long from, long to, BigDecimal amount, Instant madeAt) {

    static TransferView of(Transfer transfer) {
        return new TransferView(transfer.id(), transfer.source(), transfer.target(), transfer.amount(),
                transfer.madeAt());
    }
}
