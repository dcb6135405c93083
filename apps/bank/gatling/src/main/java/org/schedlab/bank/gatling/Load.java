package org.schedlab.bank.gatling;

import java.util.function.UnaryOperator;

/**
 * How hard and how long the bank is asked, from the system properties bank.*.
 *
 * @param factor multiplies all four rates
 * @param rampS seconds of the ramp up, and of the ramp down
 */
record Load(String url, double factor, int accounts, int rampS, int steadyS, long seed) {

    Load {
        if (factor <= 0 || accounts < 2 || rampS < 0 || steadyS < 1) {
            throw new IllegalArgumentException(
                    "bank.factor has to be above 0, bank.accounts 2 or more, bank.ramp 0 or more, bank.steady 1 or more");
        }
    }

    static Load from(UnaryOperator<String> properties) {
        return new Load(
                text(properties, "bank.url", "http://127.0.0.1:8080"),
                Double.parseDouble(text(properties, "bank.factor", "1")),
                Integer.parseInt(text(properties, "bank.accounts", "1000")),
                Integer.parseInt(text(properties, "bank.ramp", "10")),
                Integer.parseInt(text(properties, "bank.steady", "40")),
                Long.parseLong(text(properties, "bank.seed", "1")));
    }

    private static String text(UnaryOperator<String> properties, String name, String otherwise) {
        String text = properties.apply(name);
        return text == null ? otherwise : text;
    }
}
