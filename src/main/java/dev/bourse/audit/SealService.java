package dev.bourse.audit;

import dev.bourse.core.ApiException;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Verifies sealed trails, a bounded number of batches at a time. */
public final class SealService {
  /** Rows of one run: some 100 ms of a reader and of a worker. */
  static final int ROWS_PER_RUN = 10_000;

  /**
   * Batches of one run, a limit for quiet trails with small batches; each batch also has 16 bytes
   * per row.
   */
  static final int BATCHES_PER_RUN = 500;

  private final Vertx vertx;
  private final SealStore store;
  private final TrailStore trails;

  public SealService(Vertx vertx, Database database) {
    this.vertx = vertx;
    this.store = new SealStore(database);
    this.trails = new TrailStore(database);
  }

  /** The last batch of a chain. A copy of it kept elsewhere proves all rows up to it. */
  public record Head(long batch, String seal, long sealedAtMillis) {}

  /**
   * The result of one run.
   *
   * @param batches the number of sound batches, including purged ones
   * @param rows the number of sound rows
   * @param purgedBatches the number of sealed batches without rows
   * @param next the batch after which the next run continues; null at the end of the chain
   * @param throughId rows with larger ids are not sealed yet
   * @param head null while nothing is sealed
   * @param fault null if the whole run is sound
   */
  public record Report(
      Chain chain,
      int batches,
      long rows,
      int purgedBatches,
      @Nullable Long next,
      long throughId,
      @Nullable Head head,
      @Nullable SealFault fault) {}

  /** The data to verify. */
  private record Run(
      Chain chain,
      long throughId,
      long afterBatch,
      Seal.@Nullable Link before,
      List<Seal> seals,
      List<RecordedRow> rows,
      List<RecordedRow> beyond,
      @Nullable Seal head) {}

  /**
   * Verifies the batches of a chain after one, until the run is long enough or a fault is found.
   *
   * <p>Fails with an {@link ApiException} {@code not-found} if there is no such organization.
   *
   * @param afterBatch 0 for the start
   */
  public Future<Report> verifySeals(Chain chain, long afterBatch) {
    return trails.requireTrail(chain.orgId()).compose(known -> verify(chain, afterBatch));
  }

  private Future<Report> verify(Chain chain, long afterBatch) {
    // Reads the seal position first, because seals that are read later can only be further.
    return store
        .readThroughId()
        .compose(through -> gather(chain, through, afterBatch))
        .compose(run -> vertx.executeBlocking(() -> report(run), false));
  }

  private Future<Run> gather(Chain chain, long throughId, long afterBatch) {
    return store
        .listSizes(chain, afterBatch, BATCHES_PER_RUN)
        .compose(
            sizes -> {
              long toBatch = lastOfRun(sizes, afterBatch);
              return store
                  .listSeals(chain, afterBatch, toBatch)
                  .compose(
                      stored ->
                          store
                              .findHead(chain)
                              .compose(head -> gather(chain, throughId, afterBatch, stored, head)))
                  .compose(
                      run ->
                          store
                              .listSeals(chain, afterBatch, toBatch)
                              .map(now -> settled(run, now)));
            });
  }

  /**
   * Drops the rows of a batch that was purged between the reads of its seal and of its rows, which
   * a second read of the seals shows.
   */
  private static Run settled(Run run, List<Seal> now) {
    Set<Long> purgedBefore = new HashSet<>();
    run.seals().stream().filter(Seal::isPurged).forEach(seal -> purgedBefore.add(seal.batch()));
    List<Seal> purgedMeanwhile =
        now.stream()
            .filter(seal -> seal.isPurged() && !purgedBefore.contains(seal.batch()))
            .toList();
    List<RecordedRow> rows =
        run.rows().stream()
            .filter(
                row ->
                    purgedMeanwhile.stream()
                        .noneMatch(seal -> row.id() >= seal.firstId() && row.id() <= seal.lastId()))
            .toList();
    return new Run(
        run.chain(),
        run.throughId(),
        run.afterBatch(),
        before(run.afterBatch(), now),
        after(run.afterBatch(), now),
        rows,
        run.beyond(),
        run.head());
  }

  private static Seal.@Nullable Link before(long afterBatch, List<Seal> stored) {
    return afterBatch == 0
        ? Seal.Link.BEGINNING
        : stored.stream()
            .filter(seal -> seal.batch() == afterBatch)
            .findFirst()
            .map(Seal::link)
            .orElse(null);
  }

  private static List<Seal> after(long afterBatch, List<Seal> stored) {
    return stored.stream().filter(seal -> seal.batch() > afterBatch).toList();
  }

  private static long lastOfRun(List<SealStore.Size> sizes, long afterBatch) {
    long last = afterBatch;
    long rows = 0;
    for (SealStore.Size size : sizes) {
      rows += Math.min(Math.max(size.rows(), 0), Seal.MAX_ROWS);
      if (rows > ROWS_PER_RUN && last > afterBatch) {
        break;
      }
      last = size.batch();
    }
    return last;
  }

  private Future<Run> gather(
      Chain chain, long throughId, long afterBatch, List<Seal> stored, Optional<Seal> head) {
    List<Seal> seals = after(afterBatch, stored);
    Seal.Link before = before(afterBatch, stored);
    long lastId = seals.isEmpty() ? endOf(before) : seals.get(seals.size() - 1).lastId();
    boolean isEnd = seals.isEmpty() || head.map(h -> h.batch()).equals(last(seals));
    Future<List<RecordedRow>> rows =
        seals.isEmpty()
            ? Future.succeededFuture(List.of())
            : store.listRows(
                chain,
                before == null ? seals.get(0).firstId() - 1 : before.lastId(),
                lastId,
                seals.stream().mapToLong(seal -> seal.rows().count()).sum() + 1);
    // No rows may follow the last batch up to the seal position either.
    Future<List<RecordedRow>> beyond =
        isEnd && (before != null || !seals.isEmpty())
            ? store.listRows(chain, lastId, throughId, 1)
            : Future.succeededFuture(List.of());
    return Future.all(rows, beyond)
        .map(
            both ->
                new Run(
                    chain,
                    throughId,
                    afterBatch,
                    before,
                    seals,
                    rows.result(),
                    beyond.result(),
                    head.orElse(null)));
  }

  private static Optional<Long> last(List<Seal> seals) {
    return Optional.of(seals.get(seals.size() - 1).batch());
  }

  private static long endOf(Seal.@Nullable Link before) {
    return before == null ? Long.MAX_VALUE : before.lastId();
  }

  private static Report report(Run run) {
    int sound = 0;
    int purged = 0;
    long rows = 0;
    int at = 0;
    Seal.Link before = run.before();
    for (Seal seal : run.seals()) {
      int end = at;
      while (end < run.rows().size() && run.rows().get(end).id() <= seal.lastId()) {
        end++;
      }
      List<RecordedRow> mine = new ArrayList<>(run.rows().subList(at, end));
      Optional<SealFault> fault = SealVerification.check(before, seal, mine);
      if (fault.isPresent()) {
        return report(run, sound, rows, purged, fault.get());
      }
      sound++;
      rows += mine.size();
      purged += seal.isPurged() ? 1 : 0;
      before = seal.link();
      at = end;
    }
    if (!run.beyond().isEmpty()) {
      long id = run.beyond().get(0).id();
      SealFault added =
          new SealFault(
              before == null ? 1 : before.batch() + 1,
              id,
              SealFault.What.ADDED,
              """
              row %s is in no batch, although all rows up to %s are sealed: it was inserted later, \
              or the seal of its batch is missing\
              """
                  .formatted(id, run.throughId()));
      return report(run, sound, rows, purged, added);
    }
    return report(run, sound, rows, purged, null);
  }

  private static Report report(
      Run run, int sound, long rows, int purged, @Nullable SealFault fault) {
    Seal head = run.head();
    long last =
        fault != null
            ? fault.batch()
            : run.seals().isEmpty() ? run.afterBatch() : last(run.seals()).orElseThrow();
    return new Report(
        run.chain(),
        sound,
        rows,
        purged,
        head != null && last < head.batch() ? (Long) last : null,
        run.throughId(),
        head == null ? null : new Head(head.batch(), head.seal(), head.sealedAtMillis()),
        fault);
  }
}
