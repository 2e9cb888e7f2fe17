package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Change;
import dev.bourse.store.Mirror;
import dev.bourse.testing.LogCapture;
import dev.bourse.testing.Polls;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The application of other processes' changes, topic by topic. */
class ReplicationTest {
  private static final String LATER = "of-a-later-release";

  private final Vertx vertx = Vertx.vertx();

  /** Comparisons that have ended, of all mirrors. */
  private final AtomicInteger compared = new AtomicInteger();

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  /** A mirror that never differs from the store. */
  private final class EqualMirror implements Mirror {
    @Override
    public Future<Refreshed> refresh(List<String> keys) {
      return Future.succeededFuture(new Refreshed(Set.of(), Set.of()));
    }

    @Override
    public Comparison compare() {
      return () -> {
        compared.incrementAndGet();
        return Future.succeededFuture(Optional.empty());
      };
    }
  }

  @Test
  void anUnknownTopicIsLoggedOnceAndEverythingIsCompared() {
    Replication replication = new Replication(vertx, () -> 0);
    replication.follow(
        replication.topics().stream()
            .collect(Collectors.toMap(topic -> topic, topic -> new EqualMirror())));
    try (LogCapture log = new LogCapture()) {
      for (int i = 0; i < 50; i++) {
        replication.changed(new Change(LATER, "key" + i));
      }
      replication.heardUntil(7);
      Polls.until("the changes are in force", () -> replication.knownAsOfNanos() == 7);
      assertTrue(compared.get() >= replication.topics().size(), () -> compared + " comparisons");
      assertEquals(
          1,
          log.lines().stream().filter(line -> line.getString("message").contains(LATER)).count());
    }
  }
}
