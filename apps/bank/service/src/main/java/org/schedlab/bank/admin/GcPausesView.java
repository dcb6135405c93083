package org.schedlab.bank.admin;

import java.util.List;

/** All pauses in sum since the service began to listen, which is while it starts, and the newest ones singly. */
public record GcPausesView(long count, long totalMs, long maxMs, List<GcPause> recent) {
}
