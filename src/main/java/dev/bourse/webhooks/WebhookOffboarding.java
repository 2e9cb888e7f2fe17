package dev.bourse.webhooks;

import dev.bourse.access.Offboarding;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** Disables the webhook endpoints of members who leave. */
public final class WebhookOffboarding implements Offboarding {
  private final WebhookStore store;

  public WebhookOffboarding(Database database) {
    this.store = new WebhookStore(database);
  }

  @Override
  public List<Statement> ending(Author author, long nowMillis) {
    return WebhookStore.offboard(author, nowMillis);
  }

  @Override
  public Future<JsonObject> describe(Author author, Optional<Long> endedAtMillis) {
    return store
        .listOf(author, endedAtMillis)
        .map(
            endpoints ->
                new JsonObject()
                    .put(
                        "webhooks",
                        new JsonArray(
                            endpoints.stream()
                                .map(
                                    endpoint ->
                                        new JsonObject()
                                            .put("endpoint_id", endpoint.endpointId())
                                            .put("url", endpoint.url()))
                                .toList())));
  }
}
