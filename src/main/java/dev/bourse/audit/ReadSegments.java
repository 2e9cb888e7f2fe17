package dev.bourse.audit;

import dev.bourse.store.Database;
import dev.bourse.store.Row;
import dev.bourse.store.Statement;
import dev.bourse.store.StoreUnavailableException;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SQL of the segments. A segment's ids may be interleaved with those of other segments and of
 * rows, because processes take ids concurrently. Its span is at most {@link #MOST_SPAN}, which
 * bounds the search for an id.
 */
final class ReadSegments {
  private static final Logger LOG = LoggerFactory.getLogger(ReadSegments.class);

  /**
   * The largest distance between a segment's first and last id: its own ids, and 15 times as many
   * of others.
   */
  static final long MOST_SPAN = 16L * ReadSegment.MAX_ENTRIES;

  /** Segments of one query: up to 100 KB, and a millisecond of decoding. */
  static final int PER_READ = 8;

  /** Sentinel: the time of a lost read. */
  static final long LOST_AT_MILLIS = Long.MIN_VALUE;

  static final String TABLE = "audit_read_segment";
  static final String WHOLE = "first_id, last_id, org_id, entry_count, skips, body";

  private static final String LIST =
      "SELECT %s FROM %s WHERE %%s first_id > ? AND first_id <= ? AND last_id > ? ORDER BY first_id LIMIT ?"
          .formatted(WHOLE, TABLE);

  private static final String LIST_ALL = LIST.formatted("");
  private static final String LIST_OF_ORG = LIST.formatted("org_id = ? AND");

  private static final String INSERT =
      "INSERT INTO " + TABLE + " (first_id, last_id, skips, org_id, entry_count, actors, body) ";

  record Segment(String orgId, long firstId, long lastId, List<TrailEntry> entries) {}

  private final Database database;
  private final String insertWithNewIds;

  ReadSegments(Database database) {
    this.database = database;
    this.insertWithNewIds =
        INSERT
            + """
            SELECT ids.first_id, ids.last_id, ids.skips, CAST(? AS TEXT), CAST(? AS BIGINT), ?, ? \
            FROM (%s) AS ids WHERE ids.last_id - ids.first_id < %d\
            """
                .formatted(database.newTrailIdsSql(), MOST_SPAN);
  }

  /** Returns the statement that stores reads of one trail, in order, with new ids. */
  Statement insert(String owner, List<AuditRow> rows) {
    List<TrailEntry> entries =
        IntStream.range(0, rows.size())
            .mapToObj(
                i -> {
                  AuditRow row = rows.get(i);
                  return new TrailEntry(
                      i, row.atMillis(), row.actor(), row.action(), row.subject(), row.detail());
                })
            .toList();
    return Statement.guarded(
        () ->
            new StoreUnavailableException(
                "too many other processes took ids of the trail at the same time", null),
        insertWithNewIds,
        owner,
        entries.size(),
        ActorFilter.of(entries).bytes(),
        ReadSegment.encode(entries),
        entries.size());
  }

  private static Statement insertKept(String owner, List<TrailEntry> entries) {
    return Statement.of(
        INSERT + "VALUES (?, ?, '', ?, ?, ?, ?)",
        entries.get(0).id(),
        entries.get(entries.size() - 1).id(),
        owner,
        entries.size(),
        ActorFilter.of(entries).bytes(),
        ReadSegment.encode(entries));
  }

  static Segment decoded(Row row) {
    long firstId = row.integer("first_id");
    long lastId = row.integer("last_id");
    try {
      List<TrailEntry> entries =
          ReadSegment.skipping(ReadSegment.decode(firstId, row.bytes("body")), row.text("skips"));
      long last = entries.isEmpty() ? 0 : entries.get(entries.size() - 1).id();
      if (entries.size() != row.integer("entry_count") || last != lastId) {
        throw new ReadSegment.DamagedSegmentException(
            "its %s entries end at %s, but its row declares %s and %s"
                .formatted(entries.size(), last, row.integer("entry_count"), lastId));
      }
      return new Segment(row.text("org_id"), firstId, lastId, entries);
    } catch (ReadSegment.DamagedSegmentException e) {
      throw new ReadSegment.DamagedSegmentException(
          "the segment of reads with first_id " + firstId + " is damaged: " + e.getMessage());
    }
  }

  /**
   * Decodes a segment for verification. A damaged one is returned empty, and its seal reports the
   * missing entries.
   */
  private static Segment decodedIfSound(Row row) {
    try {
      return decoded(row);
    } catch (ReadSegment.DamagedSegmentException e) {
      LOG.warn("{}", e.getMessage());
      return new Segment(
          row.text("org_id"), row.integer("first_id"), row.integer("last_id"), List.of());
    }
  }

  /**
   * Decodes a segment for sealing. A damaged one becomes a single sentinel entry that no read can
   * match, so that the seal records permanently that its reads are missing.
   */
  private static Segment decodedOrLost(Row row) {
    try {
      return decoded(row);
    } catch (ReadSegment.DamagedSegmentException e) {
      LOG.error("{}; its reads are lost, and its seal will record that", e.getMessage());
      long lastId = row.integer("last_id");
      return new Segment(
          row.text("org_id"),
          row.integer("first_id"),
          lastId,
          List.of(new TrailEntry(lastId, LOST_AT_MILLIS, "", "", "", "")));
    }
  }

  /**
   * Entries in the order of their ids.
   *
   * @param throughId the list is complete up to this id
   */
  record Listed(List<RecordedRow> rows, long throughId) {}

  /**
   * Lists entries between two ids: all of them, or at least {@code enough}.
   *
   * @param owner the owner of the trail; empty for all trails, for sealing
   */
  Future<Listed> list(Optional<String> owner, long afterId, long upToId, int enough) {
    long after = Math.max(0, afterId);
    // In the order of ids, so that the rest of a trimmed segment is found after it.
    NavigableMap<Long, RecordedRow> found = new TreeMap<>();
    return gather(owner, after - MOST_SPAN, after, upToId, enough, found)
        .map(through -> new Listed(List.copyOf(found.headMap(through, true).values()), through));
  }

  private Future<Long> gather(
      Optional<String> owner,
      long aboveFirstId,
      long afterId,
      long upToId,
      int enough,
      NavigableMap<Long, RecordedRow> found) {
    return segments(owner, aboveFirstId, afterId, upToId)
        .compose(
            segments -> {
              for (Segment segment : segments) {
                for (TrailEntry entry : segment.entries()) {
                  if (entry.id() > afterId && entry.id() <= upToId) {
                    found.put(entry.id(), recorded(segment.orgId(), entry));
                  }
                }
              }
              if (segments.size() < PER_READ) {
                return Future.succeededFuture(upToId);
              }
              long through = segments.get(PER_READ - 1).firstId();
              return found.headMap(through, true).size() >= enough
                  ? Future.succeededFuture(through)
                  : gather(owner, through, afterId, upToId, enough, found);
            });
  }

  private Future<List<Segment>> segments(
      Optional<String> owner, long aboveFirstId, long afterId, long upToId) {
    List<Object> parameters = new ArrayList<>();
    owner.ifPresent(parameters::add);
    Collections.addAll(parameters, aboveFirstId, upToId, afterId, PER_READ);
    return owner.isPresent()
        ? database.read(LIST_OF_ORG, parameters, ReadSegments::decodedIfSound)
        : database.read(LIST_ALL, parameters, ReadSegments::decodedOrLost);
  }

  private static RecordedRow recorded(String owner, TrailEntry entry) {
    return new RecordedRow(
        entry.id(),
        entry.atMillis(),
        owner,
        entry.actor(),
        entry.action(),
        entry.subject(),
        entry.detail(),
        true,
        true);
  }

  /**
   * The statements that delete entries.
   *
   * @param entries the number of deleted entries
   */
  record Removal(List<Statement> statements, int entries) {}

  /**
   * Deletes a trail's entries from one id to another. Segments within the range are deleted, and
   * the rest of others is stored again.
   *
   * @param refusal the exception of the commit if the segments have changed
   */
  Future<Removal> remove(String owner, long firstId, long lastId, RuntimeException refusal) {
    List<Segment> found = new ArrayList<>();
    return collect(owner, firstId - MOST_SPAN, firstId - 1, lastId, found)
        .map(done -> removal(owner, firstId, lastId, found, refusal));
  }

  private Future<Void> collect(
      String owner, long aboveFirstId, long afterId, long upToId, List<Segment> found) {
    return segments(Optional.of(owner), aboveFirstId, afterId, upToId)
        .compose(
            segments -> {
              found.addAll(segments);
              return segments.size() < PER_READ
                  ? Future.succeededFuture()
                  : collect(owner, segments.get(PER_READ - 1).firstId(), afterId, upToId, found);
            });
  }

  private static Removal removal(
      String owner, long firstId, long lastId, List<Segment> found, RuntimeException refusal) {
    List<Statement> statements = new ArrayList<>();
    int whole = 0;
    int entries = 0;
    for (Segment segment : found) {
      List<TrailEntry> kept =
          segment.entries().stream()
              .filter(entry -> entry.id() < firstId || entry.id() > lastId)
              .toList();
      entries += segment.entries().size() - kept.size();
      if (segment.firstId() >= firstId && segment.lastId() <= lastId) {
        whole++;
      } else if (kept.size() < segment.entries().size()) {
        statements.add(
            Statement.guarded(
                () -> refusal,
                "DELETE FROM audit_read_segment WHERE first_id = ? AND entry_count = ?",
                segment.firstId(),
                segment.entries().size()));
        statements.add(insertKept(owner, kept));
      }
    }
    if (whole > 0) {
      statements.add(
          0,
          Statement.of(
                  """
                  DELETE FROM audit_read_segment \
                  WHERE org_id = ? AND first_id >= ? AND first_id <= ? AND last_id <= ?\
                  """,
                  owner,
                  firstId,
                  lastId,
                  lastId)
              .demanding(whole, () -> refusal));
    }
    return new Removal(statements, entries);
  }
}
