package org.schedlab.bank.risk;

import java.util.Arrays;

/**
 * The answer to a risk question.
 *
 * @param mean the mean outcome of one unit of money
 * @param valueAtRisk what is lost at most in 99 of 100 outcomes
 * @param checksum of the bits of all outcomes, in hexadecimal
 */
public record RiskView(long account, int paths, int tasks, double mean, double valueAtRisk, String checksum) {

    private static final int TAIL_ONE_IN = 100;

    static RiskView of(RiskQuestion question, double[] outcomes) {
        double sum = 0;
        long checksum = 0;
        for (double outcome : outcomes) {
            sum += outcome;
            checksum = PathDraws.mix(checksum ^ Double.doubleToLongBits(outcome));
        }
        double[] sorted = outcomes.clone();
        Arrays.sort(sorted);
        double worst = sorted[sorted.length / TAIL_ONE_IN];
        return new RiskView(question.account(), question.paths(), question.tasks(), sum / outcomes.length,
                Math.max(0, 1 - worst), String.format("%016x", checksum));
    }
}
