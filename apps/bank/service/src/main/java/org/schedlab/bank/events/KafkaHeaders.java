package org.schedlab.bank.events;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** What of a message travels in the headers of a record. */
final class KafkaHeaders {

    private static final String EVENT_ID = "event-id";
    private static final String EPOCH = "epoch";

    private KafkaHeaders() {
    }

    static void write(Message message, Headers headers) {
        headers.add(EVENT_ID, message.eventId().getBytes(StandardCharsets.UTF_8));
        headers.add(EPOCH, message.epoch().getBytes(StandardCharsets.UTF_8));
    }

    static Message message(ConsumerRecord<String, String> record) {
        return new Message(record.topic(), record.key(), text(record, EVENT_ID), text(record, EPOCH), record.value());
    }

    /** A record without our headers is a stranger's: its empty epoch makes the inbox ignore it. */
    private static String text(ConsumerRecord<String, String> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? "" : new String(header.value(), StandardCharsets.UTF_8);
    }
}
