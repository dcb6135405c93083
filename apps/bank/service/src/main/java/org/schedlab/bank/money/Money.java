package org.schedlab.bank.money;

import java.math.BigDecimal;
import java.math.RoundingMode;
import org.schedlab.bank.problem.Refusal;

/** Amounts have at most 17 digits before the point and exactly two after it; nothing is ever rounded. */
public final class Money {

    private static final int SCALE = 2;
    private static final int MAX_INTEGER_DIGITS = 17;

    private Money() {
    }

    /** An amount that may be moved: above zero. */
    public static BigDecimal positive(BigDecimal amount, String field) {
        BigDecimal exact = exact(amount, field);
        if (exact.signum() <= 0) {
            throw Refusal.malformed(field + " has to be above zero");
        }
        return exact;
    }

    /** An amount that may be owned: zero or more. */
    public static BigDecimal notNegative(BigDecimal amount, String field) {
        BigDecimal exact = exact(amount, field);
        if (exact.signum() < 0) {
            throw Refusal.malformed(field + " must not be negative");
        }
        return exact;
    }

    /** Whether a balance of so much can be kept. */
    public static boolean fits(BigDecimal balance) {
        return balance.precision() - balance.scale() <= MAX_INTEGER_DIGITS;
    }

    private static BigDecimal exact(BigDecimal amount, String field) {
        if (amount == null) {
            throw Refusal.malformed(field + " is missing");
        }
        // Checked before the scale is set: 1e999999999 would become a gigabyte of zeros.
        if ((long) amount.precision() - amount.scale() > MAX_INTEGER_DIGITS) {
            throw Refusal.malformed(field + " has more than " + MAX_INTEGER_DIGITS + " digits before the point");
        }
        try {
            return amount.setScale(SCALE, RoundingMode.UNNECESSARY);
        } catch (ArithmeticException inexact) {
            throw Refusal.malformed(field + " has more than two decimals");
        }
    }
}
