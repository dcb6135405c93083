package org.schedlab.bank.transfer;

import java.math.BigDecimal;

/** What a client sends to move money. */
public record TransferRequest(Long from, Long to, BigDecimal amount) {
}
