package dev.bourse.blob.s3;

/** The store does not have parts that it had acknowledged. The upload has to restart. */
final class PartsLostException extends RuntimeException {
  PartsLostException(String message) {
    super(message, null, false, false);
  }
}
