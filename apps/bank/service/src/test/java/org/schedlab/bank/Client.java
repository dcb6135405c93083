package org.schedlab.bank;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Speaks to a bank over HTTP, as any client would. */
public class Client {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String url;

    public Client(int port) {
        this.url = "http://127.0.0.1:" + port;
    }

    /** An answer with its body read. */
    public record Answer(int status, JsonNode body, HttpResponse<String> raw) {

        public String text(String field) {
            return body.path(field).asString();
        }

        public long number(String field) {
            return body.path(field).asLong(-1);
        }
    }

    public Answer get(String path) {
        return send(HttpRequest.newBuilder(URI.create(url + path)).GET());
    }

    public Answer post(String path, String body) {
        return send(HttpRequest.newBuilder(URI.create(url + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    public Answer seed(int accounts, String opening) {
        return post("/admin/seed", "{\"accounts\":" + accounts + ",\"opening\":" + opening + ",\"seed\":7}");
    }

    public Answer transfer(String key, long from, long to, String amount) {
        return send(HttpRequest.newBuilder(URI.create(url + "/api/transactions/transfer"))
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", key)
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"from\":" + from + ",\"to\":" + to + ",\"amount\":" + amount + "}")));
    }

    public Answer books(int drainedS) {
        return get("/admin/books?drained=" + drainedS);
    }

    public String balance(long account) {
        return get("/api/accounts/" + account + "/balance").body().path("balance").decimalValue().toPlainString();
    }

    private Answer send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> raw = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Answer(raw.statusCode(), JSON.readTree(raw.body()), raw);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
        }
    }
}
