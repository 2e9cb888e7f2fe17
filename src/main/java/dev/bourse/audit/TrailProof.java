package dev.bourse.audit;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Verifies exported batches without the store. It takes their lines, file by file, and keeps some
 * 500 bytes per batch. Not thread-safe.
 *
 * <p>A row is proven by the digest over its batch, the batch by its seal, and each seal by the
 * next, which is computed from it. So no row before the last seal, the head, can be changed,
 * removed or inserted. Only a copy of the head kept elsewhere proves that it is the last one.
 */
public final class TrailProof {
  /** A line that fails verification. */
  public static final class UnsoundTrailException extends Exception {
    private static final long serialVersionUID = 1;

    UnsoundTrailException(Place place, String what) {
      super("%s:%s: %s".formatted(place.file(), place.line(), what));
    }
  }

  /** A position in a file. */
  private record Place(String file, long line) {}

  /** A batch that is sound in itself, and the position of its seal. */
  private record Proven(OcsfSeal sealed, Place place, long oldestMillis) {
    Seal seal() {
      return sealed.seal();
    }
  }

  /**
   * A verified chain of consecutive batches.
   *
   * @param name {@code writes} or {@code reads}
   * @param rows the number of rows in the batches
   * @param purgedBatches batches without rows. The service exports a batch without rows after their
   *     retention time. Anybody can remove a batch's rows from an export, because a purge is not
   *     part of the seal.
   * @param purged the numbers of these batches, for example {@code 1-3, 7}; the first of them if
   *     there are many; empty if there are none
   * @param firstBatch 1 if the chain is complete from its start
   * @param oldestMillis the earliest time of a row; 0 if there is none
   * @param newestMillis the latest time of a row
   * @param head the last seal, in hexadecimal
   */
  public record ProvenChain(
      String orgId,
      String name,
      int batches,
      long rows,
      int purgedBatches,
      String purged,
      long firstBatch,
      long lastBatch,
      long oldestMillis,
      long newestMillis,
      String head) {}

  /** Ranges of batches without rows that are named: a line or two. */
  private static final int MAX_RANGES = 20;

  private final Map<Boolean, NavigableMap<Long, Proven>> chains = new TreeMap<>();

  /** The rows since the last seal. */
  private final List<RecordedRow> rows = new ArrayList<>();

  private @Nullable String orgId;

  /** Takes a line, without its line end. */
  public void line(String file, long number, String text) throws UnsoundTrailException {
    Place place = new Place(file, number);
    try {
      JsonObject event = new JsonObject(text);
      requireForm(event);
      if (Integer.valueOf(OcsfSeal.CLASS_UID).equals(event.getValue("class_uid"))) {
        OcsfSeal sealed = OcsfSeal.parse(event);
        requireAsSent(sealed.json(), text);
        seal(sealed, place);
      } else {
        RecordedRow row = OcsfRow.parse(event);
        requireAsSent(OcsfRow.of(row), text);
        row(row);
      }
    } catch (DecodeException e) {
      throw new UnsoundTrailException(place, "it is not a JSON object");
    } catch (IllegalArgumentException e) {
      throw new UnsoundTrailException(place, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Requires the exact line that the service writes for these values. A parser may hide parts of a
   * line, for example a duplicate name or a truncated number. Only characters of four bytes may be
   * written either directly or as two escapes.
   */
  private static void requireAsSent(JsonObject event, String text) {
    if (!event.toBuffer().toString().equals(text) && !event.encode().equals(text)) {
      throw new IllegalArgumentException(
          "it differs from the line that the service writes for the same values");
    }
  }

  private static void requireForm(JsonObject event) {
    if (event.getValue("metadata") instanceof JsonObject metadata
        && metadata.getValue("log_version") instanceof String form
        && !form.equals(OcsfRow.FORM)) {
      throw new IllegalArgumentException(
          "it has format %s, and this command reads format %s; use a newer release of the command"
              .formatted(form, OcsfRow.FORM));
    }
  }

  private void row(RecordedRow row) {
    requireOrg(row.orgId());
    if (rows.size() == Seal.MAX_ROWS) {
      throw new IllegalArgumentException(
          "%s rows without a seal precede it, which is the limit of a batch"
              .formatted(Seal.MAX_ROWS));
    }
    if (!rows.isEmpty()) {
      RecordedRow before = rows.get(rows.size() - 1);
      if (!before.chain().equals(row.chain()) || before.id() >= row.id()) {
        throw new IllegalArgumentException(
            "row %s of the %s does not follow row %s of the %s: the seal between them is missing"
                .formatted(
                    row.id(),
                    OcsfRow.name(row.chain()),
                    before.id(),
                    OcsfRow.name(before.chain())));
      }
    }
    rows.add(row);
  }

  private void requireOrg(String found) {
    if (orgId == null) {
      orgId = found;
    } else if (!orgId.equals(found)) {
      throw new IllegalArgumentException(
          "it belongs to organization '%s', but the lines before it to '%s'"
              .formatted(found, orgId));
    }
  }

  private void seal(OcsfSeal sealed, Place place) {
    Seal seal = sealed.seal();
    requireOrg(seal.chain().orgId());
    if (seal.isPurged() ? !rows.isEmpty() : !isOf(seal)) {
      throw new IllegalArgumentException(
          "the rows before it differ from those of batch %s, which has %s: a row was changed, removed or added"
              .formatted(seal.batch(), seal.isPurged() ? "none left" : counted(seal)));
    }
    long oldest = rows.stream().mapToLong(RecordedRow::atMillis).min().orElse(0);
    rows.clear();
    Proven proven = new Proven(sealed, place, oldest);
    Proven known = chain(seal).get(seal.batch());
    if (known != null && !known.seal().seal().equals(seal.seal())) {
      throw new IllegalArgumentException(
          "the seal of batch %s differs from the one in %s:%s"
              .formatted(seal.batch(), known.place().file(), known.place().line()));
    }
    // A batch that was sent twice counts once, in its form before the purge.
    if (known == null || known.seal().isPurged()) {
      chain(seal).put(seal.batch(), proven);
    }
  }

  private static String counted(Seal seal) {
    return "%s, from %s to %s".formatted(seal.rowCount(), seal.firstId(), seal.lastId());
  }

  private NavigableMap<Long, Proven> chain(Seal seal) {
    return chains.computeIfAbsent(seal.chain().isRead(), kind -> new TreeMap<>());
  }

  private boolean isOf(Seal seal) {
    if (rows.isEmpty()
        || rows.size() != seal.rowCount()
        || !rows.get(0).chain().equals(seal.chain())
        || rows.get(0).id() != seal.firstId()
        || rows.get(rows.size() - 1).id() != seal.lastId()) {
      return false;
    }
    RowDigests.Gathered gathered = new RowDigests.Gathered();
    rows.forEach(row -> gathered.add(row.id(), RowDigests.of(row)));
    return Arrays.equals(gathered.all().content(), seal.rows().content());
  }

  /** Ends a file, and with it its last batch. */
  public void end(String file, long lines) throws UnsoundTrailException {
    if (!rows.isEmpty()) {
      throw new UnsoundTrailException(
          new Place(file, lines), "the file ends before the seal of its last rows");
    }
  }

  /** Returns the chains if all batches are consecutive; empty if there were no batches. */
  public List<ProvenChain> chains() throws UnsoundTrailException {
    List<ProvenChain> found = new ArrayList<>();
    for (NavigableMap<Long, Proven> batches : chains.values()) {
      found.add(proven(batches));
    }
    return found;
  }

  private static ProvenChain proven(NavigableMap<Long, Proven> batches)
      throws UnsoundTrailException {
    Proven before = null;
    for (Proven each : batches.values()) {
      if (before == null && each.seal().batch() == 1 && !each.sealed().previous().isEmpty()) {
        throw new UnsoundTrailException(each.place(), "batch 1 follows another batch");
      }
      if (before != null) {
        requireFollows(before, each);
      }
      before = each;
    }
    Seal first = batches.firstEntry().getValue().seal();
    Seal last = batches.lastEntry().getValue().seal();
    List<Seal> kept =
        batches.values().stream().map(Proven::seal).filter(seal -> !seal.isPurged()).toList();
    return new ProvenChain(
        first.chain().orgId(),
        OcsfRow.name(first.chain()),
        batches.size(),
        kept.stream().mapToLong(Seal::rowCount).sum(),
        batches.size() - kept.size(),
        purged(batches),
        first.batch(),
        last.batch(),
        batches.values().stream()
            .filter(each -> !each.seal().isPurged())
            .map(Proven::oldestMillis)
            .min(Comparator.naturalOrder())
            .orElse(0L),
        kept.stream().mapToLong(Seal::newestAtMillis).max().orElse(0),
        last.seal());
  }

  private static String purged(NavigableMap<Long, Proven> batches) {
    List<String> ranges = new ArrayList<>();
    long first = 0;
    for (Proven each : batches.values()) {
      long batch = each.seal().batch();
      if (!each.seal().isPurged()) {
        first = 0;
      } else if (first > 0) {
        ranges.set(ranges.size() - 1, first + "-" + batch);
      } else if (ranges.size() == MAX_RANGES) {
        ranges.add("…");
        break;
      } else {
        first = batch;
        ranges.add(String.valueOf(batch));
      }
    }
    return String.join(", ", ranges);
  }

  private static void requireFollows(Proven before, Proven each) throws UnsoundTrailException {
    long awaited = before.seal().batch() + 1;
    if (each.seal().batch() != awaited) {
      throw new UnsoundTrailException(
          each.place(),
          "batch %s of the %s follows batch %s: batch %s is missing"
              .formatted(
                  each.seal().batch(),
                  OcsfRow.name(each.seal().chain()),
                  before.seal().batch(),
                  awaited));
    }
    if (!each.sealed().previous().equals(before.seal().seal())
        || each.seal().firstId() <= before.seal().lastId()) {
      throw new UnsoundTrailException(
          each.place(),
          "batch %s does not follow from batch %s in %s:%s"
              .formatted(
                  each.seal().batch(),
                  before.seal().batch(),
                  before.place().file(),
                  before.place().line()));
    }
  }
}
