package org.schedlab.bank.admin;

import java.math.BigDecimal;

/** What the tables say about money. */
record MoneyFigures(long accounts, long transfers, BigDecimal total, BigDecimal openingTotal,
        long mismatchedAccounts, long negativeAccounts, long duplicateKeys) {
}
