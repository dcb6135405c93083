package org.schedlab.bank.events;

import java.util.UUID;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The life of one set of books: a seed ends it and begins the next.
 *
 * <p>Work runs {@link #during} an epoch and shares it; a seed and an audit are {@link #alone} with it,
 * so a seed leaves nothing half done and an audit sees one moment. Events of another epoch are ignored.
 */
@Component
public class Epoch {

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final JdbcClient database;
    private final TransactionTemplate transaction;
    private final Tally tally;
    private final String instance;
    private volatile String id;
    private volatile long seed;

    Epoch(JdbcClient database, TransactionTemplate transaction, Tally tally) {
        this.database = database;
        this.transaction = transaction;
        this.tally = tally;
        createIfAbsent();
        instance = database.sql("select instance from epoch").query(String.class).single();
        id = database.sql("select id from epoch").query(String.class).single();
        seed = database.sql("select seed from epoch").query(Long.class).single();
        resume();
    }

    /**
     * Distinguishes this bank from others at the same broker. It is the same in all epochs and after a
     * restart: the service has to find its place in the topics again.
     */
    public String instance() {
        return instance;
    }

    public String id() {
        return id;
    }

    /** The seed of the accounts, from which the risk paths are drawn too. */
    public long seed() {
        return seed;
    }

    public <T> T during(Supplier<T> work) {
        lock.readLock().lock();
        try {
            return work.get();
        } finally {
            lock.readLock().unlock();
        }
    }

    public <T> T alone(Supplier<T> work) {
        lock.writeLock().lock();
        try {
            return work.get();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Begins an epoch with other books. When they cannot be written, this one goes on. */
    public void renew(long newSeed, Runnable books) {
        alone(() -> {
            String newId = UUID.randomUUID().toString();
            transaction.executeWithoutResult(status -> {
                books.run();
                database.sql("update epoch set id = :id, seed = :seed")
                        .param("id", newId).param("seed", newSeed).update();
            });
            tally.reset(0, 0, 0);
            id = newId;
            seed = newSeed;
            return null;
        });
    }

    private void createIfAbsent() {
        if (database.sql("select count(*) from epoch").query(Long.class).single() == 0) {
            database.sql("insert into epoch (id, instance, seed) values (:id, :instance, 1)")
                    .param("id", UUID.randomUUID().toString())
                    .param("instance", UUID.randomUUID().toString()).update();
        }
    }

    /** With a database that outlives the process, the tally goes on where the tables stand. */
    private void resume() {
        long sent = database.sql("select count(*) from outbox where is_sent").query(Long.class).single();
        long sentTransactions = database.sql("select count(*) from outbox where is_sent and topic = :topic")
                .param("topic", Topics.TRANSACTIONS).query(Long.class).single();
        long received = database.sql("select count(*) from inbox").query(Long.class).single();
        tally.reset(sent, sentTransactions, received);
    }
}
