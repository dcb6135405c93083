package org.schedlab.bank.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

class InvariantsTest {

    private static final MoneyFigures SOUND_MONEY = money("10.00", 0, 0, 0);
    private static final EventFigures SOUND_EVENTS = new EventFigures(5, 5, 5, 5, 3, 2, 2, 2);

    @Test
    void soundFiguresBreakNothingAndRedeliveriesAreAllowed() {
        assertThat(Invariants.broken(SOUND_MONEY, SOUND_EVENTS)).isEmpty();
        assertThat(Invariants.broken(SOUND_MONEY, null)).isEmpty();
    }

    @Test
    void eachBrokenRuleAboutMoneyIsNamedWithItsFigures() {
        assertThat(Invariants.broken(money("9.99", 0, 0, 0), null)).containsExactly("total: 9.99, opened with 10.00");
        assertThat(Invariants.broken(money("10.00", 1, 2, 3), null)).containsExactly(
                "mismatched_accounts: 1, expected 0", "negative_accounts: 2, expected 0",
                "duplicate_keys: 3, expected 0");
    }

    @Test
    void eachBrokenRuleAboutEventsIsNamedWithItsFigures() {
        breaks(new EventFigures(4, 4, 4, 4, 0, 2, 2, 2), "events_written: 4, transfers 5");
        breaks(new EventFigures(5, 4, 4, 4, 0, 2, 2, 2), "events_sent: 4, written 5");
        breaks(new EventFigures(5, 5, 6, 5, 0, 2, 2, 2), "events_acknowledged: 6, sent 5");
        breaks(new EventFigures(5, 5, 5, 6, 0, 2, 2, 2), "events_consumed: 6, sent 5");
        breaks(new EventFigures(5, 5, 5, 5, 0, 2, 1, 1), "alerts_raised: 1, expected 2");
        breaks(new EventFigures(5, 5, 5, 5, 0, 2, 2, 1), "alerts_consumed: 1, raised 2");
    }

    private static void breaks(EventFigures events, String rule) {
        assertThat(Invariants.broken(SOUND_MONEY, events)).containsExactly(rule);
    }

    private static MoneyFigures money(String total, long mismatched, long negative, long duplicates) {
        return new MoneyFigures(3, 5, new BigDecimal(total), new BigDecimal("10.00"), mismatched, negative, duplicates);
    }
}
