package org.schedlab.bank.transfer;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;
import java.math.BigDecimal;
import java.time.Instant;

/** One line of the ledger: money that moved. It is written once and never changed. */
@Entity
public class Transfer {

    @Id
    @SequenceGenerator(name = "transfer_seq", sequenceName = "transfer_seq", allocationSize = 50)
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "transfer_seq")
    private Long id;

    @Column(nullable = false, unique = true, length = 100)
    private String idempotencyKey;

    @Column(nullable = false)
    private long source;

    @Column(nullable = false)
    private long target;

    @Column(nullable = false, precision = 19, scale = 2)
    private BigDecimal amount;

    @Column(nullable = false)
    private Instant madeAt;

    protected Transfer() {
    }

    Transfer(TransferOrder order, Instant madeAt) {
        this.idempotencyKey = order.key();
        this.source = order.source();
        this.target = order.target();
        this.amount = order.amount();
        this.madeAt = madeAt;
    }

    boolean carriesOut(TransferOrder order) {
        return source == order.source() && target == order.target() && amount.compareTo(order.amount()) == 0;
    }

    public Long id() {
        return id;
    }

    public long source() {
        return source;
    }

    public long target() {
        return target;
    }

    public BigDecimal amount() {
        return amount;
    }

    public Instant madeAt() {
        return madeAt;
    }
}
