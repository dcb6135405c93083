package org.schedlab.bank.admin;

import java.util.Locale;
import org.schedlab.bank.events.Epoch;
import org.schedlab.bank.events.Tally;
import org.schedlab.bank.outbox.Outbox;
import org.schedlab.bank.problem.Refusal;
import org.schedlab.bank.settings.EventsMode;
import org.schedlab.bank.settings.Settings;
import org.springframework.stereotype.Component;

/** Audits the bank at one moment, if asked to after its events have come to rest. */
@Component
class Books {

    private static final int MAX_WAIT_S = 600;
    private static final long LOOK_EVERY_MS = 50;

    private final Audit audit;
    private final Epoch epoch;
    private final Outbox outbox;
    private final Tally tally;
    private final EventsMode mode;

    Books(Audit audit, Epoch epoch, Outbox outbox, Tally tally, Settings settings) {
        this.audit = audit;
        this.epoch = epoch;
        this.outbox = outbox;
        this.tally = tally;
        this.mode = settings.events();
    }

    /** Audits once the events are drained, or after so many seconds as things stand then. */
    BooksView read(int drainedS) {
        if (drainedS < 0 || drainedS > MAX_WAIT_S) {
            throw Refusal.malformed("drained has to be 0 to " + MAX_WAIT_S + " seconds");
        }
        long end = System.nanoTime() + drainedS * 1_000_000_000L;
        while (!isDrained() && System.nanoTime() < end) {
            pause();
        }
        return epoch.alone(() -> BooksView.of(
                mode.name().toLowerCase(Locale.ROOT), tally.replays(), audit.money(), events()));
    }

    private EventFigures events() {
        return mode == EventsMode.OFF ? null : audit.events();
    }

    /** Alone with the epoch, no event can be between two of its stations. */
    private boolean isDrained() {
        return epoch.alone(() -> outbox.countUnsent() == 0 && tally.isAllReceived());
    }

    private static void pause() {
        try {
            Thread.sleep(LOOK_EVERY_MS);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new Refusal(Refusal.Kind.OVERLOADED, "the audit was given up");
        }
    }
}
