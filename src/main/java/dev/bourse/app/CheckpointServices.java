package dev.bourse.app;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.BlobGone;
import dev.bourse.blob.BlobStore;
import dev.bourse.blob.LocalBlobs;
import dev.bourse.blob.StorageBusy;
import dev.bourse.blob.StorageFault;
import dev.bourse.blob.StorageFull;
import dev.bourse.blob.s3.S3Blobs;
import dev.bourse.blob.s3.S3Config;
import dev.bourse.checkpoint.CheckpointChanges;
import dev.bourse.checkpoint.CheckpointConfig;
import dev.bourse.checkpoint.CheckpointRoutes;
import dev.bourse.checkpoint.CheckpointService;
import dev.bourse.checkpoint.CheckpointStore;
import dev.bourse.checkpoint.ContentRoutes;
import dev.bourse.checkpoint.ContentService;
import dev.bourse.checkpoint.PublicCheckpointRoutes;
import dev.bourse.checkpoint.Publication;
import dev.bourse.checkpoint.ReviewService;
import dev.bourse.checkpoint.StoredBlobs;
import dev.bourse.checkpoint.Sweep;
import dev.bourse.checkpoint.SweepStore;
import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.edge.Operations;
import dev.bourse.feed.FeedRoutes;
import dev.bourse.operator.CheckpointAdminRoutes;
import dev.bourse.operator.DocumentRoutes;
import dev.bourse.operator.ReviewRoutes;
import dev.bourse.operator.ScrubRoutes;
import dev.bourse.pages.PageTemplates;
import dev.bourse.scrub.Scrub;
import dev.bourse.scrub.ScrubStore;
import dev.bourse.store.Database;
import dev.bourse.uploads.DirectUploadService;
import dev.bourse.uploads.PublishPermission;
import dev.bourse.uploads.UploadRoutes;
import dev.bourse.uploads.UploadSessionService;
import io.vertx.core.Future;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts that keep published files, put together.
 *
 * @param checkpoints what other ways in call
 * @param direct uploads of one request
 * @param sessions uploads of many
 * @param contents the bytes, for who reads them
 * @param reviews what operators decide
 * @param scrub the check of stored bytes
 */
record CheckpointServices(
    CheckpointService checkpoints,
    DirectUploadService direct,
    UploadSessionService sessions,
    ContentService contents,
    ReviewService reviews,
    Scrub scrub) {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointServices.class);

  /** Where the bytes are in the data folder. */
  static final String FOLDER = "checkpoints";

  /** Where bytes on their way to an object store wait for the rest of their part. */
  private static final String SPOOLS = "spools";

  /** Somebody has to make room first; seconds would not do. */
  private static final long RETRY_FULL_MILLIS = 120_000;

  private static final long RETRY_MILLIS = 1_000;

  /** How often a process looks whether a stored file is due to be checked, or is asked for. */
  private static final long SCRUB_MILLIS = 2_000;

