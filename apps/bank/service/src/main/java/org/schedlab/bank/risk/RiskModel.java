package org.schedlab.bank.risk;

/** Simulated yearly outcomes of one unit of money: pure computing, the same for the same question. */
final class RiskModel {

    private static final int STEPS = 100;
    private static final double DRIFT = 0.0002;
    private static final double VOLATILITY = 0.012;
    private static final int PATHS_BETWEEN_CHECKS = 16;

    private RiskModel() {
    }

    /** Fills the outcomes of the paths from first to before last; an interrupt ends it early. */
    static void simulate(RiskQuestion question, double[] outcomes, int first, int last) throws InterruptedException {
        for (int path = first; path < last; path++) {
            if (path % PATHS_BETWEEN_CHECKS == 0 && Thread.interrupted()) {
                throw new InterruptedException("the risk question was given up");
            }
            outcomes[path] = outcome(new PathDraws(question.seed(), question.account(), path));
        }
    }

    private static double outcome(PathDraws draws) {
        double value = 1;
        for (int step = 0; step < STEPS; step++) {
            value *= 1 + DRIFT + VOLATILITY * draws.nearlyNormal();
        }
        return value;
    }
}
