package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A part that does not stop keeps no other part from its stop. */
class ShutdownHooksTest {
  private final ShutdownHooks hooks = new ShutdownHooks(50);
  private final List<String> stopped = new ArrayList<>();

  private void push(String name, Future<?> stop) {
    hooks.push(
        () -> {
          stopped.add(name);
          return stop;
        });
  }

  @Test
  void aStopThatHangsFailsOrThrowsIsFollowedByTheOthersInReverseOrderOfTheStart() throws Exception {
    push("store", Future.succeededFuture());
    hooks.pushLimited(
        "mail",
        () -> {
          stopped.add("mail");
          return Promise.promise().future();
        });
    push("market", Future.failedFuture("broken"));
    hooks.push(
        () -> {
          throw new IllegalStateException("broken");
        });
    push("server", Future.succeededFuture());
    hooks.stopAll().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertEquals(List.of("server", "market", "mail", "store"), stopped);
  }
}
