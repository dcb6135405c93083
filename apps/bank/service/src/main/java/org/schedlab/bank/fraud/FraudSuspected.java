package org.schedlab.bank.fraud;

import java.math.BigDecimal;

/** The event that a transfer looks like fraud. */
record FraudSuspected(long transferId, long account, BigDecimal amount) {
}
