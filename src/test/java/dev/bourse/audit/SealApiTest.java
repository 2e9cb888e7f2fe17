package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Verifying the trails' seals over HTTP. */
@EachEngine
class SealApiTest {
  private static RunningBourse bourse;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo("audit.seal-interval=50ms");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String path(String org, String query) {
    return "/api/operator/orgs/" + org + "/seals" + query;
  }

  private static JsonObject seals(String org, String query) {
    return bourse.operator().get(path(org, query)).ok();
  }

  private static void sealed(String org, String query, long rows) {
    RunningBourse.until(
        rows + " rows of " + org + " are sealed", () -> seals(org, query).getLong("rows") >= rows);
  }

  @Test
  @OneEngine("a shared store settles for a minute; PostgresSealsTest is its counterpart")
  void writesReadsAndThePlatformsRowsAreSealedWithinARound() {
    new ClusterClient(bourse.as("acme", "bound"), "acme", "acme-train").addKey();
    bourse.as("acme", "bound").get("/api/vm/capacity?cluster=acme-train").ok();
    bourse
        .operator()
        .send(
            "PATCH",
            "/api/operator/switches",
            "{\"capacity_writes_armed\":true}",
            "Content-Type",
            "application/json")
        .ok();

    sealed("acme", "", 1);
    sealed("acme", "?kind=reads", 1);
    sealed("_platform", "?kind=writes", 1);

    JsonObject writes = seals("acme", "");
    assertEquals("acme", writes.getString("org"));
    assertEquals("writes", writes.getString("kind"));
    assertEquals(0, writes.getInteger("purged_batches"));
    assertNull(writes.getValue("fault"));
    assertNull(writes.getValue("next"));
    assertEquals(64, writes.getJsonObject("head").getString("seal").length());
    assertEquals("_platform", seals("_platform", "").getString("org"));
  }

  @Test
  @OneEngine("a shared store settles for a minute; PostgresSealsTest is its counterpart")
  void aTamperedRowIsNamed() {
    new ClusterClient(bourse.as("globex", "orgwide"), "globex", "globex-main").addKey();
    sealed("globex", "", 1);
    RunningBourse.await(
        bourse
            .database()
            .commit(
                List.of(
                    Statement.of(
                        "UPDATE audit SET actor = 'token:somebody' WHERE id ="
                            + " (SELECT MIN(id) FROM audit WHERE org_id = 'globex'"
                            + " AND is_read = 0)"))));

    JsonObject fault = seals("globex", "?kind=writes&after_batch=0").getJsonObject("fault");
    // Sealing continues; the fault stays.
    assertEquals(fault, seals("globex", "?kind=writes&after=0").getJsonObject("fault"));
    assertEquals("changed", fault.getString("what"));
    assertEquals(1, fault.getInteger("batch"));
    assertTrue(fault.getString("detail").contains("row " + fault.getLong("row_id")));
  }

  @Test
  void anUnknownOrganizationIsNotFoundAndOddParametersAreRefused() {
    bourse.operator().get(path("nobody", "")).refused(ErrorCode.NOT_FOUND);
    bourse.operator().get(path("platform", "")).refused(ErrorCode.NOT_FOUND);
    bourse.operator().get(path("acme", "?kind=all")).refused(ErrorCode.BAD_REQUEST);
    bourse.operator().get(path("acme", "?after_batch=-1")).refused(ErrorCode.BAD_REQUEST);
    bourse.operator().get(path("acme", "?after=-1")).refused(ErrorCode.BAD_REQUEST);
  }
}
