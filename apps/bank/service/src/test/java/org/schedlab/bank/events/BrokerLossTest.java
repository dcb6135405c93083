package org.schedlab.bank.events;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.schedlab.bank.Bank;
import org.schedlab.bank.Client;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

class BrokerLossTest {

    /** A client of a broker that is gone would rather wait half a minute before it closes. */
    private static final long LIMIT_MS = 25_000;

    @Test
    void aServiceWhoseBrokerIsGoneServesOnAndEndsInTime() {
        var broker = new EmbeddedKafkaKraftBroker(1, 1);
        broker.afterPropertiesSet();
        var service = new SpringApplicationBuilder(Bank.class).run("--BANK_THREADS=4",
                "--BANK_KAFKA=" + broker.getBrokersAsString());
        Client bank = new Client(service.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
        bank.seed(10, "1000.00");
        assertThat(bank.transfer("before", 1, 2, "1").status()).isEqualTo(201);
        assertThat(bank.books(30).number("events_consumed")).isEqualTo(1);

        broker.destroy();
        for (int i = 0; i < 20; i++) {
            assertThat(bank.transfer("after-" + i, 1, 2, "1").status()).isEqualTo(201);
        }
        assertThat(bank.get("/actuator/health").text("status")).isEqualTo("UP");

        long start = System.nanoTime();
        service.close();
        assertThat((System.nanoTime() - start) / 1_000_000).isLessThan(LIMIT_MS);
    }
}
