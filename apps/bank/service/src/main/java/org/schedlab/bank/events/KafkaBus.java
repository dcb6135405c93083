package org.schedlab.bank.events;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;

/** A bus over a Kafka broker, which may be absent at the start and may die at any time. */
final class KafkaBus implements EventBus {

    private static final Logger LOG = LoggerFactory.getLogger(KafkaBus.class);
    private static final long STOP_MS = 2_000;

    private final KafkaBroker broker;
    private final KafkaClients clients;
    private final DefaultKafkaProducerFactory<String, String> producers;
    private final KafkaTemplate<String, String> template;
    private final List<ConcurrentMessageListenerContainer<String, String>> listeners = new ArrayList<>();
    private boolean isReady;

    KafkaBus(String address, String group) {
        this.broker = new KafkaBroker(address, group);
        this.clients = new KafkaClients(address, group);
        this.producers = clients.producers();
        this.template = new KafkaTemplate<>(producers);
    }

    @Override
    public void open(Consumer<Message> receiver) {
        listeners.add(clients.listener(Topics.TRANSACTIONS, Topics.TRANSACTIONS_PARTITIONS, receiver));
        listeners.add(clients.listener(Topics.FRAUD_ALERTS, Topics.FRAUD_ALERTS_PARTITIONS, receiver));
    }

    /** Only the publisher thread asks while the bus is open, so the state needs no lock. */
    @Override
    public boolean isReady() {
        if (!isReady) {
            isReady = prepare();
        }
        return isReady;
    }

    @Override
    public CompletableFuture<?> send(Message message) {
        ProducerRecord<String, String> record =
                new ProducerRecord<>(message.topic(), message.key(), message.payload());
        KafkaHeaders.write(message, record.headers());
        return template.send(record);
    }

    @Override
    public void recover() {
        isReady = false;
        producers.reset();
    }

    /** What a broker that is away keeps from closing is left behind: it comes again after a restart. */
    @Override
    public void close() {
        CountDownLatch running = new CountDownLatch(listeners.size());
        listeners.forEach(listener -> listener.stop(running::countDown));
        try {
            if (!running.await(STOP_MS, TimeUnit.MILLISECONDS)) {
                LOG.warn("a listener did not stop within {} ms", STOP_MS);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        listeners.clear();
        recover();
    }

    /** Listeners start behind the positions of their group, which need the topics, which need the broker. */
    private boolean prepare() {
        try {
            broker.createTopics();
            if (listeners.stream().noneMatch(ConcurrentMessageListenerContainer::isRunning)) {
                broker.placeNewGroupAtTheEnd();
                listeners.forEach(ConcurrentMessageListenerContainer::start);
            }
            return true;
        } catch (ExecutionException absent) {
            LOG.debug("the broker is absent", absent);
            return false;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
