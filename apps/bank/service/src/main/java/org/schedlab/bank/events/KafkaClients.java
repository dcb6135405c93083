package org.schedlab.bank.events;

import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListener;
import org.springframework.kafka.support.TopicPartitionOffset;
import org.springframework.util.backoff.FixedBackOff;

/** The producer and the consumers, set so that a dead broker is noticed within seconds. */
final class KafkaClients {

    private static final long RECONNECT_MAX_MS = 1_000;
    private static final int REQUEST_TIMEOUT_MS = 3_000;
    private static final int DELIVERY_TIMEOUT_MS = 8_000;
    private static final long MAX_BLOCK_MS = 3_000;
    private static final long METADATA_MAX_AGE_MS = 5_000;
    private static final long REDELIVERY_MS = 1_000;
    private static final int CLOSE_S = 1;

    private final String address;
    private final String group;

    KafkaClients(String address, String group) {
        this.address = address;
        this.group = group;
    }

    DefaultKafkaProducerFactory<String, String> producers() {
        var producers = new DefaultKafkaProducerFactory<>(Map.of(
                CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, address,
                CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, RECONNECT_MAX_MS,
                CommonClientConfigs.METADATA_MAX_AGE_CONFIG, METADATA_MAX_AGE_MS,
                ProducerConfig.ACKS_CONFIG, "all",
                ProducerConfig.MAX_BLOCK_MS_CONFIG, MAX_BLOCK_MS,
                ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, REQUEST_TIMEOUT_MS,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, DELIVERY_TIMEOUT_MS),
                new StringSerializer(), new StringSerializer());
        // Whatever is still on its way then, the outbox has not marked as sent.
        producers.setPhysicalCloseTimeout(CLOSE_S);
        return producers;
    }

    /**
     * Its partitions are assigned and not subscribed to: one service reads all of them, and after a crash
     * the next one need not wait for the session of the dead one to end.
     */
    ConcurrentMessageListenerContainer<String, String> listener(String topic, int partitions,
            Consumer<Message> receiver) {
        ContainerProperties properties = new ContainerProperties(IntStream.range(0, partitions)
                .mapToObj(partition -> new TopicPartitionOffset(topic, partition))
                .toArray(TopicPartitionOffset[]::new));
        properties.setGroupId(group);
        properties.setMessageListener((MessageListener<String, String>) record ->
                receiver.accept(KafkaHeaders.message(record)));
        var container = new ConcurrentMessageListenerContainer<>(consumers(), properties);
        container.setBeanName("kafka-" + topic);
        // A message is never skipped: the books would count it as lost.
        container.setCommonErrorHandler(
                new DefaultErrorHandler(new FixedBackOff(REDELIVERY_MS, FixedBackOff.UNLIMITED_ATTEMPTS)));
        return container;
    }

    private DefaultKafkaConsumerFactory<String, String> consumers() {
        return new DefaultKafkaConsumerFactory<>(Map.of(
                CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, address,
                CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, RECONNECT_MAX_MS,
                CommonClientConfigs.METADATA_MAX_AGE_CONFIG, METADATA_MAX_AGE_MS,
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false),
                new StringDeserializer(), new StringDeserializer());
    }
}
