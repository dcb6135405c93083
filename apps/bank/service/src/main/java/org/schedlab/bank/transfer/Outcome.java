package org.schedlab.bank.transfer;

/** A transfer that was made just now, or that an earlier request with the same key made. */
public record Outcome(TransferView transfer, boolean isReplay) {
}
