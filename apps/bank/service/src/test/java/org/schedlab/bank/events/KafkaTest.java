package org.schedlab.bank.events;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.schedlab.bank.Crowd;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.kafka.test.context.EmbeddedKafka;
import org.springframework.test.context.TestPropertySource;

@EmbeddedKafka(partitions = 1)
@TestPropertySource(properties = {"BANK_EVENTS=kafka", "BANK_KAFKA=${spring.embedded.kafka.brokers}"})
class KafkaTest extends BankTest {

    @Value("${spring.embedded.kafka.brokers}")
    private String broker;

    @Test
    void whatIsSentIsConsumedOnceAndAlertsComeBack() throws Exception {
        bank.seed(ACCOUNTS, "100000.00");
        List<Client.Answer> answers = Crowd.of(8, 200, i ->
                bank.transfer("k" + i % 190, 1 + i % 190 % ACCOUNTS, 1 + (i % 190 + 1) % ACCOUNTS,
                        i % 190 % 10 == 0 ? "900.01" : "9.00"));
        assertThat(answers.stream().filter(answer -> answer.status() == 200)).hasSize(10);
        Client.Answer books = bank.books(60);
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("events_sent")).isEqualTo(190);
        assertThat(books.number("events_consumed")).isEqualTo(190);
        assertThat(books.number("alerts_raised")).isEqualTo(19);
        assertThat(books.number("alerts_consumed")).isEqualTo(19);
    }

    @Test
    void aSeedInBetweenLeavesNoEventBehind() throws Exception {
        Crowd.transfers(bank, 4, 100, ACCOUNTS);
        bank.seed(ACCOUNTS, "1000.00");
        Crowd.transfers(bank, 4, 50, ACCOUNTS);
        Client.Answer books = bank.books(60);
        assertThat(books.text("balanced")).as(books.raw().body()).isEqualTo("true");
        assertThat(books.number("events_consumed")).isEqualTo(50);
    }

    @Test
    void theServiceCreatesTheTopics() throws Exception {
        bank.transfer("a", 1, 2, "1");
        bank.books(60);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker))) {
            var topics = admin.describeTopics(List.of("transactions", "fraud-alerts")).allTopicNames().get();
            assertThat(topics.get("transactions").partitions()).hasSize(4);
            assertThat(topics.get("fraud-alerts").partitions()).hasSize(1);
        }
        assertThat(bank.get("/actuator/health").raw().body()).contains("\"broker\":\"reachable\"");
    }
}
