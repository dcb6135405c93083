package org.schedlab.bank.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

    @Test
    void withoutAnEnvironmentTheBankIsSoundAndLocal() {
        assertThat(read(Map.of())).isEqualTo(new Settings(0, EventsMode.LOCAL, "", 2, 24, Set.of()));
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
        "BANK_WORKERS,0", "BANK_THREADS,0", "BANK_THREADS,1001",
        "BANK_EVENTS,Kafka", "BANK_EVENTS,kafka", "BANK_KAFKA,localhost", "BANK_KAFKA,:9092",
        "BANK_KAFKA,localhost:0", "BANK_FAULT,slow"})
    void aWrongValueIsNamed(String name, String value) {
        assertThatThrownBy(() -> read(Map.of(name, value)))
                .isInstanceOf(SettingsError.class).hasMessageContaining(name).hasMessageNotContaining("\n");
    }

    @Test
    void allWrongValuesAreNamedAtOnce() {
        assertThatThrownBy(() -> read(Map.of("BANK_PORT", "x", "BANK_FAULT", "y")))
                .hasMessageContainingAll("BANK_PORT", "BANK_FAULT");
    }

    private static Settings read(Map<String, String> environment) {
        return Settings.from(environment::get);
    }
}
