package org.schedlab.bank.account;

import java.math.BigDecimal;
import org.schedlab.bank.events.Epoch;
import org.schedlab.bank.money.Money;
import org.schedlab.bank.problem.Refusal;
import org.springframework.stereotype.Service;

/** Opens accounts and reads them. */
@Service
public class AccountService {

    private static final int MAX_OWNER_LENGTH = 100;

    private final AccountRepository accounts;
    private final Epoch epoch;

    AccountService(AccountRepository accounts, Epoch epoch) {
        this.accounts = accounts;
        this.epoch = epoch;
    }

    public AccountView open(AccountRequest request) {
        String owner = request.owner() == null ? "" : request.owner().strip();
        // PostgreSQL does not keep the character zero, and no name holds any other control character.
        if (owner.isEmpty() || owner.length() > MAX_OWNER_LENGTH || owner.chars().anyMatch(Character::isISOControl)) {
            throw Refusal.malformed("owner needs 1 to " + MAX_OWNER_LENGTH + " printable characters");
        }
        BigDecimal opening = Money.notNegative(request.opening(), "opening");
        return epoch.during(() -> AccountView.of(accounts.save(new Account(owner, opening))));
    }

    public AccountView find(long id) {
        return accounts.findById(id).map(AccountView::of).orElseThrow(() -> Refusal.unknownAccount(id));
    }

    public BigDecimal balance(long id) {
        return accounts.balanceOf(id).orElseThrow(() -> Refusal.unknownAccount(id));
    }
}
