package dev.bourse.blob.s3;

/** The store does not have the parts that it said it had taken: the upload has to begin anew. */
final class PartsLost extends RuntimeException {
  PartsLost(String message) {
    super(message, null, false, false);
  }
}
