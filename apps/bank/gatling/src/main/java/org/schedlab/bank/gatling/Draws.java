package org.schedlab.bank.gatling;

import java.util.Iterator;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.Stream;

/** Endless draws for the four scenarios; the same seed gives the same accounts and amounts. */
final class Draws {

    private static final int MAX_AMOUNT = 1_000;

    private final SplittableRandom random;
    private final int accounts;

    Draws(long seed, int accounts) {
        this.random = new SplittableRandom(seed);
        this.accounts = accounts;
    }

    /** A seeded account. */
    Iterator<Map<String, Object>> account() {
        return Stream.generate(() -> Map.<String, Object>of("account", one())).iterator();
    }

    /**
     * Two different seeded accounts, an amount, and a key. The key does not come from the seed: in a second
     * run against the same bank it would be a replay.
     */
    Iterator<Map<String, Object>> transfer() {
        return Stream.generate(this::oneTransfer).iterator();
    }

    private Map<String, Object> oneTransfer() {
        int from = one();
        int to = 1 + (from + random.nextInt(accounts - 1)) % accounts;
        return Map.of("from", from, "to", to, "amount", random.nextInt(1, MAX_AMOUNT + 1),
                "key", UUID.randomUUID().toString());
    }

    private int one() {
        return random.nextInt(1, accounts + 1);
    }
}
