package org.schedlab.bank.gatling;

import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.feed;
import static io.gatling.javaapi.core.CoreDsl.global;
import static io.gatling.javaapi.core.CoreDsl.rampUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * Four open-loop streams of requests at a bank that has been seeded; one user is one request.
 *
 * <p>Users arrive whether or not earlier ones have been served. They share connections, as the clients of
 * a service do.
 */
public class BankSimulation extends Simulation {

    private static final int CREATED = 201;
    private static final int OK = 200;
    private static final double CREATE_PER_S = 10;
    private static final double TRANSFER_PER_S = 50;
    private static final double BALANCE_PER_S = 100;
    private static final double HISTORY_PER_S = 20;

    private final Load load = Load.from(System::getProperty);
    private final HttpProtocolBuilder bank = http.baseUrl(load.url())
            .acceptHeader("application/json")
            .contentTypeHeader("application/json")
            .shareConnections();

    public BankSimulation() {
        setUp(
                stream("create", CREATE_PER_S, create()),
                stream("transfer", TRANSFER_PER_S, transfer()),
                stream("balance", BALANCE_PER_S, balance()),
                stream("history", HISTORY_PER_S, history()))
                .protocols(bank)
                .assertions(global().failedRequests().count().is(0L));
    }

    private PopulationBuilder stream(String name, double perSecond, ChainBuilder request) {
        double rate = perSecond * load.factor();
        List<OpenInjectionStep> steps = new ArrayList<>();
        if (load.rampS() > 0) {
            steps.add(rampUsersPerSec(0).to(rate).during(load.rampS()));
        }
        steps.add(constantUsersPerSec(rate).during(load.steadyS()));
        if (load.rampS() > 0) {
            steps.add(rampUsersPerSec(rate).to(0).during(load.rampS()));
        }
        return scenario(name).exec(request).injectOpen(steps.toArray(OpenInjectionStep[]::new));
    }

    private ChainBuilder create() {
        return feed(draws("create").account()).exec(http("create").post("/api/accounts")
                .body(StringBody("{\"owner\":\"gatling-#{account}\",\"opening\":1000.00}"))
                .check(status().is(CREATED)));
    }

    private ChainBuilder transfer() {
        return feed(draws("transfer").transfer()).exec(http("transfer").post("/api/transactions/transfer")
                .header("Idempotency-Key", "#{key}")
                .body(StringBody("{\"from\":#{from},\"to\":#{to},\"amount\":#{amount}}"))
                .check(status().is(CREATED)));
    }

    private ChainBuilder balance() {
        return feed(draws("balance").account()).exec(http("balance").get("/api/accounts/#{account}/balance")
                .check(status().is(OK)));
    }

    private ChainBuilder history() {
        return feed(draws("history").account()).exec(http("history").get("/api/accounts/#{account}/transactions?limit=20")
                .check(status().is(OK)));
    }

    /** Each stream draws for itself, so that their interleaving does not change what is drawn. */
    private Draws draws(String stream) {
        return new Draws(load.seed() ^ stream.hashCode(), load.accounts());
    }
}
