package org.schedlab.bank;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.schedlab.bank.settings.Postgres;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

/** One database, several services one after the other. */
@EnabledIf("org.schedlab.bank.PostgresServer#canRun")
class RestartOnPostgresTest {

    private static final Map<String, String> NO_BROKER =
            Map.of("BANK_EVENTS", "kafka", "BANK_KAFKA", "127.0.0.1:1");

    private final Map<String, String> database = PostgresServer.freshDatabase();

    @Test
    void eachServiceGoesOnWhereTheOneBeforeStopped() {
        try (var first = start(NO_BROKER)) {
            Client bank = client(first);
            bank.seed(20, "100000.00");
            for (int i = 0; i < 10; i++) {
                assertThat(bank.transfer("k" + i, 1, 2, i == 0 ? "900.01" : "1").status()).isEqualTo(201);
            }
        }
        try (var second = start(Map.of())) {
            Client bank = client(second);
            sendsWhatWasOnlyCommitted(bank);
            // As after a crash between the sending and the marking.
            second.getBean(JdbcClient.class).sql("update outbox set is_sent = false").update();
        }
        try (var third = start(Map.of())) {
            Client.Answer books = client(third).books(20);
            assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
            assertThat(books.number("events_duplicated")).isEqualTo(12);
            assertThat(books.number("alerts_raised")).isEqualTo(1);
        }
    }

    private static void sendsWhatWasOnlyCommitted(Client bank) {
        assertThat(bank.transfer("k3", 1, 2, "1").status()).isEqualTo(200);
        assertThat(bank.transfer("k10", 2, 1, "1").status()).isEqualTo(201);
        Client.Answer books = bank.books(20);
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("transfers")).isEqualTo(11);
        assertThat(books.number("events_sent")).isEqualTo(11);
        assertThat(books.number("alerts_consumed")).isEqualTo(1);
        assertThat(bank.post("/api/accounts", "{\"owner\":\"ada\",\"opening\":1}").number("id")).isEqualTo(21);
    }

    private ConfigurableApplicationContext start(Map<String, String> more) {
        Map<String, String> settings = new TreeMap<>(database);
        settings.putAll(Map.of("BANK_THREADS", "4", "spring.profiles.active", Postgres.PROFILE));
        settings.putAll(more);
        return new SpringApplicationBuilder(Bank.class).run(settings.entrySet().stream()
                .map(setting -> "--" + setting.getKey() + "=" + setting.getValue()).toArray(String[]::new));
    }

    private static Client client(ConfigurableApplicationContext service) {
        return new Client(service.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
    }
}
