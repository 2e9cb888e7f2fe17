package dev.bourse.roadmap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.McpClient;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The roadmap of a running service. */
@OneEngine("the roadmap is a file")
class RoadmapApiTest {
  private static final String FILE =
      """
      entries:
        - { id: join, title: Join, status: planned, since: "2026-04-01", summary: Later. }
        - id: outlook
          title: What you lose next
          status: shipped
          since: "2026-03-01"
          summary: Names the nodes.
          operations: [%s]
      """;

  @Test
  void membersTokensAndModelsReadTheOperatorsFile(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("roadmap.yaml"), FILE.formatted("readOutlook"));
    try (RunningBourse bourse = RunningBourse.demo("roadmap.file=" + file)) {
      JsonObject all = bourse.as("acme", "orgwide").get("/api/roadmap").ok();
      assertEquals(2, all.getJsonArray("entries").size());
      JsonObject planned = bourse.as("acme", "orgwide").get("/api/roadmap?status=planned").ok();
      assertEquals("join", planned.getJsonArray("entries").getJsonObject(0).getString("id"));
      bourse.as("acme", "orgwide").get("/api/roadmap?status=done").refused(ErrorCode.BAD_REQUEST);
      McpClient alice = McpClient.of(bourse, "acme", "alice");
      assertEquals(all, alice.ok("roadmap_read", new JsonObject()));
      assertEquals(planned, alice.ok("roadmap_read", new JsonObject().put("status", "planned")));
    }
  }

  @Test
  void aRoadmapThatAnnouncesWhatCannotBeCalledKeepsTheServiceFromStarting(@TempDir Path folder)
      throws IOException {
    Path file = Files.writeString(folder.resolve("roadmap.yaml"), FILE.formatted("dance"));
    Throwable failure =
        assertThrows(Throwable.class, () -> RunningBourse.demo("roadmap.file=" + file));
    assertTrue(
        String.valueOf(failure.getMessage() + failure.getCause()).contains("an operation 'dance'"),
        failure.toString());
  }
}
