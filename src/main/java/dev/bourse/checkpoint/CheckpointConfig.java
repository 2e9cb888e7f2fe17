package dev.bourse.checkpoint;

import dev.bourse.core.BaseUrl;
import dev.bourse.core.Settings;
import java.time.Duration;

/**
 * Settings of checkpoints.
 *
 * @param enabled {@code checkpoints.enabled}; off, the whole family answers 404
 * @param directBytes {@code checkpoints.direct-bytes}: the longest file sent in one request
 * @param itemBytes {@code checkpoints.item-bytes}: the longest file at all
 * @param orgBytes {@code checkpoints.org-bytes}: what an organization's files hold together,
 *     announced ones included
 * @param platformBytes {@code checkpoints.platform-bytes}: what the platform's own documents hold
 *     together, so that a slip of an operator's script cannot fill the disk that organizations were
 *     promised; usually no more than one of these may
 * @param publisher {@code checkpoints.publisher}: who the platform's documents are by, as readers
 *     are told
 * @param contentUrl {@code checkpoints.content-url}: what browsers call the host that serves public
 *     files and nothing else; empty when they come from the service's own
 * @param sessionMillis {@code checkpoints.session-lifetime}: how long announced bytes are awaited
 * @param sweepMillis {@code checkpoints.sweep-interval}: how often the sweep looks for what is not
 *     needed any more
 * @param graceMillis {@code checkpoints.deletion-delay}: how long bytes stay after they were
 *     replaced or deleted, so that whoever has just looked up where they are still finds them
 * @param openFiles {@code checkpoints.open-files}: how many files may be read at once by all
 *     together, however many read each; the system must let the process open as many more
 * @param redirect {@code checkpoints.redirect}: whether members who read long files are led to the
 *     object store that has them
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

  /** A line of a list, as a title is. */
  private static final int MOST_NAME = 200;

  /** Half of them are the members' alone, and both halves are shared. */
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

  /** A folder has no addresses to lead anybody to. */
  private static boolean redirect(Settings settings) {
    boolean redirect = settings.flag("checkpoints.redirect", false);
    if (redirect && settings.text("checkpoints.store", "local").equals("local")) {
      settings.fault(
          "checkpoints.redirect", "true", "false while checkpoints.store is no object store");
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
