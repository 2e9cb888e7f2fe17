package dev.bourse.audit;

import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Finds the newest entries of segments, for pages. */
final class ReadPages {
  /**
   * Headers in the first query: a page usually has 100 entries, and each segment has at least one.
   */
  private static final int FIRST_HEADERS = 4;

  private static final int MORE_HEADERS = 128;

  /** How often a page restarts if a segment it needs was trimmed or purged in the meantime. */
  private static final int TRIES = 4;

  private static final String HEADER = "first_id, last_id, entry_count, actors";

  /** Selects the last segments below an id, and earlier ones that overlap with them. */
  static final String HEADERS =
      """
      WITH top AS (SELECT %1$s FROM %2$s WHERE org_id = ? AND first_id < ? AND first_id > ? \
      ORDER BY first_id DESC LIMIT ?) \
      SELECT %1$s, 1 AS is_top FROM top UNION ALL \
      SELECT %1$s, 0 AS is_top FROM %2$s WHERE org_id = ? \
      AND first_id < (SELECT MIN(first_id) FROM top) \
      AND first_id > (SELECT MIN(first_id) FROM top) - %3$d \
      AND last_id >= (SELECT MIN(first_id) FROM top)\
      """
          .formatted(HEADER, ReadSegments.TABLE, ReadSegments.MOST_SPAN);

  private static final String BODIES =
      "SELECT %s FROM %s WHERE first_id IN (%s)"
          .formatted(
              ReadSegments.WHOLE,
              ReadSegments.TABLE,
              String.join(", ", Collections.nCopies(ReadSegments.PER_READ, "?")));

  private record Header(
      long firstId, long lastId, long entryCount, ActorFilter actors, boolean isTop) {}

  /** A listed segment no longer exists. */
  private static final class SegmentPurgedException extends RuntimeException {
    SegmentPurgedException() {
      super("a segment was purged while the trail was read", null, false, false);
    }
  }

  private final Database database;
  private final ReadActors actors;
  private final SealStore seals;

  ReadPages(Database database) {
    this.database = database;
    this.actors = new ReadActors(database);
    this.seals = new SealStore(database);
  }

  /**
   * Returns the newest entries of a trail below an id, newest first.
   *
   * @param actor returns only entries of this actor; empty for all
   * @param above returns only entries above this id
   */
  Future<List<TrailEntry>> newest(
      String owner, Optional<String> actor, long before, long above, int wanted) {
    return newest(new Search(owner, actor, wanted, new ArrayList<>()), before, above, TRIES);
  }

  private Future<List<TrailEntry>> newest(Search search, long before, long above, int triesLeft) {
    return search(search, before, above)
        .map(done -> search.newest())
        .recover(
            e -> {
              if (e instanceof SegmentPurgedException && triesLeft > 1) {
                search.found.clear();
                return newest(search, before, above, triesLeft - 1);
              }
              return Future.failedFuture(e);
            });
  }

  /** Searches one actor's entries among unsealed segments, and then in the actor's stretches. */
  private Future<Void> search(Search search, long before, long above) {
    if (search.actor.isEmpty()) {
      return descend(search, before, above, FIRST_HEADERS);
    }
    return seals
        .readThroughId()
        .compose(
            through ->
                descend(search, before, Math.max(above, through), MORE_HEADERS)
                    .compose(
                        done ->
                            descendStretches(
                                search, search.actor.get(), Math.min(before, through + 1), above)));
  }

  private Future<Void> descendStretches(Search search, String actor, long below, long above) {
    return actors
        .listBelow(search.owner, actor, below)
        .compose(stretches -> descendEach(search, actor, stretches, below, above));
  }

  private Future<Void> descendEach(
      Search search, String actor, List<ReadActors.Stretch> stretches, long below, long above) {
    if (stretches.isEmpty()) {
      return Future.succeededFuture();
    }
    ReadActors.Stretch next = stretches.get(0);
    long end = Math.min(below, next.endId());
    if (end - 1 <= above || search.isEnoughAbove(end - 1)) {
      return Future.succeededFuture();
    }
    List<ReadActors.Stretch> rest = stretches.subList(1, stretches.size());
    return descend(search, end, Math.max(above, next.firstId() - 1), MORE_HEADERS)
        .compose(
            done ->
                rest.isEmpty()
                    ? descendStretches(search, actor, next.firstId(), above)
                    : descendEach(search, actor, rest, next.firstId(), above));
  }

  private record Search(String owner, Optional<String> actor, int wanted, List<TrailEntry> found) {
    boolean mayHave(Header header) {
      return actor.isEmpty() || header.actors.mayHave(actor.get());
    }

    void take(List<TrailEntry> entries, long from, long below) {
      for (TrailEntry entry : entries) {
        if (entry.id() >= from
            && entry.id() < below
            && (actor.isEmpty() || entry.actor().equals(actor.get()))) {
          found.add(entry);
        }
      }
    }

    /** Returns whether entries at or below an id cannot add to the result. */
    boolean isEnoughAbove(long id) {
      return found.stream().filter(entry -> entry.id() > id).count() >= wanted;
    }

    List<TrailEntry> newest() {
      return found.stream()
          .sorted(Comparator.comparingLong(TrailEntry::id).reversed())
          .limit(wanted)
          .toList();
    }
  }

  /**
   * Searches down the trail to an id, a number of segments at a time, until enough entries are
   * found.
   */
  private Future<Void> descend(Search search, long below, long above, int headers) {
    if (below - 1 <= above) {
      return Future.succeededFuture();
    }
    return database
        .read(
            HEADERS,
            List.of(search.owner, below, above - ReadSegments.MOST_SPAN, headers, search.owner),
            row ->
                new Header(
                    row.integer("first_id"),
                    row.integer("last_id"),
                    row.integer("entry_count"),
                    ActorFilter.stored(row.bytes("actors")),
                    row.truth("is_top")))
        .compose(
            listed -> {
              List<Header> top = listed.stream().filter(Header::isTop).toList();
              if (top.isEmpty()) {
                return Future.succeededFuture();
              }
              long from = top.stream().mapToLong(Header::firstId).min().orElseThrow();
              List<Header> candidates =
                  listed.stream()
                      .filter(search::mayHave)
                      .sorted(Comparator.comparingLong(Header::lastId).reversed())
                      .toList();
              return read(search, candidates, Math.max(from, above + 1), below)
                  .compose(
                      done ->
                          top.size() < headers || search.isEnoughAbove(from - 1)
                              ? Future.succeededFuture()
                              : descend(search, from, above, MORE_HEADERS));
            });
  }

  /** Reads the entries of segments between two ids, until enough are found. */
  private Future<Void> read(Search search, List<Header> candidates, long from, long below) {
    if (candidates.isEmpty() || search.isEnoughAbove(candidates.get(0).lastId())) {
      return Future.succeededFuture();
    }
    List<Object> next = new ArrayList<>();
    long entries = 0;
    while (next.size() < Math.min(ReadSegments.PER_READ, candidates.size())
        && (entries < search.wanted || search.actor.isPresent())) {
      entries += candidates.get(next.size()).entryCount();
      next.add(candidates.get(next.size()).firstId());
    }
    int read = next.size();
    // The SQL text must not vary with the number of ids, so the last id is repeated.
    while (next.size() < ReadSegments.PER_READ) {
      next.add(next.get(read - 1));
    }
    return database
        .read(BODIES, next, ReadSegments::decoded)
        .compose(
            segments -> {
              if (segments.size() < read) {
                return Future.failedFuture(new SegmentPurgedException());
              }
              segments.forEach(segment -> search.take(segment.entries(), from, below));
              return read(search, candidates.subList(read, candidates.size()), from, below);
            });
  }
}
