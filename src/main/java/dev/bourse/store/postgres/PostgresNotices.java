package dev.bourse.store.postgres;

import dev.bourse.store.Change;
import io.vertx.sqlclient.Tuple;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The texts of notifications: the sender's name, then a line for each change, of texts with tabs
 * between them.
 *
 * <p>On channel {@link #KEYS} a line is topic and key, as the releases before have it, which can
 * read nothing else. On {@link #ROWS} it has the version and the row as well, each empty when there
 * is none. A row that is too large for a notification is left out, and so are those past some of
 * them: reading hundreds at once costs less than sending each. A sender whose name begins with
 * {@link #WITH_ROWS} says on the second channel all that it says on the first.
 */
final class PostgresNotices {
  static final String KEYS = "bourse_change";
  static final String ROWS = "bourse_rows";

  /** How the names of senders begin that use both channels; so do those whose changes are fed. */
  static final String WITH_ROWS = "fed-rows-";

  static final String NOTIFY =
      """
      SELECT pg_notify(n.channel, n.line)
      FROM unnest(CAST($1 AS text[]), CAST($2 AS text[])) AS n(channel, line)\
      """;

  /** The server takes payloads under 8,000 bytes. */
  private static final int PAYLOAD_BYTES = 7_900;

  /** Rows that one group of commits sends: eight notifications of them. */
  private static final int ROW_BYTES = 8 * PAYLOAD_BYTES;

  private static final String BETWEEN = "\t";

  /** The texts for one channel, as few as they fit into. */
  private static final class Texts {
    final List<String> full = new ArrayList<>(1);
    private final String sender;
    private final StringBuilder text = new StringBuilder();
    private int bytes;

    Texts(String sender) {
      this.sender = sender;
    }

    boolean fits(int line) {
      return sender.length() + line <= PAYLOAD_BYTES;
    }

    void add(String line) {
      int more = bytes(line);
      if (bytes + more > PAYLOAD_BYTES) {
        end();
      }
      if (bytes == 0) {
        text.append(sender);
        bytes = sender.length();
      }
      text.append(line);
      bytes += more;
    }

    void end() {
      if (bytes > 0) {
        full.add(text.toString());
        text.setLength(0);
        bytes = 0;
      }
    }
  }

  private PostgresNotices() {}

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  /** What {@link #NOTIFY} takes to tell of changes. */
  static Tuple of(String sender, List<Change> changes) {
    Texts keys = new Texts(sender);
    Texts rows = new Texts(sender);
    int rowBytes = 0;
    for (Change change : changes) {
      String key = "\n" + change.topic() + BETWEEN + change.key();
      keys.add(key);
      String version = change.version() == Change.NO_VERSION ? "" : "" + change.version();
      String line = key + BETWEEN + version + BETWEEN;
      String whole = line + change.row();
      int more = bytes(whole);
      boolean isSent = rows.fits(more) && rowBytes + more <= ROW_BYTES;
      rowBytes += isSent ? more : 0;
      rows.add(isSent ? whole : line);
    }
    keys.end();
    rows.end();
    List<String> channels = new ArrayList<>(Collections.nCopies(keys.full.size(), KEYS));
    channels.addAll(Collections.nCopies(rows.full.size(), ROWS));
    List<String> texts = new ArrayList<>(keys.full);
    texts.addAll(rows.full);
    return Tuple.tuple()
        .addArrayOfString(channels.toArray(String[]::new))
        .addArrayOfString(texts.toArray(String[]::new));
  }

  /** Who sent a notification. */
  static String sender(String payload) {
    int end = payload.indexOf('\n');
    return end < 0 ? payload : payload.substring(0, end);
  }

  /**
   * The changes a notification of either channel tells of.
   *
   * @throws IllegalArgumentException when it cannot be read
   */
  static List<Change> changes(String payload) {
    String[] lines = payload.split("\n", -1);
    List<Change> changes = new ArrayList<>(lines.length);
    for (int i = 1; i < lines.length; i++) {
      String[] parts = lines[i].split(BETWEEN, -1);
      if (parts.length != 2 && parts.length != 4) {
        throw new IllegalArgumentException("no change: '" + lines[i] + "'");
      }
      changes.add(
          parts.length == 2 || parts[2].isEmpty()
              ? new Change(parts[0], parts[1])
              : new Change(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]));
    }
    return changes;
  }
}
