package dev.bourse.audit;

import dev.bourse.core.Times;
import java.util.List;
import java.util.Optional;

/** The export formats of entries. */
public enum TrailText {
  /** One JSON object per line. */
  NDJSON("application/x-ndjson", "") {
    @Override
    void append(StringBuilder text, TrailEntry entry) {
      text.append(entry.toJson().toBuffer()).append('\n');
    }
  },

  /**
   * Comma-separated values (RFC 4180), with a header line. A value that a spreadsheet would
   * evaluate as a formula gets a leading apostrophe, because people open this file in spreadsheets
   * and clients control parts of the recorded values. NDJSON has every value unchanged.
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

  /** The first characters that make a cell a formula. */
  private static final String FORMULA_STARTS = "=+-@\t\r";

  private final String mediaType;
  private final String head;

  TrailText(String mediaType, String head) {
    this.mediaType = mediaType;
    this.head = head;
  }

  /** Returns the format of a media type; empty for other media types. */
  public static Optional<TrailText> of(String mediaType) {
    for (TrailText form : values()) {
      if (form.mediaType.equals(mediaType)) {
        return Optional.of(form);
      }
    }
    return Optional.empty();
  }

  /** Returns the text before the first entry. */
  String head() {
    return head;
  }

  /** Appends one entry and its line end. */
  abstract void append(StringBuilder text, TrailEntry entry);

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
