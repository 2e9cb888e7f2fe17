package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.Collector;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.Slow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A service without traces loads none of their code. */
@OneEngine("which classes are loaded for traces does not depend on who keeps the rows")
class TracesOffTest {
  private static final Pattern OTHERS =
      Pattern.compile("(?:io\\.opentelemetry|dev\\.bourse\\.traces\\.otlp|java\\.net\\.http)\\..*");

  private static List<String> loaded(Path temp, String... settings) throws IOException {
    Path list = temp.resolve("loaded");
    List<String> all = new ArrayList<>(List.of("port=0"));
    all.addAll(List.of(settings));
    try (ChildBourse child =
        ChildBourse.flagged(
            RunningBourse.newFolder(), all, "-Xlog:class+load=info:file=" + list + ":none")) {
      assertEquals(401, new ApiClient(child.baseUrl(), null).get("/api/whoami").status());
      child.terminate();
    }
    return Files.readAllLines(list).stream()
        .map(line -> line.replaceFirst(" .*", ""))
        .filter(name -> OTHERS.matcher(name).matches())
        .toList();
  }

  @Test
  void withoutAnEndpointNoClassOfOpenTelemetryIsLoaded(@TempDir Path temp) throws IOException {
    assertEquals(List.of(), loaded(temp));
  }

  @Test
  @Slow("the service starts in a process of its own")
  void withAnEndpointTheyAre(@TempDir Path temp) throws IOException {
    try (Collector collector = new Collector()) {
      assertTrue(loaded(temp, "trace.endpoint=" + collector.url()).size() > 20);
    }
  }
}
