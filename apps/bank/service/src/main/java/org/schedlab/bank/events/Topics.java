package org.schedlab.bank.events;

/** The topics of the bank. */
public final class Topics {

    /** Every transfer that was made. */
    public static final String TRANSACTIONS = "transactions";
    /** Every transfer that looks like fraud. */
    public static final String FRAUD_ALERTS = "fraud-alerts";

    static final int TRANSACTIONS_PARTITIONS = 4;
    static final int FRAUD_ALERTS_PARTITIONS = 1;

    private Topics() {
    }
}
