package org.schedlab.bank.admin;

/** One stop of the world. */
public record GcPause(long uptimeMs, long durationMs, String collector, String cause) {
}
