package org.schedlab.bank.settings;

import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Hands the parsed settings to the rest of the service. */
@Configuration(proxyBeanMethods = false)
class SettingsConfiguration {

    @Bean
    Settings settings(Environment environment) {
        return Settings.from(environment::getProperty, List.of(environment.getActiveProfiles()));
    }
}
