package org.schedlab.bank.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.settings.Settings;
import org.springframework.boot.health.contributor.Status;
import org.springframework.dao.DataAccessResourceFailureException;

class EventsHealthTest {

    private final Outbox outbox = mock();
    private final EventsHealth health = new EventsHealth(
            Settings.from(Map.of("BANK_KAFKA", "127.0.0.1:1")::get, List.of()), mock(), outbox);

    @Test
    void aBrokerThatIsAwayDoesNotTakeTheServiceDown() {
        when(outbox.countUnsent()).thenReturn(3L);
        assertThat(health.health().getStatus()).isEqualTo(Status.UP);
        assertThat(health.health().getDetails()).containsEntry("broker", "unreachable").containsEntry("unsent", 3L);
    }

    @Test
    void anOutboxThatCannotBeReadIsToldAsHealthAndNotAsAnError() {
        when(outbox.countUnsent()).thenThrow(new DataAccessResourceFailureException("away"));
        assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
    }
}
