package dev.bourse.app;

import dev.bourse.blob.s3.S3Config;
import dev.bourse.core.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where the bytes of checkpoints are stored.
 *
 * @param store {@code checkpoints.store}: the store of new ones
 * @param former {@code checkpoints.former-store}: the store of older ones until they are moved
 */
record BlobSettings(Place store, Optional<Place> former) {
  static final String LOCAL = "local";

  /**
   * A blob store.
   *
   * @param objects an object store; empty for the data folder
   */
  record Place(Optional<S3Config> objects) {
    /** The store's name, which does not depend on how its address is written. */
    String name() {
      return objects.map(S3Config::name).orElse(LOCAL);
    }

    /** True if all processes on the same database see the same bytes. */
    boolean isShared() {
      return objects.isPresent();
    }
  }

  static BlobSettings from(Settings settings) {
    String file = settings.text("checkpoints.s3-credentials-file", "");
    Optional<Path> credentials = file.isEmpty() ? Optional.empty() : Optional.of(Path.of(file));
    Place store =
        place(
            settings, "checkpoints.store", settings.text("checkpoints.store", LOCAL), credentials);
    String key = "checkpoints.former-store";
    String text = settings.text(key, "");
    if (text.isEmpty()) {
      return new BlobSettings(store, Optional.empty());
    }
    Place former = place(settings, key, text, credentials);
    if (former.name().equals(store.name())) {
      settings.fault(key, text, "a store other than checkpoints.store, or empty");
    }
    return new BlobSettings(store, Optional.of(former));
  }

  private static Place place(
      Settings settings, String key, String text, Optional<Path> credentialsFile) {
    if (text.equals(LOCAL)) {
      return new Place(Optional.empty());
    }
    try {
      return new Place(Optional.of(S3Config.parse(text, credentialsFile)));
    } catch (IllegalArgumentException e) {
      settings.fault(key, text, LOCAL + ", the data folder, or " + S3Config.ACCEPTED);
      return new Place(Optional.empty());
    }
  }

  /** The names of all stores that may hold bytes. */
  List<String> names() {
    return Stream.concat(Stream.of(store), former.stream()).map(Place::name).toList();
  }

  /** True if all processes on the same database see the same bytes. */
  boolean isShared() {
    return store.isShared() && former.map(Place::isShared).orElse(true);
  }
}
