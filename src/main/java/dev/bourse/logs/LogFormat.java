package dev.bourse.logs;

import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** The format of a line. Each line ends with its only line feed. */
public enum LogFormat {
  /** {@code 2026-11-26T03:00:00.000Z WARN Topic request_id=… org=acme operation=… - message}. */
  TEXT {
    @Override
    String line(LogLine line) {
      StringBuilder text = new StringBuilder(160);
      text.append(LOCAL.format(line.time().atZone(ZoneId.systemDefault())))
          .append(' ')
          .append(line.level())
          .append(' ');
      LineText.escape(text, line.shortLogger(), false);
      RequestContext request = line.request();
      if (request != null) {
        request.each(
            (name, value) ->
                LineText.escape(text.append(' ').append(name).append('='), value, false));
      }
      LineText.escape(text.append(" - "), LineText.bounded(Redaction.of(line.message())), false);
      if (line.error() != null) {
        LineText.escape(text.append(" | "), Redaction.of(ErrorText.of(line.error(), " | ")), false);
      }
      return text.append('\n').toString();
    }
  },

  /** An object with {@code time, level, logger, thread, message} and the optional fields. */
  JSON {
    @Override
    String line(LogLine line) {
      StringBuilder json = new StringBuilder(256);
      json.append("{\"time\":\"").append(UTC.format(line.time().atOffset(ZoneOffset.UTC)));
      json.append("\",\"level\":\"").append(line.level()).append('"');
      member(json, "logger", line.logger());
      member(json, "thread", line.thread());
      RequestContext request = line.request();
      if (request != null) {
        request.each((name, value) -> member(json, name, value));
      }
      member(json, "message", LineText.bounded(Redaction.of(line.message())));
      if (line.error() != null) {
        member(json, "error", Redaction.of(ErrorText.of(line.error(), "\n")));
      }
      return json.append("}\n").toString();
    }

    private void member(StringBuilder json, String name, String value) {
      json.append(",\"").append(name).append("\":\"");
      LineText.escape(json, value, true);
      json.append('"');
    }
  };

  private static final DateTimeFormatter LOCAL =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX");

  private static final DateTimeFormatter UTC =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'");

  abstract String line(LogLine line);
}
