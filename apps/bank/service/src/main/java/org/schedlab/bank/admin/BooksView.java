package org.schedlab.bank.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.math.BigDecimal;
import java.util.List;

/** An audit as clients see it; with events off, the figures about events are left out. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record BooksView(
        boolean balanced,
        long accounts,
        long transfers,
        long replays,
        BigDecimal total,
        BigDecimal openingTotal,
        long mismatchedAccounts,
        long negativeAccounts,
        long duplicateKeys,
        String events,
        Long eventsWritten,
        Long eventsSent,
        Long eventsAcknowledged,
        Long eventsConsumed,
        Long eventsDuplicated,
        Long alertsExpected,
        Long alertsRaised,
        Long alertsConsumed,
        List<String> broken) {

    static BooksView of(String mode, long replays, MoneyFigures money, EventFigures events) {
        List<String> broken = Invariants.broken(money, events);
        boolean isOff = events == null;
        return new BooksView(
                broken.isEmpty(), money.accounts(), money.transfers(), replays, money.total(), money.openingTotal(),
                money.mismatchedAccounts(), money.negativeAccounts(), money.duplicateKeys(), mode,
                isOff ? null : events.written(),
                isOff ? null : events.sent(),
                isOff ? null : events.acknowledged(),
                isOff ? null : events.consumed(),
                isOff ? null : events.duplicated(),
                isOff ? null : events.alertsExpected(),
                isOff ? null : events.alertsRaised(),
                isOff ? null : events.alertsConsumed(),
                broken);
    }
}
