package org.schedlab.bank.transfer;

import java.math.BigDecimal;
import org.schedlab.bank.money.Money;
import org.schedlab.bank.problem.Refusal;

/** A well-formed order to move money, under the key that makes it safe to send again. */
public record TransferOrder(String key, long source, long target, BigDecimal amount) {

    private static final int MAX_KEY_LENGTH = 100;

    /** Checks what can be checked without looking at any account. */
    public static TransferOrder of(String key, TransferRequest request) {
        if (key == null || key.isBlank() || key.length() > MAX_KEY_LENGTH) {
            throw Refusal.malformed("the header Idempotency-Key needs 1 to " + MAX_KEY_LENGTH + " characters");
        }
        if (request.from() == null || request.to() == null) {
            throw Refusal.malformed("from and to are both needed");
        }
        TransferOrder order = new TransferOrder(key, request.from(), request.to(),
                Money.positive(request.amount(), "amount"));
        if (order.source == order.target) {
            throw new Refusal(Refusal.Kind.SAME_ACCOUNT, "from and to are the same account");
        }
        return order;
    }
}
