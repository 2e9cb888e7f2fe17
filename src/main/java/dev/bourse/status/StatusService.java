package dev.bourse.status;

import dev.bourse.core.ClockView;
import dev.bourse.market.MarketStatus;
import dev.bourse.store.Database;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reads how the whole site stands. */
public final class StatusService {
  /** As many of the organizations that are held longest for their money; the rest are counted. */
  static final int MOST_HELD = 20;

  private final StatusStore store;
  private final MarketStatus markets;
  private final ServingProcess process;

  // Guarded by this object.
  private @Nullable Future<StatusView> underWay;

  /**
   * What is known of the process that answers.
   *
   * @param version of the program
   * @param id as leases of markets name it
   * @param disk reads how full the disk of its data folder is
   * @param clock what it knows of the clocks
   */
  public record ServingProcess(
      String version, String id, Supplier<Future<Disk>> disk, Supplier<ClockView> clock) {}

  /**
   * How full a disk is.
   *
   * @param freeBytes what this process may still write
   * @param totalBytes its size
   */
  public record Disk(long freeBytes, long totalBytes) {}

  public StatusService(Database database, MarketStatus markets, ServingProcess process) {
    this.store = new StatusStore(database);
    this.markets = markets;
    this.process = process;
  }

  /** How all stands; whoever asks while it is read gets the same answer. */
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
    Future<Long> schema = store.readSchema();
    Future<Long> processes = store.countProcesses();
    Future<List<StatusStore.HeldCount>> held = store.countHeld();
    Future<List<StatusStore.HeldOrg>> longest = store.listHeld(MOST_HELD);
    Future<Long> byOperators = store.countHeldByOperators();
    Future<StatusStore.Queue> reviews = store.readReviews();
    Future<StatusStore.Queue> uploads = store.readUploads(process.clock().get().nowMillis());
    Future<StatusStore.Queue> mails = store.readMails();
    Future<StatusStore.Queue> deliveries = store.readDeliveries();
    // A disk that cannot be asked is no reason to tell nothing of the rest.
    Future<Disk> disk = process.disk().get().otherwiseEmpty();
    return Future.all(
            List.of(
                standing,
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
                    // The process that answers is there, whether or not its row says so by now.
                    Math.max(1, processes.result()),
                    standing.result(),
                    new StatusView.Held(held.result(), longest.result(), byOperators.result()),
                    new StatusView.Queues(
                        reviews.result(), uploads.result(), mails.result(), deliveries.result()),
                    disk.result()));
  }
}
