package org.schedlab.bank.account;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;
import java.math.BigDecimal;

/** An account. Its balance is always its opening minus what went out plus what came in. */
@Entity
public class Account {

    // One id per call of the sequence: seeding restarts it, and a block of ids held here would outlive that.
    @Id
    @SequenceGenerator(name = "account_seq", sequenceName = "account_seq", allocationSize = 1)
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "account_seq")
    private Long id;

    @Column(nullable = false, length = 100)
    private String owner;

    @Column(nullable = false, precision = 19, scale = 2)
    private BigDecimal opening;

    @Column(nullable = false, precision = 19, scale = 2)
    private BigDecimal balance;

    protected Account() {
    }

    public Account(String owner, BigDecimal opening) {
        this.owner = owner;
        this.opening = opening;
        this.balance = opening;
    }

    public Long id() {
        return id;
    }

    public String owner() {
        return owner;
    }

    public BigDecimal opening() {
        return opening;
    }

    public BigDecimal balance() {
        return balance;
    }

    public void withdraw(BigDecimal amount) {
        balance = balance.subtract(amount);
    }

    public void deposit(BigDecimal amount) {
        balance = balance.add(amount);
    }
}
