package org.schedlab.bank.settings;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The database to use in place of the one in memory. */
public record Postgres(String url, String user, String password) {

    /** The Spring profile that chooses it. */
    public static final String PROFILE = "postgres";

    private static final String URL = "BANK_DATABASE_URL";
    private static final String USER = "BANK_DATABASE_USER";
    private static final String PASSWORD = "BANK_DATABASE_PASSWORD";
    private static final Pattern FORM = Pattern.compile("jdbc:postgresql://[^/?\\s]+/[^/?\\s]+(\\?\\S*)?");

    /** Reads what the profile needs; without the profile nothing of it may be set, or it would be ignored. */
    static Optional<Postgres> read(Reading reading, boolean isChosen) {
        Optional<String> url = reading.text(URL);
        Optional<String> user = reading.text(USER);
        Optional<String> password = reading.text(PASSWORD);
        if (!isChosen) {
            for (String name : List.of(URL, USER, PASSWORD)) {
                reading.text(name).ifPresent(ignored -> reading.problem(
                        name + " is set, which needs SPRING_PROFILES_ACTIVE=" + PROFILE));
            }
            return Optional.empty();
        }
        if (url.filter(text -> FORM.matcher(text).matches()).isEmpty()) {
            reading.problem(URL + " is '" + url.orElse("") + "', expected jdbc:postgresql://host:port/database");
        }
        if (user.isEmpty()) {
            reading.problem(USER + " is missing, expected the name of a role that owns the database");
        }
        return Optional.of(new Postgres(url.orElse(""), user.orElse(""), password.orElse("")));
    }

    /** Leaves out the password. */
    @Override
    public String toString() {
        return url + " as " + user;
    }
}
