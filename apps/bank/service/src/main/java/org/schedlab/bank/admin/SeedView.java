package org.schedlab.bank.admin;

import java.math.BigDecimal;

/** The books after a seed: the accounts are numbered from 1 to their count. */
public record SeedView(int accounts, long transfers, BigDecimal openingTotal, long seed) {
}
