package dev.bourse.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tables with chosen columns, and prices in them. */
class TableTest {
  @Test
  void chosenColumnsHaveTheirHeadingsAndOrderAndThoseWithoutAnyValueAreLeftOut() {
    Map<String, String> headings = new LinkedHashMap<>();
    headings.put("free_nodes", "FREE");
    headings.put("pool", "POOL");
    headings.put("paused_since", "PAUSED");
    assertEquals(
        "FREE  POOL\n2     north\n",
        Table.rows(
            List.of(
                new JsonObject()
                    .put("pool", "north")
                    .put("site", "n")
                    .put("free_nodes", 2)
                    .putNull("paused_since")),
            headings));
  }

  @Test
  void pricesHaveCentsAndNoRoundingHidesAnything() {
    assertEquals(
        "a_per_gpu_hour  1.00\nb_per_gpu_hour  1.50\nc_per_gpu_hour  0.125\n",
        Table.fields(
            new JsonObject()
                .put("a_per_gpu_hour", 1)
                .put("b_per_gpu_hour", 1.5)
                .put("c_per_gpu_hour", 0.125)));
  }
}
