package org.schedlab.bank;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * One real PostgreSQL for all tests of this JVM, unpacked from a Maven artefact into target/.
 *
 * <p>PostgreSQL does not run as root; where the tests do, it is nobody in a user namespace of its own.
 */
public final class PostgresServer implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static EmbeddedPostgres server;
    private static int databases;

    /** For {@link OnPostgres}: says loudly what is missing. */
    public static boolean canRun() {
        String problem = problem();
        if (problem != null) {
            System.err.println("SKIPPED: the tests on PostgreSQL need " + problem);
        }
        return problem == null;
    }

    /** What a service needs to use a database that nobody has used before. */
    public static Map<String, String> freshDatabase() {
        synchronized (PostgresServer.class) {
            String name = "bank" + databases++;
            try (Connection connection = server().getPostgresDatabase().getConnection();
                    var statement = connection.createStatement()) {
                statement.execute("create database " + name);
            } catch (SQLException error) {
                throw new IllegalStateException(error);
            }
            return Map.of("BANK_DATABASE_URL", "jdbc:postgresql://127.0.0.1:" + server().getPort() + "/" + name,
                    "BANK_DATABASE_USER", "postgres");
        }
    }

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        TestPropertyValues.of(freshDatabase()).applyTo(context);
    }

    private static EmbeddedPostgres server() {
        if (server == null) {
            try {
                server = EmbeddedPostgres.builder()
                        .setOverrideWorkingDirectory(new File("target/postgres").getAbsoluteFile())
                        .start();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
        return server;
    }

    private static String problem() {
        if (!System.getProperty("os.name").equals("Linux") || !System.getProperty("os.arch").equals("amd64")) {
            return "Linux on x86-64, whose binaries are in the Maven artefact";
        }
        if (System.getProperty("user.name").equals("root") && !succeeds("unshare", "-U", "true")) {
            return "a user other than root, or user namespaces (unshare -U)";
        }
        return null;
    }

    private static boolean succeeds(String... command) {
        try {
            return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
        } catch (IOException absent) {
            return false;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
