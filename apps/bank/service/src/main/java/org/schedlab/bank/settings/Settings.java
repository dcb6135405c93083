package org.schedlab.bank.settings;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The environment of the service, parsed once: inside, no value has to be checked again. */
public record Settings(int port, EventsMode events, String kafka, int workers, int threads, Set<Fault> faults,
        Optional<Postgres> postgres) {

    private static final Pattern IPV4 = Pattern.compile("((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)(\\.(?!$)|$)){4}");
    private static final int MAX_PORT = 65_535;
    private static final int MAX_WORKERS = 256;
    private static final int MAX_THREADS = 1_000;
    private static final int DEFAULT_WORKERS = 2;
    private static final int DEFAULT_THREADS = 24;

    /**
     * Reads the settings from an environment and the active profiles of Spring.
     *
     * @throws SettingsError naming every value that cannot be used
     */
    public static Settings from(UnaryOperator<String> environment, Collection<String> profiles) {
        Reading reading = new Reading(environment);
        int port = reading.number("BANK_PORT", 0, 0, MAX_PORT);
        reading.text("BANK_ADDRESS").filter(address -> !IPV4.matcher(address).matches()).ifPresent(address ->
                reading.problem("BANK_ADDRESS is '" + address + "', expected an IPv4 address"));
        int workers = reading.number("BANK_WORKERS", DEFAULT_WORKERS, 1, MAX_WORKERS);
        int threads = reading.number("BANK_THREADS", DEFAULT_THREADS, 1, MAX_THREADS);
        String kafka = reading.text("BANK_KAFKA").orElse("");
        EventsMode events = events(reading, kafka);
        Set<Fault> faults = faults(reading);
        profiles.stream().filter(profile -> !profile.equals(Postgres.PROFILE)).forEach(profile -> reading.problem(
                "SPRING_PROFILES_ACTIVE names '" + profile + "', expected " + Postgres.PROFILE + " or nothing"));
        Optional<Postgres> postgres = Postgres.read(reading, profiles.contains(Postgres.PROFILE));
        reading.throwIfBroken();
        return new Settings(port, events, kafka, workers, threads, faults, postgres);
    }

    /** The name of the database in /admin/process. */
    public String database() {
        return postgres.isPresent() ? Postgres.PROFILE : "h2";
    }

    public boolean has(Fault fault) {
        return faults.contains(fault);
    }

    private static EventsMode events(Reading reading, String kafka) {
        if (!kafka.isEmpty() && !isAddress(kafka)) {
            reading.problem("BANK_KAFKA is '" + kafka + "', expected host:port");
        }
        Optional<String> name = reading.text("BANK_EVENTS");
        if (name.isEmpty()) {
            return kafka.isEmpty() ? EventsMode.LOCAL : EventsMode.KAFKA;
        }
        for (EventsMode mode : EventsMode.values()) {
            if (mode.name().toLowerCase(Locale.ROOT).equals(name.get())) {
                if (mode == EventsMode.KAFKA && kafka.isEmpty()) {
                    reading.problem("BANK_EVENTS is 'kafka', which needs BANK_KAFKA=host:port");
                }
                return mode;
            }
        }
        reading.problem("BANK_EVENTS is '" + name.get() + "', expected kafka, local or off");
        return EventsMode.OFF;
    }

    private static Set<Fault> faults(Reading reading) {
        Set<Fault> faults = EnumSet.noneOf(Fault.class);
        for (String id : reading.text("BANK_FAULT").orElse("").split(",")) {
            if (!id.isBlank()) {
                Fault.named(id.strip()).ifPresentOrElse(faults::add, () ->
                        reading.problem("BANK_FAULT names '" + id.strip() + "', expected some of " + faultIds()));
            }
        }
        return faults;
    }

    private static String faultIds() {
        return Arrays.stream(Fault.values()).map(Fault::id).collect(Collectors.joining(", "));
    }

    private static boolean isAddress(String text) {
        int colon = text.lastIndexOf(':');
        if (colon <= 0) {
            return false;
        }
        String port = text.substring(colon + 1);
        return port.matches("[0-9]{1,5}") && Integer.parseInt(port) >= 1 && Integer.parseInt(port) <= MAX_PORT;
    }
}
