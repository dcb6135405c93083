package org.schedlab.bank.transfer;

import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.schedlab.bank.account.Account;
import org.schedlab.bank.account.AccountRepository;
import org.schedlab.bank.money.Money;
import org.schedlab.bank.outbox.Outbox;
import org.schedlab.bank.problem.Refusal;
import org.schedlab.bank.settings.Fault;
import org.schedlab.bank.settings.Settings;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Writes a transfer, both balances and the event in one transaction. */
@Component
class Ledger {

    private final AccountRepository accounts;
    private final TransferRepository transfers;
    private final Outbox outbox;
    private final boolean hasLocks;
    private final Clock clock = Clock.systemUTC();

    Ledger(AccountRepository accounts, TransferRepository transfers, Outbox outbox, Settings settings) {
        this.accounts = accounts;
        this.transfers = transfers;
        this.outbox = outbox;
        this.hasLocks = !settings.has(Fault.LOST_UPDATE);
    }

    /** Moves the money, unless a transfer with this key is there already: then that one is returned. */
    @Transactional
    public Outcome write(TransferOrder order) {
        // Always in ascending order, so that two transfers in opposite directions cannot deadlock.
        Account lower = open(Math.min(order.source(), order.target()));
        Account upper = open(Math.max(order.source(), order.target()));
        // Asked behind the locks: a rival with the same key has either committed or not begun.
        var earlier = transfers.findByIdempotencyKey(order.key());
        if (earlier.isPresent()) {
            return Replay.of(earlier.get(), order);
        }
        Account source = lower.id() == order.source() ? lower : upper;
        Account target = source == lower ? upper : lower;
        if (source.balance().compareTo(order.amount()) < 0) {
            throw new Refusal(Refusal.Kind.INSUFFICIENT_FUNDS, "account " + source.id() + " holds too little");
        }
        if (!Money.fits(target.balance().add(order.amount()))) {
            throw new Refusal(Refusal.Kind.BALANCE_TOO_LARGE, "account " + target.id() + " cannot hold that much");
        }
        source.withdraw(order.amount());
        target.deposit(order.amount());
        Transfer transfer = transfers.saveAndFlush(new Transfer(order, nowInMicroseconds()));
        outbox.append(TransferMade.of(transfer).message());
        return new Outcome(TransferView.of(transfer), false);
    }

    private Account open(long id) {
        var account = hasLocks ? accounts.lock(id) : accounts.findById(id);
        return account.orElseThrow(() -> Refusal.unknownAccount(id));
    }

    /** A database keeps microseconds; a replay has to show the same instant. */
    private Instant nowInMicroseconds() {
        return clock.instant().truncatedTo(ChronoUnit.MICROS);
    }
}
