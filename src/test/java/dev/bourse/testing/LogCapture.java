package dev.bourse.testing;

import dev.bourse.logs.LogConfig;
import dev.bourse.logs.LogFormat;
import dev.bourse.logs.Logs;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import org.slf4j.event.Level;

/** All that this process logs until it is closed, in JSON, at every level. */
public final class LogCapture implements AutoCloseable {
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  public LogCapture() {
    Logs.configure(new LogConfig(LogFormat.JSON, Level.TRACE, 0));
    System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
  }

  /** As it was written. */
  public String text() {
    return written.toString(StandardCharsets.UTF_8);
  }

  /** Each line as an object; a line that is none fails. */
  public List<JsonObject> lines() {
    String text = text();
    // Whoever writes the last one may be at it.
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(JsonObject::new).toList();
  }

  /** The first line that is wanted, once it is there. */
  public JsonObject await(String what, Predicate<JsonObject> isWanted) {
    return Polls.until(
            what, () -> lines().stream().filter(isWanted).findFirst(), found -> found.isPresent())
        .orElseThrow();
  }

  /** The first line whose message has this in it. */
  public JsonObject await(String said) {
    return await(said, line -> line.getString("message").contains(said));
  }

  @Override
  public void close() {
    System.setErr(before);
    Logs.configure(new LogConfig(LogFormat.TEXT, Level.WARN, 0));
  }
}
