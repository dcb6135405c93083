package org.schedlab.bank.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeTest {

    private static final String TOPIC = "words";

    @TempDir
    private Path data;

    @Test
    void whatIsProducedIsThereAfterARestart() throws Exception {
        Arguments arguments = new Arguments(0, 0, data);
        try (Node node = Node.start(arguments)) {
            produce(node.address(), "kept");
            assertEquals("kept", consume(node.address()));
        }
        try (Node node = Node.start(arguments)) {
            assertEquals("kept", consume(node.address()));
        }
    }

    @Test
    void aDirectoryOfSomethingElseIsLeftAlone() throws Exception {
        Files.writeString(data.resolve("letter"), "dear");
        assertThrows(ArgumentError.class, () -> Node.start(new Arguments(0, 0, data)));
        assertEquals(List.of("letter"), List.of(data.toFile().list()));
    }

    private static void produce(String address, String word) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get();
        }
        try (var producer = new KafkaProducer<>(Map.of("bootstrap.servers", address),
                new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(TOPIC, word)).get();
        }
    }

    private static String consume(String address) {
        try (var consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", address, "auto.offset.reset", "earliest"),
                new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(new TopicPartition(TOPIC, 0)));
            for (int attempt = 0; attempt < 30; attempt++) {
                ConsumerRecords<String, String> records = consumer.poll(Duration.ofSeconds(2));
                if (!records.isEmpty()) {
                    return records.iterator().next().value();
                }
            }
        }
        return "nothing";
    }
}
