package org.schedlab.bank.risk;

import jakarta.annotation.PreDestroy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.schedlab.bank.problem.Refusal;
import org.schedlab.bank.settings.Settings;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/** Computes risk on a fixed number of worker threads, however many requests wait. */
@Component
class RiskPool {

    private static final long LIMIT_MS = 60_000;

    private final ExecutorService workers;
    private final long limitMs;

    @Autowired
    RiskPool(Settings settings) {
        this(settings.workers(), LIMIT_MS);
    }

    RiskPool(int workers, long limitMs) {
        AtomicInteger number = new AtomicInteger();
        ThreadFactory threads = work -> {
            Thread thread = new Thread(work, "risk-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
        this.workers = Executors.newFixedThreadPool(workers, threads);
        this.limitMs = limitMs;
    }

    /** Waits for all tasks of the question; when the time is over, or the caller is interrupted, it drops them. */
    RiskView answer(RiskQuestion question) {
        double[] outcomes = new double[question.paths()];
        try {
            List<Future<Void>> tasks = workers.invokeAll(tasks(question, outcomes), limitMs, TimeUnit.MILLISECONDS);
            for (Future<Void> task : tasks) {
                task.get();
            }
            return RiskView.of(question, outcomes);
        } catch (CancellationException tooLate) {
            throw new Refusal(Refusal.Kind.OVERLOADED, "the risk was not computed within " + limitMs + " ms");
        } catch (InterruptedException givenUp) {
            Thread.currentThread().interrupt();
            throw new Refusal(Refusal.Kind.OVERLOADED, "the risk question was given up");
        } catch (ExecutionException error) {
            throw new IllegalStateException("a risk task failed", error.getCause());
        }
    }

    @PreDestroy
    void close() {
        workers.shutdownNow();
    }

    private static List<Callable<Void>> tasks(RiskQuestion question, double[] outcomes) {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int task = 0; task < question.tasks(); task++) {
            int first = bound(question, task);
            int last = bound(question, task + 1);
            tasks.add(() -> {
                RiskModel.simulate(question, outcomes, first, last);
                return null;
            });
        }
        return tasks;
    }

    private static int bound(RiskQuestion question, int task) {
        return (int) ((long) question.paths() * task / question.tasks());
    }
}
