package org.schedlab.bank.broker;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.utils.Time;

/** A broker and its controller within this process. */
final class Node implements AutoCloseable {

    private static final Duration READY_LIMIT = Duration.ofSeconds(180);
    private static final int ATTEMPT_MS = 5_000;

    private final KafkaRaftServer server;
    private final int port;

    private Node(KafkaRaftServer server, int port) {
        this.server = server;
        this.port = port;
    }

    /** Starts a node and returns once it answers requests. */
    static Node start(Arguments arguments) throws IOException, ArgumentError, InterruptedException {
        Ports ports = Ports.pick(arguments);
        Properties properties = NodeProperties.of(ports, arguments.data());
        Storage.prepare(arguments.data(), properties);
        Node node = new Node(new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM),
                ports.port());
        try {
            node.server.startup();
            node.awaitAnswer();
        } catch (IOException | InterruptedException | RuntimeException error) {
            node.close();
            throw error;
        }
        return node;
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    void awaitEnd() {
        server.awaitShutdown();
    }

    @Override
    public void close() {
        server.shutdown();
        server.awaitShutdown();
    }

    private void awaitAnswer() throws IOException, InterruptedException {
        long end = System.nanoTime() + READY_LIMIT.toNanos();
        try (Admin admin = Admin.create(Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address(),
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ATTEMPT_MS,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ATTEMPT_MS))) {
            while (!answers(admin)) {
                if (System.nanoTime() > end) {
                    throw new IOException(address() + " did not answer within " + READY_LIMIT.toSeconds() + " s");
                }
            }
        }
    }

    private static boolean answers(Admin admin) throws InterruptedException {
        try {
            return !admin.describeCluster().nodes().get().isEmpty();
        } catch (ExecutionException notYet) {
            return false;
        }
    }
}
