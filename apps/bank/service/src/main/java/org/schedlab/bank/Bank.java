package org.schedlab.bank;

import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.schedlab.bank.settings.Settings;
import org.schedlab.bank.settings.SettingsError;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Starts the service and says so in exactly one line on stdout.
 *
 * <p>Kafka is wired by {@link org.schedlab.bank.events.KafkaBus}, because a broker that is absent must
 * not keep the service from starting.
 */
@SpringBootApplication(exclude = KafkaAutoConfiguration.class)
public class Bank {

    static final int EXIT_CANNOT_START = 1;
    static final int EXIT_BAD_SETTINGS = 2;

    public static void main(String[] args) {
        try {
            // Read here as well, so that a wrong value is told in one line before anything is started.
            Settings.from(System::getenv, profiles(System.getenv("SPRING_PROFILES_ACTIVE")));
        } catch (SettingsError error) {
            System.err.println("bank: " + error.getMessage());
            System.exit(EXIT_BAD_SETTINGS);
        }
        try {
            System.out.println(readyLine(SpringApplication.run(Bank.class, args)));
        } catch (Exception error) {
            System.err.println("bank: cannot start: " + reason(error));
            System.exit(EXIT_CANNOT_START);
        }
    }

    static List<String> profiles(String names) {
        return names == null ? List.of() : Stream.of(names.split(",")).map(String::strip)
                .filter(name -> !name.isEmpty()).toList();
    }

    static String readyLine(ConfigurableApplicationContext context) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        return "bank: ready on http://127.0.0.1:" + port + " pid " + ProcessHandle.current().pid();
    }

    /** The innermost message; for a database that of the driver, which names the address. */
    static String reason(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null && !(cause instanceof SQLException)) {
            cause = cause.getCause();
        }
        return String.valueOf(cause.getMessage()).lines().findFirst().orElse(cause.toString());
    }
}
