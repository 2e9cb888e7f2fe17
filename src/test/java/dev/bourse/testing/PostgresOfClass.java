package dev.bourse.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A PostgreSQL server that the tests of one class share, there from before its first fixture. */
public final class PostgresOfClass implements BeforeAllCallback, AfterAllCallback {
  private @Nullable Path folder;
  private @Nullable PostgresServer server;

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    Path made = Files.createTempDirectory("bourse-pg");
    folder = made;
    server = PostgresServer.start(made.resolve("pg"), Map.of());
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    if (server != null) {
      server.close();
    }
    if (folder != null) {
      remove(folder);
    }
  }

  private static void remove(Path folder) throws IOException {
    List<Path> inside;
    try (Stream<Path> walk = Files.walk(folder)) {
      inside = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : inside) {
      Files.deleteIfExists(path);
    }
  }

  public PostgresServer server() {
    return Objects.requireNonNull(server, "not started");
  }
}
