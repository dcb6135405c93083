package org.schedlab.bank.broker;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** The two ports of a node, none of them 0. */
record Ports(int port, int controllerPort) {

    /** Picks free ports where 0 was asked for; both are held until both are known, so that they differ. */
    static Ports pick(Arguments arguments) throws IOException {
        try (ServerSocket first = hold(); ServerSocket second = hold()) {
            return new Ports(
                    arguments.port() == 0 ? first.getLocalPort() : arguments.port(),
                    arguments.controllerPort() == 0 ? second.getLocalPort() : arguments.controllerPort());
        }
    }

    private static ServerSocket hold() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }
}
