package org.schedlab.bank.account;

import java.math.BigDecimal;

/** What a client sends to open an account. */
public record AccountRequest(String owner, BigDecimal opening) {
}
