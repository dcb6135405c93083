package org.schedlab.bank.broker;

/** Runs one Kafka node until it is told to stop, and says in one line on stdout when it is ready. */
public final class Main {

    private static final int EXIT_CANNOT_START = 1;
    private static final int EXIT_BAD_ARGUMENTS = 2;

    private Main() {
    }

    public static void main(String[] words) {
        try {
            Node node = Node.start(Arguments.parse(words));
            Runtime.getRuntime().addShutdownHook(new Thread(node::close, "stop"));
            System.out.println("broker: ready on " + node.address() + " pid " + ProcessHandle.current().pid());
            node.awaitEnd();
        } catch (ArgumentError error) {
            System.err.println("broker: " + error.getMessage() + "; usage: " + Arguments.USAGE);
            System.exit(EXIT_BAD_ARGUMENTS);
        } catch (Exception error) {
            System.err.println("broker: cannot start: " + error.getMessage());
            System.exit(EXIT_CANNOT_START);
        }
    }
}
