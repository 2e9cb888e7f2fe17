package dev.bourse.app;

import dev.bourse.blob.s3.S3Config;
import dev.bourse.core.Settings;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the bytes of checkpoints are kept.
 *
 * @param store {@code checkpoints.store}: an object store; empty for the data folder
 */
record BlobSettings(Optional<S3Config> store) {
  private static final String LOCAL = "local";

  static BlobSettings from(Settings settings) {
    String file = settings.text("checkpoints.s3-credentials-file", "");
    return new BlobSettings(
        store(
            settings,
            "checkpoints.store",
            file.isEmpty() ? Optional.empty() : Optional.of(Path.of(file))));
  }

  private static Optional<S3Config> store(
      Settings settings, String key, Optional<Path> credentialsFile) {
    String text = settings.text(key, LOCAL);
    if (text.equals(LOCAL)) {
      return Optional.empty();
    }
    try {
      return Optional.of(S3Config.parse(text, credentialsFile));
    } catch (IllegalArgumentException e) {
      settings.fault(key, text, LOCAL + ", the data folder, or " + S3Config.ACCEPTED);
      return Optional.empty();
    }
  }

  /** Whether every process on the same database sees the same bytes. */
  boolean isShared() {
    return store.isPresent();
  }
}
