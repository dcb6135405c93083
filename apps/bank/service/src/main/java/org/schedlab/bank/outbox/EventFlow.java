package org.schedlab.bank.outbox;

import org.schedlab.bank.events.EventBus;
import org.schedlab.bank.events.Inbox;
import org.schedlab.bank.settings.EventsMode;
import org.schedlab.bank.settings.Settings;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/** Starts and stops the publisher and the bus with the service. */
@Component
class EventFlow implements SmartLifecycle {

    private static final long STOP_MS = 2_000;

    private final EventBus bus;
    private final Inbox inbox;
    private final Publisher publisher;
    private final boolean isOff;
    private Thread thread;

    EventFlow(EventBus bus, Inbox inbox, Publisher publisher, Settings settings) {
        this.bus = bus;
        this.inbox = inbox;
        this.publisher = publisher;
        this.isOff = settings.events() == EventsMode.OFF;
    }

    @Override
    public void start() {
        if (isOff) {
            return;
        }
        bus.open(inbox::receive);
        thread = new Thread(publisher::publishForEver, "publisher");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void stop() {
        if (thread != null) {
            thread.interrupt();
            try {
                thread.join(STOP_MS);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            thread = null;
            // Closed here and not with the beans: its consumers need the database.
            bus.close();
        }
    }

    @Override
    public boolean isRunning() {
        return thread != null;
    }
}
