package org.schedlab.bank.fraud;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.math.BigDecimal;

/** A transfer that looks like fraud; there is at most one alert per transfer. */
@Entity
public class FraudAlert {

    @Id
    private Long transferId;

    @Column(nullable = false)
    private long account;

    @Column(nullable = false, precision = 19, scale = 2)
    private BigDecimal amount;

    protected FraudAlert() {
    }

    FraudAlert(FraudSuspected suspected) {
        this.transferId = suspected.transferId();
        this.account = suspected.account();
        this.amount = suspected.amount();
    }
}
