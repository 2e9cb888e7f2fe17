package dev.bourse.audit;

import io.vertx.core.json.JsonObject;
import java.util.HexFormat;

/**
 * The seal of a batch as an event of OCSF 1.1.0, of its Base Event, with all that the seal is made
 * from: it stands behind the events of the batch's rows, or alone when they are purged. Pure.
 *
 * @param previous the seal of the batch before; empty for none
 */
record OcsfSeal(Seal seal, String previous) {
  /** Base Event, which is in no category. */
  static final int CLASS_UID = 0;

  private static final int OTHER = 99;
  private static final String UNMAPPED = "unmapped";
  private static final String KEPT = "seal";
  private static final String PURGED = "purged";
  private static final HexFormat HEX = HexFormat.of();

  JsonObject json() {
    Chain chain = seal.chain();
    String kind = seal.isPurged() ? PURGED : KEPT;
    return new JsonObject()
        .put("class_uid", CLASS_UID)
        .put("class_name", "Base Event")
        .put("category_uid", 0)
        .put("category_name", "Uncategorized")
        .put("activity_id", OTHER)
        .put("activity_name", kind)
        .put("type_uid", CLASS_UID + OTHER)
        .put("severity_id", 1)
        .put("severity", "Informational")
        .put("time", seal.sealedAtMillis())
        .put("metadata", OcsfRow.metadata(chain))
        .put("message", "seal of batch %s of the %s".formatted(seal.batch(), OcsfRow.name(chain)))
        .put(
            UNMAPPED,
            new JsonObject()
                .put("kind", kind)
                .put("org_id", chain.orgId())
                .put("chain", OcsfRow.name(chain))
                .put("batch", seal.batch())
                .put("first_id", seal.firstId())
                .put("last_id", seal.lastId())
                .put("row_count", seal.rowCount())
                .put("newest_at", seal.newestAtMillis())
                .put("sealed_at", seal.sealedAtMillis())
                .put("content", HEX.formatHex(seal.rows().content()))
                .put("previous", previous)
                .put("seal", seal.seal()));
  }

  /**
   * The seal of an event; of its rows it has the digest alone. Fails, with what is wrong, when it
   * is none, or not the one that its values make.
   */
  static OcsfSeal parse(JsonObject event) {
    OcsfSeal read;
    try {
      JsonObject told = event.getJsonObject(UNMAPPED);
      boolean isPurged = told.getString("kind").equals(PURGED);
      Seal seal =
          new Seal(
              OcsfRow.chain(told.getString("org_id"), told.getString("chain")),
              told.getLong("batch"),
              told.getLong("first_id"),
              told.getLong("last_id"),
              told.getLong("row_count"),
              told.getLong("newest_at"),
              RowDigests.stored(HEX.parseHex(told.getString("content"))),
              told.getString("seal"),
              told.getLong("sealed_at"),
              // When it was purged is no part of the seal, and not told.
              isPurged ? Long.valueOf(0) : null);
      read = new OcsfSeal(seal, told.getString("previous"));
    } catch (NullPointerException | ClassCastException e) {
      throw new IllegalArgumentException("it is no seal of a batch", e);
    }
    if (!read.json().equals(event)) {
      throw new IllegalArgumentException("it contradicts itself about the batch it seals");
    }
    if (!read.seal.expected(read.previous).equals(read.seal.seal())) {
      throw new IllegalArgumentException(
          "the seal of batch %s is not the one that its values and the seal before it make"
              .formatted(read.seal.batch()));
    }
    return read;
  }
}
