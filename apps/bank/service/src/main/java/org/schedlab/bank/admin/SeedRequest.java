package org.schedlab.bank.admin;

import java.math.BigDecimal;

/** What a driver sends to start from known books. */
public record SeedRequest(Integer accounts, BigDecimal opening, Long seed) {
}
