package org.schedlab.bank.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {

    @Test
    void withoutAnEnvironmentTheBankIsSoundAndLocal() {
        assertThat(read(Map.of())).isEqualTo(new Settings(0, EventsMode.LOCAL, "", 2, 24, Set.of(), Optional.empty()));
    }

    @Test
    void aBrokerTurnsItsEventsOn() {
        assertThat(read(Map.of("BANK_KAFKA", "localhost:9092")).events()).isEqualTo(EventsMode.KAFKA);
        assertThat(read(Map.of("BANK_KAFKA", "localhost:9092", "BANK_EVENTS", "off")).events())
                .isEqualTo(EventsMode.OFF);
    }

    @Test
    void faultsAreListed() {
        assertThat(read(Map.of("BANK_FAULT", "lost-update, slow-start")).faults())
                .containsExactly(Fault.LOST_UPDATE, Fault.SLOW_START);
        assertThat(read(Map.of("BANK_FAULT", "")).faults()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "BANK_PORT,many", "BANK_PORT,-1", "BANK_PORT,65536", "BANK_PORT,''",
        "BANK_ADDRESS,localhost", "BANK_ADDRESS,1.2.3", "BANK_ADDRESS,1.2.3.256", "BANK_ADDRESS,1.2.3.4.5",
        "BANK_WORKERS,0", "BANK_THREADS,0", "BANK_THREADS,1001",
        "BANK_EVENTS,Kafka", "BANK_EVENTS,kafka", "BANK_KAFKA,localhost", "BANK_KAFKA,:9092",
        "BANK_KAFKA,localhost:0", "BANK_FAULT,slow", "BANK_DATABASE_URL,jdbc:postgresql://localhost/bank",
        "BANK_DATABASE_USER,bank", "BANK_DATABASE_PASSWORD,secret"})
    void aWrongValueIsNamed(String name, String value) {
        assertThatThrownBy(() -> read(Map.of(name, value)))
                .isInstanceOf(SettingsError.class).hasMessageContaining(name).hasMessageNotContaining("\n");
    }

    @Test
    void allWrongValuesAreNamedAtOnce() {
        assertThatThrownBy(() -> read(Map.of("BANK_PORT", "x", "BANK_FAULT", "y")))
                .hasMessageContainingAll("BANK_PORT", "BANK_FAULT");
    }

    @Test
    void theProfilePostgresTakesItsDatabaseFromTheEnvironment() {
        Settings settings = Settings.from(Map.of("BANK_DATABASE_URL", "jdbc:postgresql://localhost:5432/bank?ssl=off",
                "BANK_DATABASE_USER", "teller", "BANK_DATABASE_PASSWORD", "secret")::get, List.of("postgres"));
        assertThat(settings.database()).isEqualTo("postgres");
        assertThat(settings.toString()).contains("localhost:5432/bank", "teller").doesNotContain("secret");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "localhost", "jdbc:h2:mem:bank", "jdbc:postgresql://localhost:5432",
        "jdbc:postgresql:///bank"})
    void aDatabaseThatIsNoPostgresIsNamedTogetherWithAMissingUser(String url) {
        assertThatThrownBy(() -> Settings.from(Map.of("BANK_DATABASE_URL", url)::get, List.of("postgres")))
                .isInstanceOf(SettingsError.class)
                .hasMessageContainingAll("BANK_DATABASE_URL is '" + url + "'", "BANK_DATABASE_USER is missing");
    }

    @Test
    void aProfileThatDoesNotExistIsNamed() {
        assertThatThrownBy(() -> Settings.from(Map.<String, String>of()::get, List.of("postgres", "h2")))
                .hasMessageContaining("SPRING_PROFILES_ACTIVE names 'h2'");
    }

    private static Settings read(Map<String, String> environment) {
        return Settings.from(environment::get, List.of());
    }
}
