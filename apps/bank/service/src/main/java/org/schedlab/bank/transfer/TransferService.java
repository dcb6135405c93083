package org.schedlab.bank.transfer;

import org.schedlab.bank.events.Epoch;
import org.schedlab.bank.events.Tally;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.stereotype.Service;

/** Makes each transfer once, however often it is sent. */
@Service
public class TransferService {

    private final Ledger ledger;
    private final TransferRepository transfers;
    private final Epoch epoch;
    private final Tally tally;

    TransferService(Ledger ledger, TransferRepository transfers, Epoch epoch, Tally tally) {
        this.ledger = ledger;
        this.transfers = transfers;
        this.epoch = epoch;
        this.tally = tally;
    }

    public Outcome transfer(TransferOrder order) {
        return epoch.during(() -> {
            Outcome outcome = writeOrReplay(order);
            if (outcome.isReplay()) {
                tally.replayed();
            }
            return outcome;
        });
    }

    private Outcome writeOrReplay(TransferOrder order) {
        try {
            return ledger.write(order);
        } catch (DataIntegrityViolationException collision) {
            // A rival with the same key, between other accounts, committed first.
            return transfers.findByIdempotencyKey(order.key())
                    .map(earlier -> Replay.of(earlier, order))
                    .orElseThrow(() -> collision);
        }
    }
}
