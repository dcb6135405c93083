package org.schedlab.bank.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import jakarta.servlet.ServletException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.schedlab.bank.BankTest;
import org.schedlab.bank.Client;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import tools.jackson.databind.JsonNode;

class AdminTest extends BankTest {

    @Test
    void aSeedForgetsEverythingAndNumbersFromOne() {
        bank.transfer("a", 1, 2, "950");
        bank.transfer("a", 1, 2, "950");
        bank.books(10);
        Client.Answer seeded = bank.seed(2_500, "5.00");
        assertThat(seeded.raw().body()).isEqualTo(
                "{\"accounts\":2500,\"transfers\":0,\"opening_total\":12500.00,\"seed\":7}");
        JsonNode books = bank.books(0).body();
        for (String count : new String[] {"transfers", "replays", "events_written", "events_sent",
            "events_acknowledged", "events_consumed", "events_duplicated", "alerts_raised", "alerts_consumed"}) {
            assertThat(books.path(count).asLong(-1)).as(count).isZero();
        }
        assertThat(bank.get("/api/accounts/1").status()).isEqualTo(200);
        assertThat(bank.get("/api/accounts/2500").status()).isEqualTo(200);
        assertThat(bank.get("/api/accounts/2501").status()).isEqualTo(404);
        assertThat(bank.post("/api/accounts", "{\"owner\":\"ada\",\"opening\":1}").number("id")).isEqualTo(2_501);
        assertThat(bank.transfer("a", 1, 2, "1").status()).isEqualTo(201);
    }

    @Test
    void theSameSeedNamesTheSameOwners() {
        String owner = bank.get("/api/accounts/7").text("owner");
        bank.seed(ACCOUNTS, "1.00");
        assertThat(bank.get("/api/accounts/7").text("owner")).isEqualTo(owner);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"accounts\":0,\"opening\":1}", "{\"accounts\":1000001,\"opening\":1}",
        "{\"accounts\":1}", "{\"accounts\":1,\"opening\":-1}"})
    void aMalformedSeedLeavesTheBooksAlone(String body) {
        assertThat(bank.post("/admin/seed", body).status()).isEqualTo(400);
        assertThat(bank.books(0).number("accounts")).isEqualTo(ACCOUNTS);
    }

    @Test
    void theBooksOfASoundBankBalance() {
        bank.transfer("a", 1, 2, "900.00");
        bank.transfer("b", 2, 3, "900.01");
        bank.transfer("b", 2, 3, "900.01");
        assertThat(bank.books(10).raw().body()).isEqualTo("{\"balanced\":true,\"accounts\":20,\"transfers\":2,"
                + "\"replays\":1,\"total\":20000.00,\"opening_total\":20000.00,\"mismatched_accounts\":0,"
                + "\"negative_accounts\":0,\"duplicate_keys\":0,\"events\":\"local\",\"events_written\":2,"
                + "\"events_sent\":2,\"events_acknowledged\":2,\"events_consumed\":2,\"events_duplicated\":0,"
                + "\"alerts_expected\":1,\"alerts_raised\":1,\"alerts_consumed\":1,\"broken\":[]}");
    }

    @Test
    void theWaitForTheBooksIsBounded() {
        assertThat(bank.books(-1).status()).isEqualTo(400);
        assertThat(bank.books(601).status()).isEqualTo(400);
    }

    @Test
    void theProcessDescribesItself() {
        System.gc();
        JsonNode process = bank.get("/admin/process").body();
        assertThat(process.path("pid").asLong()).isEqualTo(ProcessHandle.current().pid());
        assertThat(process.path("faults").size()).isZero();
        assertThat(process.path("events").asString()).isEqualTo("local");
        assertThat(process.path("database").asString()).isEqualTo(database());
        assertThat(process.path("request_threads").asInt()).isEqualTo(12);
        for (String positive : new String[] {"uptime_ms", "cpu_ms", "jit_ms", "threads", "heap_used_bytes",
            "heap_committed_bytes"}) {
            assertThat(process.path(positive).asLong()).as(positive).isPositive();
        }
        assertThat(process.path("gc").get(0).path("name").asString()).isNotBlank();
    }

    @Test
    void healthAndMetricsAreServed() {
        assertThat(bank.get("/actuator/health").text("status")).isEqualTo("UP");
        assertThat(bank.get("/actuator/metrics/jvm.threads.live").status()).isEqualTo(200);
        assertThat(bank.get("/actuator/env").status()).isEqualTo(404);
    }

    @Test
    void onlyThisMachineReachesTheAdmin() throws ServletException, IOException {
        assertThat(adminStatusFor("192.0.2.1")).isEqualTo(403);
        assertThat(adminStatusFor("127.0.0.1")).isEqualTo(200);
        assertThat(adminStatusFor("::1")).isEqualTo(200);
    }

    String database() {
        return "h2";
    }

    private static int adminStatusFor(String address) throws ServletException, IOException {
        var request = new MockHttpServletRequest("GET", "/%61dmin/books");
        request.setServletPath("/admin/books");
        request.setRemoteAddr(address);
        var response = new MockHttpServletResponse();
        new LoopbackOnly().doFilter(request, response, new MockFilterChain());
        return response.getStatus();
    }
}
