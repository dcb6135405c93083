package org.schedlab.bank.admin;

import java.util.List;

/** All pauses since the start in sum, and the newest ones singly. */
public record GcPausesView(long count, long totalMs, long maxMs, List<GcPause> recent) {
}
