package dev.bourse.blob.s3;

import dev.bourse.blob.BlobConfig;
import dev.bourse.blob.Workers;
import java.util.concurrent.Semaphore;

/**
 * What a store and its uploads work with.
 *
 * @param finishing tells other processes of an upload's end
 * @param earlyPlaces for parts that are sent while their bytes come
 * @param partBytes {@link S3Blobs#PART_BYTES}; tests take less where their service lets them
 */
record Tools(
    S3Rows rows,
    S3Lists lists,
    S3Calls calls,
    Completion completion,
    Finishing finishing,
    Workers workers,
    Semaphore earlyPlaces,
    int partBytes,
    BlobConfig config) {}
