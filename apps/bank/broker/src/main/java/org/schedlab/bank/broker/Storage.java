package org.schedlab.bank.broker;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.stream.Stream;
import kafka.tools.StorageTool;
import org.apache.kafka.common.Uuid;

/** The data directory of a node. */
final class Storage {

    private static final String MARK = "meta.properties";

    private Storage() {
    }

    /** Formats an empty or absent directory; one that a node has used before is left as it is. */
    static void prepare(Path data, Properties properties) throws IOException, ArgumentError {
        Files.createDirectories(data);
        if (Files.exists(data.resolve(MARK))) {
            return;
        }
        try (Stream<Path> entries = Files.list(data)) {
            if (entries.findAny().isPresent()) {
                throw new ArgumentError("--data is '" + data + "', which holds something else than a node");
            }
        }
        format(properties);
    }

    private static void format(Properties properties) throws IOException {
        Path file = Files.createTempFile("kraft", ".properties");
        try (var printed = new PrintStream(OutputStream.nullOutputStream())) {
            try (OutputStream out = Files.newOutputStream(file)) {
                properties.store(out, null);
            }
            String[] words = {"format", "-t", Uuid.randomUuid().toString(), "-c", file.toString()};
            int code = StorageTool.execute(words, printed);
            if (code != 0) {
                throw new IOException("formatting " + properties.getProperty("log.dirs") + " ended with " + code);
            }
        } finally {
            Files.delete(file);
        }
    }
}
