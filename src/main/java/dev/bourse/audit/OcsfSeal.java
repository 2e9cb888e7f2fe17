package dev.bourse.audit;

import io.vertx.core.json.JsonObject;
import java.util.HexFormat;

/**
 * The seal of a batch as an event of OCSF 1.1.0, class Base Event, with all values of the seal. It
 * follows the events of the batch's rows, or stands alone after they are purged. Pure.
 *
 * @param previous the seal of the previous batch; empty if there is none
 */
record OcsfSeal(Seal seal, String previous) {
  /** OCSF's Base Event, which has no category. */
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
   * Parses an event into its seal, which has only the digest of its rows. Fails, with the reason,
   * if it is not a seal or does not match its values.
   */
  static OcsfSeal parse(JsonObject event) {
    OcsfSeal read;
    try {
      JsonObject fields = event.getJsonObject(UNMAPPED);
      boolean isPurged = fields.getString("kind").equals(PURGED);
      Seal seal =
          new Seal(
              OcsfRow.chain(fields.getString("org_id"), fields.getString("chain")),
              fields.getLong("batch"),
              fields.getLong("first_id"),
              fields.getLong("last_id"),
              fields.getLong("row_count"),
              fields.getLong("newest_at"),
              RowDigests.stored(HEX.parseHex(fields.getString("content"))),
              fields.getString("seal"),
              fields.getLong("sealed_at"),
              // The purge time is not part of the seal and not in the event.
              isPurged ? Long.valueOf(0) : null);
      read = new OcsfSeal(seal, fields.getString("previous"));
    } catch (NullPointerException | ClassCastException e) {
      throw new IllegalArgumentException("it is not the seal of a batch", e);
    }
    if (!read.json().equals(event)) {
      throw new IllegalArgumentException("it contradicts itself about its batch");
    }
    if (!read.seal.expected(read.previous).equals(read.seal.seal())) {
      throw new IllegalArgumentException(
          "the seal of batch %s does not match its values and the previous seal"
              .formatted(read.seal.batch()));
    }
    return read;
  }
}
