package org.schedlab.bank.gatling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DrawsTest {

    @Test
    void aTransferNeverGoesToItsOwnAccountOrOutOfBounds() {
        var transfers = new Draws(7, 3).transfer();
        Set<Object> keys = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            Map<String, Object> transfer = transfers.next();
            int from = (int) transfer.get("from");
            int to = (int) transfer.get("to");
            assertTrue(from >= 1 && from <= 3 && to >= 1 && to <= 3, from + " to " + to);
            assertNotEquals(from, to);
            assertTrue(keys.add(transfer.get("key")));
        }
    }

    @Test
    void theSameSeedDrawsTheSameAccounts() {
        var first = new Draws(7, 1_000).account();
        var second = new Draws(7, 1_000).account();
        for (int i = 0; i < 1_000; i++) {
            assertEquals(first.next(), second.next());
        }
    }

    @Test
    void aLoadThatCannotRunIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> Load.from(Map.of("bank.accounts", "1")::get));
        assertEquals(1_000, Load.from(Map.<String, String>of()::get).accounts());
    }
}
