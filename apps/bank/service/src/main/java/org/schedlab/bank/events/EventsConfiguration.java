package org.schedlab.bank.events;

import org.schedlab.bank.settings.EventsMode;
import org.schedlab.bank.settings.Settings;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Chooses the bus. With events off nothing is written, so the local bus is never opened. */
@Configuration(proxyBeanMethods = false)
class EventsConfiguration {

    @Bean(destroyMethod = "")
    EventBus eventBus(Settings settings, Epoch epoch) {
        return settings.events() == EventsMode.KAFKA
                ? new KafkaBus(settings.kafka(), "bank-" + epoch.instance())
                : new LocalBus();
    }
}
