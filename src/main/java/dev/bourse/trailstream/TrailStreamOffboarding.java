package dev.bourse.trailstream;

import dev.bourse.access.Offboarding;
import dev.bourse.store.Database;
import dev.bourse.store.Statement;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** Disables the trail stream of a member who leaves. */
public final class TrailStreamOffboarding implements Offboarding {
  private final TrailStreamStore store;

  public TrailStreamOffboarding(Database database) {
    this.store = new TrailStreamStore(database);
  }

  @Override
  public List<Statement> ending(Author author, long nowMillis) {
    return TrailStreamStore.offboard(author, nowMillis);
  }

  @Override
  public Future<JsonObject> describe(Author author, Optional<Long> endedAtMillis) {
    return store
        .listOf(author, endedAtMillis)
        .map(
            streams ->
                new JsonObject()
                    .put(
                        "trail_streams",
                        new JsonArray(
                            streams.stream()
                                .map(
                                    stream ->
                                        new JsonObject()
                                            .put("destination", stream.destination().text()))
                                .toList())));
  }
}
