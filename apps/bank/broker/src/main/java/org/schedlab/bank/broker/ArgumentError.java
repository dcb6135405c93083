package org.schedlab.bank.broker;

/** The command line cannot be used; the message is one line. */
class ArgumentError extends Exception {

    ArgumentError(String message) {
        super(message);
    }
}
