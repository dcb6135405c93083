package org.schedlab.bank.account;

import java.math.BigDecimal;

/** An account as clients see it. */
public record AccountView(long id, String owner, BigDecimal opening, BigDecimal balance) {

    static AccountView of(Account account) {
        return new AccountView(account.id(), account.owner(), account.opening(), account.balance());
    }
}
