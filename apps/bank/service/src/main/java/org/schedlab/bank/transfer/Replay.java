package org.schedlab.bank.transfer;

import org.schedlab.bank.problem.Refusal;

/** The rule for a key that was used before. */
final class Replay {

    private Replay() {
    }

    static Outcome of(Transfer earlier, TransferOrder order) {
        if (!earlier.carriesOut(order)) {
            throw new Refusal(Refusal.Kind.KEY_REUSED,
                    "this Idempotency-Key was used for another transfer, number " + earlier.id());
        }
        return new Outcome(TransferView.of(earlier), true);
    }
}
