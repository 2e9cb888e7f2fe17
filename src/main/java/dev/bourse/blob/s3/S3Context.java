package dev.bourse.blob.s3;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.Workers;
import java.util.concurrent.Semaphore;

/**
 * The parts that a store and its uploads share.
 *
 * @param completionMark marks uploads that this process completes
 * @param earlyPlaces slots for parts that are sent while their bytes arrive
 * @param partBytes {@link S3Blobs#PART_BYTES}; tests use less if their service allows it
 */
record S3Context(
    S3Rows rows,
    S3Lists lists,
    S3Calls calls,
    Completion completion,
    CompletionMark completionMark,
    Workers workers,
    Semaphore earlyPlaces,
    int partBytes,
    BlobConfig config) {}
