package dev.bourse.audit;

import dev.bourse.core.Page;
import dev.bourse.core.Times;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Optional;

/** The forms in which entries leave the service. */
public enum TrailText {
  /** One JSON object a line. */
  NDJSON("application/x-ndjson", "") {
    @Override
    void append(StringBuilder text, TrailEntry entry) {
      text.append(entry.json().encode()).append('\n');
    }
  },

  /**
   * Comma-separated values as of RFC 4180, with a header line. A value that a spreadsheet would
   * take for a formula gets an apostrophe before it, because the file is made to be opened in one
   * and clients choose parts of what is recorded; NDJSON has every value as it is.
   */
  CSV("text/csv", "id,ts,actor,action,subject,detail\r\n") {
    @Override
    void append(StringBuilder text, TrailEntry entry) {
      text.append(entry.id()).append(',').append(Times.rfc3339(entry.atMillis()));
      for (String value : List.of(entry.actor(), entry.action(), entry.subject(), entry.detail())) {
        text.append(',');
        appendValue(text, value);
      }
      text.append("\r\n");
    }
  };

  /** What makes a cell a formula when it stands first. */
  private static final String FORMULA_STARTS = "=+-@\t\r";

  private final String mediaType;
  private final String head;

  TrailText(String mediaType, String head) {
    this.mediaType = mediaType;
    this.head = head;
  }

  /** The form of a media type; empty for one that is not a text of entries. */
  public static Optional<TrailText> of(String mediaType) {
    for (TrailText form : values()) {
      if (form.mediaType.equals(mediaType)) {
        return Optional.of(form);
      }
    }
    return Optional.empty();
  }

  /** What stands before the first entry. */
  String head() {
    return head;
  }

  /** Adds one entry and the end of its line. */
  abstract void append(StringBuilder text, TrailEntry entry);

  /** A page as a field {@code entries} and a field {@code more}. */
  public static JsonObject json(Page<TrailEntry> page) {
    JsonArray entries = new JsonArray();
    page.items().forEach(entry -> entries.add(entry.json()));
    return new JsonObject().put("entries", entries).put("more", page.more());
  }

  private static void appendValue(StringBuilder text, String value) {
    boolean formula = !value.isEmpty() && FORMULA_STARTS.indexOf(value.charAt(0)) >= 0;
    boolean quoted = value.chars().anyMatch(c -> c == ',' || c == '"' || c == '\r' || c == '\n');
    if (quoted) {
      text.append('"');
    }
    if (formula) {
      text.append('\'');
    }
    text.append(quoted ? value.replace("\"", "\"\"") : value);
    if (quoted) {
      text.append('"');
    }
  }
}
