package dev.bourse.audit;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Gathers the rows of all trails, in the order of their ids, into batches. */
final class BatchBuilder {
  /**
   * Rows of one commit: many, so that busy chains get whole batches although their rows lie
   * scattered; but no more, because a lost race repeats them. About 5 MB.
   */
  private static final int MAX_ROWS = 50_000;

  /** Chains of one commit, each at least a row of its own: they hold the writer for some 20 ms. */
  private static final int MAX_CHAINS = 1_000;

  /** Whose reads are noted with one commit: as many rows, which hold the writer for some 20 ms. */
  private static final int MAX_READERS = 5_000;

  /** Some rows of one chain, at most a batch. */
  private static final class Draft {
    final RowDigests.Gathered rows = new RowDigests.Gathered();
    int count;
    long newestAtMillis = ReadSegments.LOST_AT_MILLIS;

    void add(RecordedRow row) {
      rows.add(row.id(), RowDigests.of(row));
      newestAtMillis = Math.max(newestAtMillis, row.atMillis());
      count++;
    }

    /** What is lost is kept as long as if it had just been written. */
    long newestAtMillis(long nowMillis) {
      return newestAtMillis == ReadSegments.LOST_AT_MILLIS ? nowMillis : newestAtMillis;
    }
  }

  private final long fromId;
  private final Map<Chain, List<Draft>> chains = new LinkedHashMap<>();
  private final Set<ReadActors.Presence> readers = new HashSet<>();
  private int rows;
  private int tableRows;
  private long throughId;

  /**
   * @param fromId the id up to which all is sealed
   */
  BatchBuilder(long fromId) {
    this.fromId = fromId;
    throughId = fromId;
  }

  long fromId() {
    return fromId;
  }

  /** The id up to which its rows were taken. */
  long throughId() {
    return throughId;
  }

  boolean isFull() {
    return rows >= MAX_ROWS || chains.size() >= MAX_CHAINS || readers.size() >= MAX_READERS;
  }

  /** How many of its rows are rows of the table, and not entries of segments. */
  int tableRows() {
    return tableRows;
  }

  List<Chain> chains() {
    return List.copyOf(chains.keySet());
  }

  /** Whose reads are among the rows. */
  Set<ReadActors.Presence> readers() {
    return readers;
  }

  /** Takes the next rows until it is full. */
  void add(List<RecordedRow> next) {
    for (RecordedRow row : next) {
      if (isFull()) {
        return;
      }
      List<Draft> drafts = chains.computeIfAbsent(row.chain(), chain -> new ArrayList<>());
      if (drafts.isEmpty() || drafts.get(drafts.size() - 1).count == Seal.MAX_ROWS) {
        drafts.add(new Draft());
      }
      drafts.get(drafts.size() - 1).add(row);
      if (row.isRead() && row.atMillis() != ReadSegments.LOST_AT_MILLIS) {
        readers.add(ReadActors.Presence.of(row));
      }
      rows++;
      tableRows += row.isSegmented() ? 0 : 1;
      throughId = row.id();
    }
  }

  /** There are no more rows up to this id. */
  void endAt(long id) {
    throughId = id;
  }

  /**
   * The batches.
   *
   * @param heads the last batch of each chain that has one; moved on to the new ones
   */
  List<Seal> seal(Map<Chain, Seal.Link> heads, long nowMillis) {
    List<Seal> seals = new ArrayList<>();
    chains.forEach(
        (chain, drafts) -> {
          for (Draft draft : drafts) {
            Seal.Link previous = heads.getOrDefault(chain, Seal.Link.BEGINNING);
            Seal seal =
                Seal.sealing(
                    chain, previous, draft.rows.all(), draft.newestAtMillis(nowMillis), nowMillis);
            if (seal.firstId() <= previous.lastId()) {
              throw new IllegalStateException(
                  "rows are sealed up to %s, past the %s that is noted in audit_sealed; somebody set it back"
                      .formatted(previous.lastId(), fromId));
            }
            seals.add(seal);
            heads.put(chain, seal.link());
          }
        });
    return seals;
  }
}
