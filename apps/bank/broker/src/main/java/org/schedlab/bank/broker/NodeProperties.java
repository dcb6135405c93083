package org.schedlab.bank.broker;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Properties;

/** The template kraft.properties with its three places filled in. */
final class NodeProperties {

    private NodeProperties() {
    }

    static Properties of(Ports ports, Path data) throws IOException {
        try (InputStream template = NodeProperties.class.getResourceAsStream("/kraft.properties")) {
            String text = new String(template.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("@port@", String.valueOf(ports.port()))
                    .replace("@controller-port@", String.valueOf(ports.controllerPort()));
            Properties properties = new Properties();
            properties.load(new StringReader(text));
            // Set afterwards: in the text, a backslash of the path would be an escape.
            properties.setProperty("log.dirs", data.toString());
            return properties;
        }
    }
}
