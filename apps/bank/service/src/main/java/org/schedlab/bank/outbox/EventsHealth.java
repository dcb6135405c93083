package org.schedlab.bank.outbox;

import java.util.Locale;
import org.schedlab.bank.settings.EventsMode;
import org.schedlab.bank.settings.Settings;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.stereotype.Component;

/**
 * Tells of the broker without judging: requests succeed without it, so the service stays up. It is down
 * when the outbox cannot be read, which takes the database with it.
 */
@Component("events")
class EventsHealth extends AbstractHealthIndicator {

    private final Settings settings;
    private final Publisher publisher;
    private final Outbox outbox;

    EventsHealth(Settings settings, Publisher publisher, Outbox outbox) {
        this.settings = settings;
        this.publisher = publisher;
        this.outbox = outbox;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        health.up()
                .withDetail("mode", settings.events().name().toLowerCase(Locale.ROOT))
                .withDetail("unsent", outbox.countUnsent());
        if (settings.events() == EventsMode.KAFKA) {
            health.withDetail("broker", publisher.isReachable() ? "reachable" : "unreachable");
        }
    }
}
