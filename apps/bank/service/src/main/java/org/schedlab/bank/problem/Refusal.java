package org.schedlab.bank.problem;

/** The bank declines a request; nothing has been changed. */
public class Refusal extends RuntimeException {

    /** Why a request is declined. */
    public enum Kind {
        MALFORMED, UNKNOWN_ACCOUNT, SAME_ACCOUNT, INSUFFICIENT_FUNDS, BALANCE_TOO_LARGE, KEY_REUSED, OVERLOADED
    }

    private final Kind kind;

    public Refusal(Kind kind, String detail) {
        // A refusal is an ordinary answer, so it does not pay for a stack trace.
        super(detail, null, false, false);
        this.kind = kind;
    }

    public static Refusal malformed(String detail) {
        return new Refusal(Kind.MALFORMED, detail);
    }

    public static Refusal unknownAccount(long id) {
        return new Refusal(Kind.UNKNOWN_ACCOUNT, "there is no account " + id);
    }

    public Kind kind() {
        return kind;
    }
}
