package org.schedlab.bank.problem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import org.hibernate.TransactionException;
import org.junit.jupiter.api.Test;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.orm.jpa.JpaSystemException;

class ProblemsTest extends BankTest {

    @Test
    void everyErrorIsAProblemDocument() {
        isProblem(400, bank.transfer("a", 1, 2, "-1"));
        isProblem(400, bank.get("/api/accounts/one"));
        isProblem(400, bank.post("/api/accounts", "{"));
        isProblem(404, bank.get("/api/accounts/999"));
        isProblem(404, bank.get("/nowhere"));
        isProblem(404, bank.get("/error"));
        isProblem(405, bank.get("/api/transactions/transfer"));
        isProblem(422, bank.transfer("a", 1, 1, "1"));
    }

    @Test
    void aRefusalNamesItsKindAndReason() {
        Client.Answer refused = bank.transfer("a", 1, 2, "1000.01");
        assertThat(refused.text("type")).isEqualTo("urn:schedlab:bank:insufficient-funds");
        assertThat(refused.text("detail")).isEqualTo("account 1 holds too little");
    }

    @Test
    void aRequestThatNeverReachesTheApplicationIsAnsweredWithAProblemToo() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
            OutputStream out = socket.getOutputStream();
            out.write("GET /% HTTP/1.1\r\nHost: bank\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            out.flush();
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 400").contains("application/problem+json", "\"status\":400");
        }
    }

    @Test
    void aLockThatIsNotToBeHadIsNoFaultOfTheClient() {
        var busy = new Problems().busy(new PessimisticLockingFailureException("row 1"));
        assertThat(busy.getStatusCode().value()).isEqualTo(503);
    }

    @Test
    void aDatabaseThatGoesAwayIsNoFaultOfTheClient() {
        for (Exception cause : new Exception[] {new SQLException("terminated", "57P01"),
            new SQLException("cut", "08006"), new TransactionException("cannot roll back")}) {
            var away = new Problems().unexpected(new JpaSystemException(new IllegalStateException(cause)));
            assertThat(away.getStatusCode().value()).as(cause.toString()).isEqualTo(503);
        }
        var other = new IllegalStateException(new SQLException("no such table", "42P01"));
        assertThat(new Problems().unexpected(other).getStatusCode().value()).isEqualTo(500);
    }

    @Test
    void theUnexpectedKeepsItsReasonToItself() {
        var unexpected = new Problems().unexpected(new IllegalStateException("secret"));
        assertThat(unexpected.getStatusCode().value()).isEqualTo(500);
        assertThat(unexpected.getBody().getDetail()).doesNotContain("secret");
    }

    private static void isProblem(int status, Client.Answer answer) {
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.number("status")).isEqualTo(status);
        assertThat(answer.raw().headers().firstValue("Content-Type")).hasValue("application/problem+json");
    }
}
