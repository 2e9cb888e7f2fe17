package dev.bourse.app;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.FallbackBlobStore;
import dev.bourse.blob.LocalBlobs;
import dev.bourse.blob.StorageBusyException;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.StorageFullException;
import dev.bourse.blob.UploadBusyException;
import dev.bourse.blob.s3.CallListener;
import dev.bourse.blob.s3.S3Blobs;
import dev.bourse.checkpoint.CheckpointChanges;
import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.ContentRoutes;
import dev.bourse.checkpoint.ContentService;
import dev.bourse.checkpoint.PublicCheckpointRoutes;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.ReadmeRoutes;
import dev.bourse.checkpoint.ReviewService;
import dev.bourse.checkpoint.SetStore;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.checkpoint.Sweep;
import dev.bourse.checkpoint.SweepStore;
import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import dev.bourse.docs.Readme;
import dev.bourse.edge.Operations;
import dev.bourse.feed.FeedRoutes;
import dev.bourse.jobs.BackgroundJob;
import dev.bourse.move.BlobMover;
import dev.bourse.move.MoveStore;
import dev.bourse.operator.CheckpointAdminRoutes;
import dev.bourse.operator.DocumentRoutes;
import dev.bourse.operator.MoveRoutes;
import dev.bourse.operator.ReviewRoutes;
import dev.bourse.operator.ScrubRoutes;
import dev.bourse.pages.PageTemplates;
import dev.bourse.scrub.FolderRegistry;
import dev.bourse.scrub.Scrub;
import dev.bourse.scrub.ScrubStore;
import dev.bourse.store.Database;
import dev.bourse.uploads.DirectUploadService;
import dev.bourse.uploads.PublishPermission;
import dev.bourse.uploads.ResumableUploads;
import dev.bourse.uploads.SetUploadService;
import dev.bourse.uploads.UploadRoutes;
import dev.bourse.uploads.UploadSessionService;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Assembles the storage of published files.
 *
 * @param checkpoints the service for other interfaces
 * @param direct uploads of one request
 * @param sessions uploads of many requests
 * @param sets uploads of sets' files
 * @param contents the bytes, for readers
 * @param reviews the operators' decisions
 * @param scrub the check of stored bytes
 * @param move the move of stored bytes to another store
 */
record CheckpointServices(
    CheckpointService checkpoints,
    DirectUploadService direct,
    UploadSessionService sessions,
    SetUploadService sets,
    ContentService contents,
    ReviewService reviews,
    Scrub scrub,
    BlobMover move) {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointServices.class);

  /** The folder of the bytes in the data folder. */
  static final String FOLDER = "checkpoints";

  /** The folder where bytes for an object store wait until their part is complete. */
  private static final String SPOOLS = "spools";

  /** The same folder for the former store, which receives no bytes but requires one. */
  private static final String FORMER_SPOOLS = "former-spools";

  /** An operator has to free space first, which takes longer than seconds. */
  private static final long RETRY_FULL_MILLIS = 120_000;

  private static final long RETRY_MILLIS = 1_000;

  /** How often a process checks whether a file's scrub is due or requested. */
  private static final long SCRUB_MILLIS = 2_000;

  /** Reviews are decided by people, so a minute more or less does not matter. */
  private static final long REVIEWS_MILLIS = 60_000;

  /** How often a process checks whether a move was requested, and retries after a failure. */
  private static final long MOVE_MILLIS = 2_000;

  /** Opens the store of the bytes, with the former one behind it, if there is one. */
  static Future<BlobStore> openBlobs(ServiceContext context, Database database) {
    Config config = context.config();
    BlobSettings settings = config.blobs();
    if (!config.checkpoints().enabled()) {
      return openFolder(context);
    }
    CallListener listener =
        settings.store().isShared()
                || settings.former().filter(BlobSettings.Place::isShared).isPresent()
            ? new ObjectStoreSignals(context.signals())
            : (operation, outcome, nanos) -> {};
    return open(context, database, settings.store(), SPOOLS, listener)
        .compose(
            store ->
                settings
                    .former()
                    .map(
                        place ->
                            open(context, database, place, FORMER_SPOOLS, listener)
                                .<BlobStore>map(former -> new FallbackBlobStore(store, former)))
                    .orElse(Future.succeededFuture(store)));
  }

  private static Future<BlobStore> open(
      ServiceContext context,
      Database database,
      BlobSettings.Place place,
      String spools,
      CallListener listener) {
    return place
        .objects()
        .map(
            objects ->
                S3Blobs.open(
                        new S3Blobs.Environment(
                            context.vertx(),
                            database,
                            context.config().data().resolve(spools),
                            context.clock(),
                            context.random(),
                            listener),
                        objects,
                        bounds(context.config()))
                    .<BlobStore>map(blobs -> blobs))
        .orElseGet(() -> openFolder(context));
  }

  private static Future<BlobStore> openFolder(ServiceContext context) {
    Config config = context.config();
    return LocalBlobs.open(
            context.vertx(), config.data().resolve(FOLDER), bounds(config), context.clock())
        .map(blobs -> blobs);
  }

  /**
   * Starts the background jobs, until the service stops.
   *
   * @param permission the rule by which members may publish
   */
  static CheckpointServices start(
      ServiceContext context, Database database, PublishPermission permission, BlobStore blobs) {
    if (context.config().checkpoints().enabled()
        && database.isShared()
        && !context.config().blobs().store().isShared()) {
      LOG.warn(
          """
          checkpoints are kept on this machine's disk, and other processes on the same \
          database do not see them: set checkpoints.store to an object store on all, or send \
          /api/checkpoints and /upload to this one alone\
          """);
    }
    CheckpointConfig config = context.config().checkpoints();
    Clock clock = context.clock();
    RandomGenerator random = context.random();
    CheckpointStore store = new CheckpointStore(database);
    SetStore sets = new SetStore(database);
    CheckpointChanges changes = new CheckpointChanges(store, config, clock);
    CheckpointService checkpoints = new CheckpointService(changes, store, sets, clock, random);
    Publication publication = new Publication(changes, store, clock, random);
    ResumableUploads uploads =
        new ResumableUploads(publication, permission, blobs, clock, ResumableUploads.WAIT_MILLIS);
    UploadSessionService sessions =
        new UploadSessionService(checkpoints, publication, store, uploads, blobs, sets, clock);
    Sweep sweep = new Sweep(changes, new SweepStore(database), sets, blobs, clock, context.time());
    context.signals().gauge("bourse_uploads_running", "Uploads in progress.", uploads::running);
    context
        .signals()
        .gauge(
            "bourse_searches_waiting",
            "Searches of checkpoints waiting in the queue.",
            checkpoints::searchesWaiting);
    ReviewService reviews = new ReviewService(changes, store, sets, clock);
    reviews.registerMetrics(context.signals());
    if (config.enabled()) {
      context.keepUp(
          BackgroundJob.inEachProcess(
              "read-reviews", "reading the queue of reviews", REVIEWS_MILLIS, reviews::look));
    }
    context.shutdown().pushLimited("the store of files", blobs::close);
    context.keepUp(
        BackgroundJob.inEachProcess(
            "delete-unused-bytes",
            "deleting unused bytes",
            config.sweepMillis(),
            () -> uploads.closeIdle().compose(closed -> sweep.run()).map(n -> n > 0)));
    return new CheckpointServices(
        checkpoints,
        new DirectUploadService(
            checkpoints, publication, uploads, permission, blobs, clock, random),
        sessions,
        new SetUploadService(sessions, uploads, sets, blobs),
        new ContentService(store, sets, blobs, config.openFiles()),
        reviews,
        startScrub(context, database, blobs),
        startMove(context, database, blobs));
  }

  private static BlobMover startMove(ServiceContext context, Database database, BlobStore blobs) {
    Config config = context.config();
    BlobSettings settings = config.blobs();
    boolean isAlone = !database.isShared();
    Optional<FallbackBlobStore> two =
        blobs instanceof FallbackBlobStore found ? Optional.of(found) : Optional.empty();
    BlobMover move =
        new BlobMover(
            context.vertx(),
            new MoveStore(database),
            new StoredBlobs(database),
            two.flatMap(
                stores ->
                    settings
                        .former()
                        .map(
                            place ->
                                new BlobMover.Place(
                                    place.name(), stores.former(), isAlone || place.isShared()))),
            new BlobMover.Place(
                settings.store().name(),
                two.map(FallbackBlobStore::store).orElse(blobs),
                isAlone || settings.store().isShared()),
            config.checkpoints().graceMillis(),
            context.nanoTime());
    if (two.isPresent()) {
      context.keepUp(
          BackgroundJob.inEachProcess(
              "move-files",
              "moving stored files",
              MOVE_MILLIS,
              () -> move.step(context.clock().millis())));
    }
    context.shutdown().pushLimited("the move of files", move::stop);
    return move;
  }

  /** The local folder of this process, if it stores bytes there. */
  private static Optional<LocalBlobs> folderOf(BlobStore blobs) {
    if (blobs instanceof FallbackBlobStore two) {
      return folderOf(two.store()).or(() -> folderOf(two.former()));
    }
    return blobs instanceof LocalBlobs local ? Optional.of(local) : Optional.empty();
  }

  private static Scrub startScrub(ServiceContext context, Database database, BlobStore blobs) {
    Scrub scrub =
        new Scrub(
            context.vertx(),
            new ScrubStore(database),
            new StoredBlobs(database),
            blobs,
            database.isShared() && !context.config().blobs().isShared()
                ? folderOf(blobs).map(own -> new FolderRegistry(database, own, context.time()))
                : Optional.empty(),
            context.config().scrub(),
            context.nanoTime());
    context
        .signals()
        .gauge(
            "bourse_scrub_faults",
            "Stored files that were found lost, changed or unreadable, of all processes.",
            scrub::faults);
    context
        .signals()
        .counter(
            "bourse_scrub_checked_bytes_total",
            "Bytes of stored files that this process verified.",
            scrub::checkedBytes);
    if (context.config().checkpoints().enabled()) {
      context.keepUp(
          BackgroundJob.inEachProcess(
              "scrub-files",
              "checking stored files",
              SCRUB_MILLIS,
              () -> scrub.step(context.clock().millis())));
    }
    context.shutdown().pushLimited("the scrub of files", scrub::stop);
    return scrub;
  }

  /**
   * Binds the operations.
   *
   * @param clock the time
   * @param templates with all of {@link FeedRoutes#TEMPLATES}
   * @param baseUrl the service's address for clients, for the addresses of upload sessions
   */
  void bind(
      Vertx vertx,
      Operations operations,
      CheckpointConfig config,
      Clock clock,
      PageTemplates templates,
      Supplier<String> baseUrl) {
    new PublicCheckpointRoutes(checkpoints).bind(operations);
    new CheckpointRoutes(checkpoints, baseUrl).bind(operations);
    new UploadRoutes(direct, sessions, sets).bind(operations, config);
    new ContentRoutes(config, contents).bind(operations);
    new ReadmeRoutes(vertx, contents, Readme.MAX_BYTES, Readme::parse).bind(operations, config);
    new DocumentRoutes(checkpoints, direct, sessions, baseUrl).bind(operations);
    new CheckpointAdminRoutes(checkpoints).bind(operations);
    new ReviewRoutes(reviews, contents, config).bind(operations);
    new ScrubRoutes(checkpoints, scrub).bind(operations);
    new MoveRoutes(checkpoints.config(), move, clock).bind(operations);
    new FeedRoutes(checkpoints, templates, baseUrl).bind(operations);
  }

  private static BlobConfig bounds(Config config) {
    return BlobConfig.defaults().withOpenBlobs(config.checkpoints().openFiles());
  }

  /** The refusal for a failure of the bytes' store; file names are only logged. */
  static Optional<ApiException> translate(Throwable fault) {
    if (fault instanceof UploadBusyException) {
      return Optional.of(
          ApiException.retryLater(
              ErrorCode.OVERLOADED,
              "these bytes are being stored or inspected for another request; ask again",
              RETRY_MILLIS));
    }
    if (fault instanceof StorageBusyException) {
      return Optional.of(
          ApiException.retryLater(
              ErrorCode.OVERLOADED, "too many files are being moved at once", RETRY_MILLIS));
    }
    if (fault instanceof BlobNotFoundException) {
      // Another request or process finished this one's work.
      return Optional.of(
          ApiException.retryLater(
              ErrorCode.OVERLOADED,
              "these bytes were published or given up meanwhile; look at the item",
              RETRY_MILLIS));
    }
    if (fault instanceof StorageFullException) {
      LOG.warn("no space for checkpoints: {}", fault.getMessage());
      return Optional.of(
          ApiException.retryLater(
              ErrorCode.STORAGE_FULL, "there is no room for these bytes now", RETRY_FULL_MILLIS));
    }
    if (fault instanceof StorageFaultException) {
      LOG.error("the checkpoints' storage failed", fault);
      return Optional.of(
          ApiException.retryLater(
              ErrorCode.OVERLOADED, "the bytes cannot be stored or read now", RETRY_MILLIS));
    }
    return Optional.empty();
  }
}
