package org.schedlab.bank.admin;

import java.util.ArrayList;
import java.util.List;

/** The rules that the books keep at rest; each broken one is named with its figures. */
final class Invariants {

    private final List<String> broken = new ArrayList<>();

    private Invariants() {
    }

    /** Checks the rules about money, and those about events unless there are no figures on them. */
    static List<String> broken(MoneyFigures money, EventFigures events) {
        Invariants invariants = new Invariants();
        invariants.check(money);
        if (events != null) {
            invariants.check(money, events);
        }
        return List.copyOf(invariants.broken);
    }

    private void check(MoneyFigures money) {
        if (money.total().compareTo(money.openingTotal()) != 0) {
            broken.add("total: " + money.total() + ", opened with " + money.openingTotal());
        }
        none("mismatched_accounts", money.mismatchedAccounts());
        none("negative_accounts", money.negativeAccounts());
        none("duplicate_keys", money.duplicateKeys());
    }

    private void check(MoneyFigures money, EventFigures events) {
        same("events_written", events.written(), "transfers", money.transfers());
        same("events_sent", events.sent(), "written", events.written());
        same("events_acknowledged", events.acknowledged(), "sent", events.sent());
        same("events_consumed", events.consumed(), "sent", events.sent());
        same("alerts_raised", events.alertsRaised(), "expected", events.alertsExpected());
        same("alerts_consumed", events.alertsConsumed(), "raised", events.alertsRaised());
    }

    private void none(String name, long count) {
        if (count != 0) {
            broken.add(name + ": " + count + ", expected 0");
        }
    }

    private void same(String name, long count, String otherName, long otherCount) {
        if (count != otherCount) {
            broken.add(name + ": " + count + ", " + otherName + " " + otherCount);
        }
    }
}
