package org.schedlab.bank.broker;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** The command line, parsed: both ports may be 0, which means any free one. */
record Arguments(int port, int controllerPort, Path data) {

    static final String USAGE = "--port P --controller-port C --data DIR (a port of 0 picks a free one)";
    private static final int MAX_PORT = 65_535;

    /** Parses a command line. */
    static Arguments parse(String... words) throws ArgumentError {
        Map<String, String> values = values(words);
        int port = port(values, "--port");
        int controllerPort = port(values, "--controller-port");
        if (port == controllerPort && port != 0) {
            throw new ArgumentError("--port and --controller-port are both " + port);
        }
        String data = values.get("--data");
        if (data == null || data.isBlank()) {
            throw new ArgumentError("--data is missing");
        }
        // The list log.dirs is separated by commas.
        if (data.contains(",")) {
            throw new ArgumentError("--data is '" + data + "', a directory with a comma cannot be used");
        }
        return new Arguments(port, controllerPort, Path.of(data).toAbsolutePath());
    }

    private static Map<String, String> values(String... words) throws ArgumentError {
        Map<String, String> values = new TreeMap<>();
        for (int i = 0; i < words.length; i += 2) {
            String name = words[i];
            if (!name.equals("--port") && !name.equals("--controller-port") && !name.equals("--data")) {
                throw new ArgumentError("unknown argument '" + name + "'");
            }
            if (i + 1 == words.length) {
                throw new ArgumentError(name + " needs a value");
            }
            if (values.put(name, words[i + 1]) != null) {
                throw new ArgumentError(name + " is given twice");
            }
        }
        return values;
    }

    private static int port(Map<String, String> values, String name) throws ArgumentError {
        String text = values.getOrDefault(name, "0");
        try {
            int port = Integer.parseInt(text);
            if (port >= 0 && port <= MAX_PORT) {
                return port;
            }
        } catch (NumberFormatException notANumber) {
            // Reported below like a number out of bounds.
        }
        throw new ArgumentError(name + " is '" + text + "', expected a number from 0 to " + MAX_PORT);
    }
}
