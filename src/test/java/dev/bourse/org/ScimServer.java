package dev.bourse.org;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A SCIM service for tests, which can also misbehave. */
public final class ScimServer implements AutoCloseable {
  private final Vertx vertx = Vertx.vertx();
  private final HttpServer server;

  /** Users by user name. */
  public final Map<String, JsonObject> users = new LinkedHashMap<>();

  /** The requested filters, decoded. */
  public final Queue<String> filters = new ConcurrentLinkedQueue<>();

  /** Authorization headers seen. */
  public final Queue<String> authorizations = new ConcurrentLinkedQueue<>();

  /** Requests that got no answer yet. */
  public final AtomicInteger waiting = new AtomicInteger();

  /** The most users of one page. */
  public volatile int pageSize = 100;

  private final BlockingQueue<HttpServerRequest> stalled = new LinkedBlockingQueue<>();
  private volatile Consumer<HttpServerRequest> behaviour = this::answer;

  public ScimServer() {
    server =
        vertx
            .createHttpServer()
            .requestHandler(
                request -> {
                  filters.add(String.valueOf(request.getParam("filter")));
                  authorizations.add(String.valueOf(request.getHeader("authorization")));
                  behaviour.accept(request);
                })
            .listen(0, "127.0.0.1")
            .await();
  }

  public String url() {
    return "http://127.0.0.1:" + server.actualPort() + "/scim/v2";
  }

  public void addUser(
      String userName, String email, String name, boolean active, String... furtherAddresses) {
    JsonArray emails = new JsonArray().add(new JsonObject().put("value", "old." + email));
    for (String further : furtherAddresses) {
      emails.add(new JsonObject().put("value", further).put("type", "other"));
    }
    emails.add(new JsonObject().put("value", email).put("primary", true));
    users.put(
        userName,
        new JsonObject()
            .put("userName", userName)
            .put("displayName", name)
            .put("active", active)
            .put("lastLogin", "2026-11-20T08:12:44.103Z")
            .put("emails", emails));
  }

  /** Answers according to the standard. */
  public void behave() {
    behaviour = this::answer;
  }

  /** Handles the next requests in another way. */
  public void behave(Consumer<HttpServerRequest> other) {
    behaviour = other;
  }

  /** Accepts requests and never answers. */
  public void stall() {
    behaviour =
        request -> {
          waiting.incrementAndGet();
          request.connection().closeHandler(gone -> waiting.decrementAndGet());
          stalled.add(request);
        };
  }

  /** Waits for so many requests that it does not answer, and then closes their connections. */
  public void hangUp(int requests) throws InterruptedException {
    List<HttpServerRequest> come = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      come.add(Objects.requireNonNull(stalled.poll(60, TimeUnit.SECONDS), "no request came"));
    }
    come.forEach(request -> request.connection().close().await());
  }

  /** Answers this with status 200. */
  public void say(String body) {
    behaviour = request -> request.response().end(body);
  }

  private void answer(HttpServerRequest request) {
    String filter = request.getParam("filter").toLowerCase(Locale.ROOT);
    List<JsonObject> found =
        users.entrySet().stream()
            .filter(
                user ->
                    filter.contains(
                        "username eq \"" + user.getKey().toLowerCase(Locale.ROOT) + '"'))
            .map(Map.Entry::getValue)
            .toList();
    int from = Integer.parseInt(request.getParam("startIndex")) - 1;
    int count = Math.min(pageSize, Integer.parseInt(request.getParam("count")));
    JsonArray page = new JsonArray();
    found.stream().skip(from).limit(count).forEach(page::add);
    JsonObject list =
        new JsonObject()
            .put(
                "schemas",
                new JsonArray().add("urn:ietf:params:scim:api:messages:2.0:ListResponse"))
            .put("totalResults", found.size());
    if (!page.isEmpty()) {
      list.put("startIndex", from + 1).put("itemsPerPage", page.size()).put("Resources", page);
    }
    request.response().putHeader("content-type", "application/scim+json").end(list.toBuffer());
  }

  @Override
  public void close() {
    vertx.close().await();
  }
}
