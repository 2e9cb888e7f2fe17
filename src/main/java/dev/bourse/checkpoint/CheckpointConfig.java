package dev.bourse.checkpoint;

import dev.bourse.core.BaseUrl;
import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of checkpoints.
 *
 * @param enabled {@code checkpoints.enabled}; if off, all operations answer 404
 * @param directBytes {@code checkpoints.direct-bytes}: the largest file sent in one request
 * @param itemBytes {@code checkpoints.item-bytes}: the largest file
 * @param orgBytes {@code checkpoints.org-bytes}: storage of an organization's files, announced ones
 *     included
 * @param platformBytes {@code checkpoints.platform-bytes}: storage of the platform's own documents,
 *     so that a mistake in an operator's script cannot fill the disk that organizations were
 *     promised; usually the same as of one organization
 * @param publisher {@code checkpoints.publisher}: the author shown for the platform's documents
 * @param contentUrl {@code checkpoints.content-url}: address of a host that serves public files
 *     only; empty to serve them from the service's own
 * @param sessionMillis {@code checkpoints.session-lifetime}: how long announced bytes may arrive
 * @param sweepMillis {@code checkpoints.sweep-interval}: interval of the sweep
 * @param graceMillis {@code checkpoints.deletion-delay}: how long bytes are kept after they were
 *     replaced or deleted, for readers that have just looked them up
 * @param openFiles {@code checkpoints.open-files}: files that may be open for reading at once, in
 *     total; the process's limit of open files must cover them
 * @param redirect {@code checkpoints.redirect}: whether members who read large files are redirected
 *     to the object store
 */
public record CheckpointConfig(
    boolean enabled,
    long directBytes,
    long itemBytes,
    long orgBytes,
    long platformBytes,
    String publisher,
    String contentUrl,
    long sessionMillis,
    long sweepMillis,
    long graceMillis,
    int openFiles,
    boolean redirect) {
  private static final long MIB = 1L << 20;
  private static final long GIB = 1L << 30;
  private static final long PIB = 1L << 50;

  /** One line of a list, like a title. */
  private static final int MOST_NAME = 200;

  /** Half of them are reserved for members, and both halves are shared. */
  private static final int LEAST_OPEN = 4;

  /** A direct upload is one request that cannot be resumed: a few minutes on a slow line. */
  private static final long MOST_DIRECT = GIB;

  public static CheckpointConfig from(Settings settings) {
    return new CheckpointConfig(
        settings.flag("checkpoints.enabled", true),
        settings.bytes("checkpoints.direct-bytes", 32 * MIB, 1, MOST_DIRECT),
        settings.bytes("checkpoints.item-bytes", 50 * GIB, 1, PIB),
        settings.bytes("checkpoints.org-bytes", 200 * GIB, 1, PIB),
        settings.bytes("checkpoints.platform-bytes", 200 * GIB, 1, PIB),
        publisher(settings),
        contentUrl(settings),
        settings.millis(
            "checkpoints.session-lifetime",
            Duration.ofDays(7),
            Duration.ofMillis(1),
            Duration.ofDays(90)),
        settings.millis(
            "checkpoints.sweep-interval",
            Duration.ofMinutes(1),
            Duration.ofMillis(10),
            Duration.ofDays(1)),
        settings.millis(
            "checkpoints.deletion-delay", Duration.ofMinutes(1), Duration.ZERO, Duration.ofDays(7)),
        settings.integer("checkpoints.open-files", 512, LEAST_OPEN, 100_000),
        redirect(settings));
  }

  /** Rejects redirects with local storage, which has no addresses to redirect to. */
  private static boolean redirect(Settings settings) {
    boolean redirect = settings.flag("checkpoints.redirect", false);
    if (redirect && settings.text("checkpoints.store", "local").equals("local")) {
      settings.fault(
          "checkpoints.redirect",
          "true",
          "false, because checkpoints.store is not an object store");
    }
    return redirect;
  }

  private static String contentUrl(Settings settings) {
    String url = settings.text("checkpoints.content-url", "");
    if (url.isEmpty() || BaseUrl.isOne(url)) {
      return url;
    }
    settings.fault("checkpoints.content-url", url, BaseUrl.ACCEPTED);
    return "";
  }

  private static String publisher(Settings settings) {
    String name = settings.text("checkpoints.publisher", "Bourse");
    if (name.isBlank() || name.length() > MOST_NAME) {
      settings.fault("checkpoints.publisher", name, "a name of 1 to " + MOST_NAME + " characters");
    }
    return name;
  }
}
