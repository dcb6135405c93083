package org.schedlab.bank.settings;

import java.util.List;

/** The environment holds values that cannot be used; the message is one line and names all of them. */
public class SettingsError extends IllegalArgumentException {

    public SettingsError(List<String> problems) {
        super(String.join("; ", problems));
    }
}
