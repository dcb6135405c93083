package org.schedlab.bank.admin;

/** What the tables and the tally say about events. */
record EventFigures(long written, long sent, long acknowledged, long consumed, long duplicated,
        long alertsExpected, long alertsRaised, long alertsConsumed) {
}
