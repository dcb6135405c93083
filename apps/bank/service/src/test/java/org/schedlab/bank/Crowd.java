package org.schedlab.bank;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** Many clients at once. */
public final class Crowd {

    private static final long LIMIT_S = 120;

    private Crowd() {
    }

    /** Does the work for each number below count, on so many threads, and returns what it returned. */
    public static <T> List<T> of(int threads, int count, IntFunction<T> work) throws Exception {
        ExecutorService crowd = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<T>> tasks = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = i;
                tasks.add(() -> work.apply(number));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> task : crowd.invokeAll(tasks, LIMIT_S, TimeUnit.SECONDS)) {
                results.add(task.get());
            }
            return results;
        } finally {
            crowd.shutdownNow();
        }
    }

    /** Random transfers between the accounts 1 to accounts, a fresh key each. */
    public static List<Client.Answer> transfers(Client bank, int threads, int count, int accounts) throws Exception {
        return of(threads, count, i -> {
            long from = 1 + i % accounts;
            long to = 1 + (i * 7L + 3) % accounts;
            return bank.transfer("crowd-" + i, from, to == from ? 1 + to % accounts : to, "0.01");
        });
    }
}
