package org.schedlab.bank.events;

/** Gives the messages of one topic their effect, within the transaction of the inbox. */
public interface MessageHandler {

    String topic();

    void handle(String payload);
}
