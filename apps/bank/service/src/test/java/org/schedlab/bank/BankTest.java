package org.schedlab.bank;

import org.junit.jupiter.api.BeforeEach;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

/** A running bank with events in the process, seeded before each test; tests that extend this share it. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {"BANK_EVENTS=local", "BANK_THREADS=12"})
public abstract class BankTest {

    protected static final int ACCOUNTS = 20;

    @LocalServerPort
    private int port;

    protected Client bank;

    @BeforeEach
    void seed() {
        bank = new Client(port);
        bank.seed(ACCOUNTS, "1000.00");
    }

    protected int port() {
        return port;
    }
}
