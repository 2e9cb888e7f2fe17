package dev.bourse.audit;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HexFormat;
import java.util.Set;

/**
 * A row of a trail as an event of OCSF 1.1.0, class API Activity. The event contains every column
 * unchanged, so that the row can be read back and its digest computed; all other fields follow from
 * the columns. Pure.
 */
final class OcsfRow {
  /** The version of the schema. */
  static final String OCSF = "1.1.0";

  /** Raised when the same row would make another event. */
  static final String FORM = "1";

  /** API Activity, in the category Application Activity. */
  static final int CLASS_UID = 6003;

  private static final int CATEGORY_UID = 6;
  private static final int TYPES_OF_CLASS = 100;
  private static final String UNMAPPED = "unmapped";
  private static final String WRITES = "writes";
  private static final String READS = "reads";

  /** OCSF requires the source of a call, which the trail does not record. */
  private static final String NO_SOURCE = "not recorded";

  /** The activity of a row, in OCSF's terms. */
  private enum ApiActivity {
    CREATE(1, "Create"),
    READ(2, "Read"),
    UPDATE(3, "Update"),
    DELETE(4, "Delete"),
    OTHER(99, "Other");

    private static final Set<String> CREATES =
        Set.of("add", "create", "grant", "invite", "join", "mint", "publish");
    private static final Set<String> UPDATES =
        Set.of("declare", "pin", "put", "rename", "rotate", "set", "unpin", "update");
    private static final Set<String> DELETES =
        Set.of("clear", "delete", "end", "remove", "retire", "revoke", "withdraw");

    private final int id;
    private final String caption;

    ApiActivity(int id, String caption) {
      this.id = id;
      this.caption = caption;
    }

    /** Returns the activity by the last word of an action, for example {@code webhook_add}. */
    static ApiActivity of(RecordedRow row) {
      String verb = row.action().substring(row.action().lastIndexOf('_') + 1);
      if (row.isRead()) {
        return READ;
      }
      if (CREATES.contains(verb)) {
        return CREATE;
      }
      if (UPDATES.contains(verb)) {
        return UPDATE;
      }
      return DELETES.contains(verb) ? DELETE : OTHER;
    }
  }

  private OcsfRow() {}

  /** Returns a chain's name. */
  static String name(Chain chain) {
    return chain.isRead() ? READS : WRITES;
  }

  /** Returns the chain with a name; fails if there is none. */
  static Chain chain(String orgId, String name) {
    if (!name.equals(READS) && !name.equals(WRITES)) {
      throw new IllegalArgumentException("'" + name + "' is neither reads nor writes");
    }
    return new Chain(orgId, name.equals(READS));
  }

  static JsonObject metadata(Chain chain) {
    return new JsonObject()
        .put("version", OCSF)
        .put("product", new JsonObject().put("name", "Bourse").put("vendor_name", "Bourse"))
        .put("log_name", name(chain))
        .put("log_version", FORM);
  }

  static JsonObject of(RecordedRow row) {
    ApiActivity activity = ApiActivity.of(row);
    return new JsonObject()
        .put("class_uid", CLASS_UID)
        .put("class_name", "API Activity")
        .put("category_uid", CATEGORY_UID)
        .put("category_name", "Application Activity")
        .put("activity_id", activity.id)
        .put("activity_name", activity == ApiActivity.OTHER ? row.action() : activity.caption)
        .put("type_uid", CLASS_UID * TYPES_OF_CLASS + activity.id)
        .put("severity_id", 1)
        .put("severity", "Informational")
        .put("time", row.atMillis())
        .put("metadata", metadata(row.chain()).put("uid", String.valueOf(row.id())))
        .put("actor", new JsonObject().put("user", user(row.actor())))
        .put("api", new JsonObject().put("operation", row.action()))
        .put("src_endpoint", new JsonObject().put("name", NO_SOURCE))
        .put("resources", new JsonArray().add(new JsonObject().put("name", row.subject())))
        .put("message", row.detail())
        .put(
            UNMAPPED,
            new JsonObject()
                .put("org_id", row.orgId())
                .put("digest", HexFormat.of().formatHex(RowDigests.of(row))));
  }

  /** Returns an actor, in the forms of {@link AuditRow}, as an OCSF user. */
  private static JsonObject user(String actor) {
    String kind = actor.substring(0, Math.max(0, actor.indexOf(':')));
    int type =
        switch (kind) {
          case "member" -> 1;
          case "operator" -> 2;
          case "system" -> 3;
          default -> 99;
        };
    return new JsonObject().put("uid", actor).put("type_id", type).put("type", kind);
  }

  /** Parses an event into its row. Fails, with the reason, if the row's event differs from it. */
  static RecordedRow parse(JsonObject event) {
    RecordedRow row;
    try {
      JsonObject metadata = event.getJsonObject("metadata");
      String orgId = event.getJsonObject(UNMAPPED).getString("org_id");
      row =
          new RecordedRow(
              Long.parseLong(metadata.getString("uid")),
              event.getLong("time"),
              orgId,
              event.getJsonObject("actor").getJsonObject("user").getString("uid"),
              event.getJsonObject("api").getString("operation"),
              event.getJsonArray("resources").getJsonObject(0).getString("name"),
              event.getString("message"),
              chain(orgId, metadata.getString("log_name")).isRead(),
              false);
    } catch (NullPointerException
        | ClassCastException
        | IndexOutOfBoundsException
        | NumberFormatException e) {
      throw new IllegalArgumentException("it is not an event of a trail", e);
    }
    if (!of(row).equals(event)) {
      throw new IllegalArgumentException(
          "row %s differs from its seal: the event does not match its digest".formatted(row.id()));
    }
    return row;
  }
}
