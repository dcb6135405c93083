package org.schedlab.bank.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** One reading of an environment; it collects all problems, so that they are reported together. */
final class Reading {

    private final UnaryOperator<String> environment;
    private final List<String> problems = new ArrayList<>();

    Reading(UnaryOperator<String> environment) {
        this.environment = environment;
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(environment.apply(name)).map(String::strip).filter(text -> !text.isEmpty());
    }

    int number(String name, int otherwise, int least, int most) {
        String text = environment.apply(name);
        if (text == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(text.strip());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // Reported below like a number out of bounds.
        }
        problem(name + " is '" + text + "', expected a number from " + least + " to " + most);
        return otherwise;
    }

    void problem(String problem) {
        problems.add(problem);
    }

    void throwIfBroken() {
        if (!problems.isEmpty()) {
            throw new SettingsError(problems);
        }
    }
}
