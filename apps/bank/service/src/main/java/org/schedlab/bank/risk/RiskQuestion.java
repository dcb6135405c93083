package org.schedlab.bank.risk;

import org.schedlab.bank.problem.Refusal;

/** What is to be computed: so many paths for one account, cut into so many tasks. */
public record RiskQuestion(long seed, long account, int paths, int tasks) {

    static final int MAX_PATHS = 200_000;
    static final int MAX_TASKS = 64;

    public RiskQuestion {
        if (paths < 1 || paths > MAX_PATHS) {
            throw Refusal.malformed("paths has to be 1 to " + MAX_PATHS);
        }
        if (tasks < 1 || tasks > MAX_TASKS) {
            throw Refusal.malformed("tasks has to be 1 to " + MAX_TASKS);
        }
    }
}
