package org.schedlab.bank.events;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;

/** What the service asks of the broker before it sends: the topics, and a place to read from. */
final class KafkaBroker {

    private static final int TIMEOUT_MS = 3_000;
    private static final short REPLICAS = 1;

    private final String address;
    private final String group;

    KafkaBroker(String address, String group) {
        this.address = address;
        this.group = group;
    }

    void createTopics() throws ExecutionException, InterruptedException {
        try (Admin admin = admin()) {
            create(admin, new NewTopic(Topics.TRANSACTIONS, Topics.TRANSACTIONS_PARTITIONS, REPLICAS));
            create(admin, new NewTopic(Topics.FRAUD_ALERTS, Topics.FRAUD_ALERTS_PARTITIONS, REPLICAS));
        }
    }

    /**
     * Spares a group without positions the events of earlier services. It would ignore them, but reading
     * them costs CPU that belongs to the measurement.
     */
    void placeNewGroupAtTheEnd() throws ExecutionException, InterruptedException {
        try (Admin admin = admin()) {
            if (!admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().isEmpty()) {
                return;
            }
            Map<TopicPartition, OffsetSpec> latest = Stream.concat(
                            partitions(Topics.TRANSACTIONS, Topics.TRANSACTIONS_PARTITIONS),
                            partitions(Topics.FRAUD_ALERTS, Topics.FRAUD_ALERTS_PARTITIONS))
                    .collect(Collectors.toMap(partition -> partition, partition -> OffsetSpec.latest()));
            Map<TopicPartition, OffsetAndMetadata> ends = admin.listOffsets(latest).all().get().entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getKey,
                            end -> new OffsetAndMetadata(end.getValue().offset())));
            admin.alterConsumerGroupOffsets(group, ends).all().get();
        }
    }

    private static void create(Admin admin, NewTopic topic) throws ExecutionException, InterruptedException {
        try {
            admin.createTopics(List.of(topic)).all().get();
        } catch (ExecutionException error) {
            if (!(error.getCause() instanceof TopicExistsException)) {
                throw error;
            }
        }
    }

    private static Stream<TopicPartition> partitions(String topic, int count) {
        return IntStream.range(0, count).mapToObj(number -> new TopicPartition(topic, number));
    }

    private Admin admin() {
        return Admin.create(Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address,
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, TIMEOUT_MS,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MS));
    }
}
