package org.schedlab.bank.account;

import java.math.BigDecimal;

/** A balance as clients see it. */
public record BalanceView(long id, BigDecimal balance) {
}
