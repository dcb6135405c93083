package org.schedlab.bank.outbox;

import java.util.Locale;
import org.schedlab.bank.settings.EventsMode;
import org.schedlab.bank.settings.Settings;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/** Tells of the broker without judging: requests succeed without it, so the service stays up. */
@Component("events")
class EventsHealth implements HealthIndicator {

    private final Settings settings;
    private final Publisher publisher;
    private final Outbox outbox;

    EventsHealth(Settings settings, Publisher publisher, Outbox outbox) {
        this.settings = settings;
        this.publisher = publisher;
        this.outbox = outbox;
    }

    @Override
    public Health health() {
        Health.Builder health = Health.up()
                .withDetail("mode", settings.events().name().toLowerCase(Locale.ROOT))
                .withDetail("unsent", outbox.countUnsent());
        if (settings.events() == EventsMode.KAFKA) {
            health.withDetail("broker", publisher.isReachable() ? "reachable" : "unreachable");
        }
        return health.build();
    }
}
