package dev.bourse.status;

import dev.bourse.billing.Month;
import dev.bourse.core.ClockView;
import dev.bourse.market.MarketStatus;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads the status of the whole site. */
public final class StatusService {
  /** Organizations listed by name, those held longest first; the others are only counted. */
  static final int MOST_HELD = 20;

  private final StatusStore store;
  private final MarketStatus markets;
  private final ServingProcess process;

  // The read in progress, or the last one; guarded by this object.
  private @Nullable Future<StatusView> underWay;

  /**
   * The process that answers.
   *
   * @param version of the program
   * @param id its id in market leases
   * @param disk reads the usage of the data folder's disk
   * @param clock reads the state of the clocks
   */
  public record ServingProcess(
      String version, String id, Supplier<Future<Disk>> disk, Supplier<ClockView> clock) {}

  /**
   * Usage of a disk.
   *
   * @param freeBytes space this process may still use
   * @param totalBytes size of the disk
   */
  public record Disk(long freeBytes, long totalBytes) {}

  public StatusService(Database database, MarketStatus markets, ServingProcess process) {
    this.store = new StatusStore(database);
    this.markets = markets;
    this.process = process;
  }

  /** Returns the site's status. Concurrent callers share one read. */
  public synchronized Future<StatusView> readStatus() {
    Future<StatusView> reading = underWay;
    if (reading == null || reading.isComplete()) {
      reading = read();
      underWay = reading;
    }
    return reading;
  }

  private Future<StatusView> read() {
    Future<MarketStatus.Standing> standing = markets.read();
    long now = process.clock().get().nowMillis();
    Month month = Month.at(now);
    Future<Long> revenue = store.readRevenue(month);
    Future<Long> schema = store.readSchema();
    Future<Long> processes = store.countProcesses();
    Future<List<StatusStore.HeldCount>> held = store.countHeld();
    Future<List<StatusStore.HeldOrg>> longest = store.listHeld(MOST_HELD);
    Future<Long> byOperators = store.countHeldByOperators();
    Future<StatusStore.Queue> reviews = store.readReviews();
    Future<StatusStore.Queue> uploads = store.readUploads(now);
    Future<StatusStore.Queue> mails = store.readMails();
    Future<StatusStore.Queue> deliveries = store.readDeliveries();
    // An unreadable disk must not hide the rest of the status.
    Future<Disk> disk = process.disk().get().otherwiseEmpty();
    return Future.all(
            List.of(
                standing,
                revenue,
                schema,
                processes,
                held,
                longest,
                byOperators,
                reviews,
                uploads,
                mails,
                deliveries,
                disk))
        .map(
            read ->
                new StatusView(
                    process,
                    schema.result(),
                    // This process runs, even if its row in the store is not yet written.
                    Math.max(1, processes.result()),
                    standing.result(),
                    new StatusView.Revenue(month, revenue.result()),
                    new StatusView.Held(held.result(), longest.result(), byOperators.result()),
                    new StatusView.Queues(
                        reviews.result(), uploads.result(), mails.result(), deliveries.result()),
                    disk.result()));
  }
}
