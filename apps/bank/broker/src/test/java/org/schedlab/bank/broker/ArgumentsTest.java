package org.schedlab.bank.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ArgumentsTest {

    @Test
    void portsMayBeLeftOut() throws ArgumentError {
        Arguments arguments = Arguments.parse("--data", "somewhere");
        assertEquals(0, arguments.port());
        assertEquals(0, arguments.controllerPort());
        assertEquals(Path.of("somewhere").toAbsolutePath(), arguments.data());
    }

    @Test
    void aWrongCommandLineIsNamed() {
        refuses("--data is missing");
        refuses("--data needs a value", "--data");
        refuses("unknown argument '--dir'", "--dir", "somewhere");
        refuses("--port is 'many'", "--port", "many", "--data", "somewhere");
        refuses("--port is '65536'", "--port", "65536", "--data", "somewhere");
        refuses("--controller-port is '-1'", "--controller-port", "-1", "--data", "somewhere");
        refuses("both 9092", "--port", "9092", "--controller-port", "9092", "--data", "somewhere");
        refuses("--data is given twice", "--data", "a", "--data", "b");
        refuses("comma", "--data", "a,b");
    }

    private static void refuses(String reason, String... words) {
        ArgumentError error = assertThrows(ArgumentError.class, () -> Arguments.parse(words));
        assertTrue(error.getMessage().contains(reason), error.getMessage());
    }
}
