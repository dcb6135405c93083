package org.schedlab.bank.settings;

import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/** With the profile postgres, connects to the database of the settings and not to the one in memory. */
@Configuration(proxyBeanMethods = false)
@Profile(Postgres.PROFILE)
class PostgresConfiguration {

    @Bean
    JdbcConnectionDetails connectionDetails(Settings settings) {
        Postgres postgres = settings.postgres().orElseThrow();
        return new JdbcConnectionDetails() {
            @Override
            public String getJdbcUrl() {
                return postgres.url();
            }

            @Override
            public String getUsername() {
                return postgres.user();
            }

            @Override
            public String getPassword() {
                return postgres.password();
            }
        };
    }
}
