package org.schedlab.bank;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConnectionTest extends BankTest {

    // A server's usual limit is 100 requests.
    private static final int REQUESTS = 350;

    @Test
    void oneConnectionServesAsManyRequestsAsTheClientLikes() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            for (int i = 0; i < REQUESTS; i++) {
                socket.getOutputStream().write("GET /api/accounts/999 HTTP/1.1\r\nHost: bank\r\n\r\n"
                        .getBytes(StandardCharsets.US_ASCII));
                assertThat(in.readLine()).as("request " + i).startsWith("HTTP/1.1 404");
                assertThat(skipAnswer(in)).doesNotContain("close");
            }
        }
    }

    @Test
    void noOtherAddressOfTheMachineIsServed() throws SocketException {
        List<InetAddress> others = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress())
                .toList();
        for (InetAddress other : others) {
            assertThat(isServed(other)).as(other.toString()).isFalse();
        }
    }

    /** Reads the headers and the chunks of one answer; returns the headers. */
    private static String skipAnswer(BufferedReader in) throws IOException {
        StringBuilder headers = new StringBuilder();
        for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
            headers.append(line).append('\n');
        }
        assertThat(headers.toString()).contains("chunked");
        String line = in.readLine();
        while (!line.equals("0")) {
            line = in.readLine();
        }
        in.readLine();
        return headers.toString();
    }

    private boolean isServed(InetAddress address) {
        try (Socket socket = new Socket(address, port())) {
            return socket.isConnected();
        } catch (IOException refused) {
            return false;
        }
    }
}
