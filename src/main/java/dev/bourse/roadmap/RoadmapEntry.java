package dev.bourse.roadmap;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;

/**
 * A feature on the roadmap.
 *
 * @param id its name, unique in the roadmap
 * @param title its name for people
 * @param status how far it is
 * @param since the day it got that status
 * @param summary what it does
 * @param operations the ids of the operations of the contracts that it consists of; at least one
 *     when it is shipped
 */
public record RoadmapEntry(
    String id,
    String title,
    Status status,
    LocalDate since,
    String summary,
    List<String> operations) {
  /** How far a feature is. */
  public enum Status {
    PLANNED,
    /** It can be used, and may change. */
    PREVIEW,
    SHIPPED,
    WITHDRAWN;

    /** Its name in the file and in answers. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public RoadmapEntry {
    operations = List.copyOf(operations);
  }

  JsonObject toJson() {
    return new JsonObject()
        .put("id", id)
        .put("title", title)
        .put("status", status.label())
        .put("since", since.toString())
        .put("summary", summary)
        .put("operations", new JsonArray(operations));
  }
}
