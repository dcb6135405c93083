package org.schedlab.bank.events;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TallyTest {

    private static final Message MESSAGE = new Message(Topics.TRANSACTIONS, "1", "an id", "an epoch", "{}");

    @Test
    void aRedeliveryDoesNotStandForAMessageThatIsStillUnderWay() {
        Tally tally = new Tally();
        tally.acknowledged(MESSAGE);
        tally.acknowledged(MESSAGE.underAnotherId());
        tally.received(false);
        tally.received(true);
        assertThat(tally.isAllReceived()).isFalse();
        tally.received(false);
        assertThat(tally.isAllReceived()).isTrue();
        assertThat(tally.duplicates()).isEqualTo(1);
    }
}
