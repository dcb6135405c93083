package org.schedlab.bank.settings;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** A defect that can be switched on, to prove that the books or a warm-up test see it. */
public enum Fault {
    /** A transfer reads both balances without a lock and writes them back. */
    LOST_UPDATE,
    /** For the first seconds each request burns CPU, less and less. */
    SLOW_START,
    /** Every 50th event is published a second time under another event id. */
    DOUBLE_SEND;

    /** The name in BANK_FAULT and in /admin/process. */
    public String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Optional<Fault> named(String id) {
        return Arrays.stream(values()).filter(fault -> fault.id().equals(id)).findFirst();
    }
}
