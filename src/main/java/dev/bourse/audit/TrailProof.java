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
 * Proves that batches which have left the service are whole, without the store. It is given their
 * lines, file by file, and keeps of each batch some 500 bytes. Not for several threads.
 *
 * <p>A row is proven by the digest over its batch, the batch by its seal, and the seals by each
 * other: each is made from the one before. So nothing can be changed, left out or put in before the
 * last seal, the head; that it is the last is known by whoever noted it elsewhere.
 */
public final class TrailProof {
  /** A line that is not as it must be. */
  public static final class Unsound extends Exception {
    private static final long serialVersionUID = 1;

    Unsound(Place place, String what) {
      super("%s:%s: %s".formatted(place.file(), place.line(), what));
    }
  }

  /** Where something stands. */
  private record Place(String file, long line) {}

  /** A batch that is sound in itself, and where its seal stands. */
  private record Proven(OcsfSeal told, Place place, long oldestMillis) {
    Seal seal() {
      return told.seal();
    }
  }

  /**
   * A chain of batches that are whole, and follow each other.
   *
   * @param name {@code writes} or {@code reads}
   * @param rows how many are in the batches
   * @param purgedBatches batches without rows. The service sends those so whose rows are past their
   *     time; anybody can make one so, for that the rows are gone is no part of the seal
   * @param purged which these are, such as {@code 1-3, 7}, the first of them when there are many;
   *     empty for none
   * @param firstBatch 1 when it is whole from its beginning
   * @param oldestMillis the earliest time of a row; 0 when there is none
   * @param newestMillis the latest
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

  /** Takes a line, without its end. */
  public void line(String file, long number, String text) throws Unsound {
    Place place = new Place(file, number);
    try {
      JsonObject event = new JsonObject(text);
      requireForm(event);
      if (Integer.valueOf(OcsfSeal.CLASS_UID).equals(event.getValue("class_uid"))) {
        OcsfSeal told = OcsfSeal.parse(event);
        requireAsSent(told.json(), text);
        seal(told, place);
      } else {
        RecordedRow row = OcsfRow.parse(event);
        requireAsSent(OcsfRow.of(row), text);
        row(row);
      }
    } catch (DecodeException e) {
      throw new Unsound(place, "it is no JSON object");
    } catch (IllegalArgumentException e) {
      throw new Unsound(place, String.valueOf(e.getMessage()));
    }
  }

  /**
   * What a reader makes of a line may hide some of it: one name twice, or a number that is cut to
   * what fits. So nothing but the line that the service sends will do; what takes four bytes may
   * stand in it as itself or as two escapes.
   */
  private static void requireAsSent(JsonObject event, String text) {
    if (!event.toBuffer().toString().equals(text) && !event.encode().equals(text)) {
      throw new IllegalArgumentException(
          "it is not, letter by letter, the line that the service sends of the same values");
    }
  }

  private static void requireForm(JsonObject event) {
    if (event.getValue("metadata") instanceof JsonObject metadata
        && metadata.getValue("log_version") instanceof String form
        && !form.equals(OcsfRow.FORM)) {
      throw new IllegalArgumentException(
          "it is of form %s, and this command knows form %s; take a newer one"
              .formatted(form, OcsfRow.FORM));
    }
  }

  private void row(RecordedRow row) {
    requireOrg(row.orgId());
    if (rows.size() == Seal.MAX_ROWS) {
      throw new IllegalArgumentException(
          "%s rows stand before it without a seal, the most that a batch has"
              .formatted(Seal.MAX_ROWS));
    }
    if (!rows.isEmpty()) {
      RecordedRow before = rows.get(rows.size() - 1);
      if (!before.chain().equals(row.chain()) || before.id() >= row.id()) {
        throw new IllegalArgumentException(
            "row %s of the %s does not follow row %s of the %s: the seal between them is gone"
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
          "it is of organization '%s', and what stands before it of '%s'".formatted(found, orgId));
    }
  }

  private void seal(OcsfSeal told, Place place) {
    Seal seal = told.seal();
    requireOrg(seal.chain().orgId());
    if (seal.isPurged() ? !rows.isEmpty() : !isOf(seal)) {
      throw new IllegalArgumentException(
          "the rows before it are not those of batch %s, which has %s: one is changed, gone or added"
              .formatted(seal.batch(), seal.isPurged() ? "none left" : counted(seal)));
    }
    long oldest = rows.stream().mapToLong(RecordedRow::atMillis).min().orElse(0);
    rows.clear();
    Proven proven = new Proven(told, place, oldest);
    Proven known = chain(seal).get(seal.batch());
    if (known != null && !known.seal().seal().equals(seal.seal())) {
      throw new IllegalArgumentException(
          "batch %s has another seal than in %s:%s"
              .formatted(seal.batch(), known.place().file(), known.place().line()));
    }
    // What was sent twice counts once, and as it was before its rows were purged.
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

  /** A file has ended, and with it the batch that it ends with. */
  public void end(String file, long lines) throws Unsound {
    if (!rows.isEmpty()) {
      throw new Unsound(new Place(file, lines), "the file ends before the seal of its last rows");
    }
  }

  /** The chains, when all their batches follow each other; none when there was no batch. */
  public List<ProvenChain> chains() throws Unsound {
    List<ProvenChain> found = new ArrayList<>();
    for (NavigableMap<Long, Proven> batches : chains.values()) {
      found.add(proven(batches));
    }
    return found;
  }

  private static ProvenChain proven(NavigableMap<Long, Proven> batches) throws Unsound {
    Proven before = null;
    for (Proven each : batches.values()) {
      if (before == null && each.seal().batch() == 1 && !each.told().previous().isEmpty()) {
        throw new Unsound(each.place(), "batch 1 follows another");
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

  private static void requireFollows(Proven before, Proven each) throws Unsound {
    long awaited = before.seal().batch() + 1;
    if (each.seal().batch() != awaited) {
      throw new Unsound(
          each.place(),
          "batch %s of the %s follows batch %s: batch %s is missing"
              .formatted(
                  each.seal().batch(),
                  OcsfRow.name(each.seal().chain()),
                  before.seal().batch(),
                  awaited));
    }
    if (!each.told().previous().equals(before.seal().seal())
        || each.seal().firstId() <= before.seal().lastId()) {
      throw new Unsound(
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
