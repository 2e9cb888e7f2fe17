package dev.bourse.audit;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collects the rows of all trails, in the order of their ids, into batches. */
final class BatchBuilder {
  /**
   * Rows of one commit: enough that busy chains fill whole batches although their rows are
   * scattered, and few enough that repeating them after a lost race is cheap. About 5 MB.
   */
  private static final int MAX_ROWS = 50_000;

  /**
   * Chains of one commit, each at least one row of its own: they hold the writer for some 20 ms.
   */
  private static final int MAX_CHAINS = 1_000;

  /** Readers recorded in one commit, one row each, which hold the writer for some 20 ms. */
  private static final int MAX_READERS = 5_000;

  /** Rows of one chain, at most a batch. */
  private static final class Draft {
    final RowDigests.Gathered rows = new RowDigests.Gathered();
    int count;
    long newestAtMillis = ReadSegments.LOST_AT_MILLIS;

    void add(RecordedRow row) {
      rows.add(row.id(), RowDigests.of(row));
      newestAtMillis = Math.max(newestAtMillis, row.atMillis());
      count++;
    }

    /** Returns the newest time; lost reads count as written now, so that they are kept as long. */
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
   * @param fromId the id up to which all rows are sealed
   */
  BatchBuilder(long fromId) {
    this.fromId = fromId;
    throughId = fromId;
  }

  long fromId() {
    return fromId;
  }

  /** Returns the id up to which its rows were taken. */
  long throughId() {
    return throughId;
  }

  boolean isFull() {
    return rows >= MAX_ROWS || chains.size() >= MAX_CHAINS || readers.size() >= MAX_READERS;
  }

  /** Returns how many of its rows are rows of the table and not entries of segments. */
  int tableRows() {
    return tableRows;
  }

  List<Chain> chains() {
    return List.copyOf(chains.keySet());
  }

  /** Returns the actors and stretches of the reads among the rows. */
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

  /** Records that there are no more rows up to this id. */
  void endAt(long id) {
    throughId = id;
  }

  /**
   * Returns the sealed batches.
   *
   * @param heads the last batch of each chain that has one; updated to the new ones
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
                  "rows are sealed up to %s, beyond the %s in audit_sealed, which was set back"
                      .formatted(previous.lastId(), fromId));
            }
            seals.add(seal);
            heads.put(chain, seal.link());
          }
        });
    return seals;
  }
}
