package dev.bourse.app;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobGone;
import dev.bourse.blob.LocalBlobs;
import dev.bourse.blob.StorageBusy;
import dev.bourse.blob.StorageFault;
import dev.bourse.blob.StorageFull;
import dev.bourse.checkpoint.CheckpointChanges;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.ContentRoutes;
import dev.bourse.checkpoint.ContentService;
import dev.bourse.checkpoint.DirectUploadService;
import dev.bourse.checkpoint.Landing;
import dev.bourse.checkpoint.PublicCheckpointRoutes;
import dev.bourse.checkpoint.ReviewService;
import dev.bourse.checkpoint.Standing;
import dev.bourse.checkpoint.Sweep;
import dev.bourse.checkpoint.SweepStore;
import dev.bourse.checkpoint.UploadSessionService;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Operations;
import dev.bourse.operator.CheckpointAdminRoutes;
import dev.bourse.operator.DocumentRoutes;
import dev.bourse.operator.ReviewRoutes;
import dev.bourse.store.Database;
import dev.bourse.store.Upkeep;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts that keep published files, put together. */
final class Checkpoints {
  private static final Logger LOG = LoggerFactory.getLogger(Checkpoints.class);

  /** Where the bytes are in the data folder. */
  static final String FOLDER = "checkpoints";

  /** Somebody has to make room first; seconds would not do. */
  private static final long RETRY_FULL_MILLIS = 120_000;

  private static final long RETRY_MILLIS = 1_000;

  private Checkpoints() {}

  /**
   * Binds the operations and starts the sweep; gives what other ways in call.
   *
   * @param standing knows who may publish
   * @param baseUrl what clients call the service, for the addresses of upload sessions
   */
  static Future<CheckpointService> start(
      Ground ground,
      Operations operations,
      Database database,
      Standing standing,
      Supplier<String> baseUrl) {
    if (ground.config().checkpoints().enabled() && database.isShared()) {
      LOG.warn(
          "checkpoints are kept on this machine's disk, and other processes on the same database do"
              + " not see them: send /api/checkpoints and /upload to this one alone, or set"
              + " checkpoints.enabled to false on all");
    }
    Vertx vertx = ground.vertx();
    Config config = ground.config();
    Clock clock = ground.clock();
    RandomGenerator random = ground.random();
    return LocalBlobs.open(vertx, config.data().resolve(FOLDER), bounds(config), clock)
        .map(
            blobs -> {
              CheckpointStore store = new CheckpointStore(database);
              CheckpointChanges changes = new CheckpointChanges(store, config.checkpoints(), clock);
              CheckpointService checkpoints = new CheckpointService(changes, store, clock, random);
              Landing landing = new Landing(changes, store, clock, random);
              UploadSessionService sessions =
                  new UploadSessionService(checkpoints, landing, store, standing, blobs, clock);
              DirectUploadService direct =
                  new DirectUploadService(
                      checkpoints, landing, sessions, standing, blobs, clock, random);
              new PublicCheckpointRoutes(checkpoints).bind(operations);
              new CheckpointRoutes(checkpoints, direct, sessions, baseUrl).bind(operations);
              ContentService contents =
                  new ContentService(store, blobs, config.checkpoints().openFiles());
              new ContentRoutes(config.checkpoints(), contents).bind(operations);
              new DocumentRoutes(checkpoints, direct, sessions, baseUrl).bind(operations);
              new CheckpointAdminRoutes(checkpoints).bind(operations);
              new ReviewRoutes(
                      new ReviewService(changes, store, clock), contents, config.checkpoints())
                  .bind(operations);
              Sweep sweep =
                  new Sweep(changes, new SweepStore(database), blobs, clock, ground.time());
              Upkeep upkeep =
                  new Upkeep(
                      vertx,
                      "deleting bytes of no more use",
                      config.checkpoints().sweepMillis(),
                      System::nanoTime,
                      () -> sessions.closeIdle().compose(closed -> sweep.run()).map(n -> n > 0));
              ground.stops().push(blobs::close);
              upkeep.start();
              ground.stops().push(upkeep::stop);
              return checkpoints;
            });
  }

  private static BlobConfig bounds(Config config) {
    return BlobConfig.defaults().withOpenBlobs(config.checkpoints().openFiles());
  }

  /** A fault of the bytes' store as clients are told of it; what names files is logged. */
  static Optional<ApiError> translate(Throwable fault) {
    if (fault instanceof StorageBusy) {
      return Optional.of(
          ApiError.retryLater(
              ErrorCode.OVERLOADED, "too many files are being moved at once", RETRY_MILLIS));
    }
    if (fault instanceof BlobGone) {
      // Another request, or another process, ended what this one was at.
      return Optional.of(
          ApiError.retryLater(
              ErrorCode.OVERLOADED,
              "these bytes were published or given up meanwhile; look at the item",
              RETRY_MILLIS));
    }
    if (fault instanceof StorageFull) {
      LOG.warn("no room for checkpoints: {}", fault.getMessage());
      return Optional.of(
          ApiError.retryLater(
              ErrorCode.STORAGE_FULL, "there is no room for these bytes now", RETRY_FULL_MILLIS));
    }
    if (fault instanceof StorageFault) {
      LOG.error("the checkpoints' storage fails", fault);
      return Optional.of(
          ApiError.retryLater(
              ErrorCode.OVERLOADED, "the bytes cannot be stored or read now", RETRY_MILLIS));
    }
    return Optional.empty();
  }
}
