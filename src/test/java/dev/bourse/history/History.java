package dev.bourse.history;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * What clients saw, and what was stored when all of them had ended.
 *
 * @param lagMicros how far behind a process may be with what another acknowledged; with what it
 *     acknowledged itself it never is
 */
public record History(
    long lagMicros, List<RecordedOperation> operations, List<Window> windows, Stored stored) {

  /**
   * A time in which a process is cut off from the others, and may be further behind.
   *
   * @param lagMicros how far
   */
  public record Window(String process, long fromMicros, long toMicros, long lagMicros) {}

  /** What was found when no client was at work any more. */
  public record Stored(
      Map<String, State> clusters, Map<String, Set<String>> sets, List<Row> trail) {}

  /** A cluster's version and the declaration in force. */
  public record State(long version, String declared) {}

  /**
   * A row of the trail.
   *
   * @param kind of WRITE, ADD and REMOVE
   * @param version of a WRITE
   * @param what a WRITE's declaration, or the member
   */
  public record Row(RecordedOperation.Kind kind, String subject, long version, String what) {}

  /** How far behind a process may be with others' writes at this time. */
  long lagMicros(String process, long atMicros) {
    long lag = lagMicros;
    for (Window window : windows) {
      // What was missed in the window is made up for within the usual time.
      if (window.process().equals(process)
          && atMicros >= window.fromMicros()
          && atMicros <= window.toMicros() + lagMicros) {
        lag = Math.max(lag, window.lagMicros());
      }
    }
    return lag;
  }

  /** Writes one JSON object a line. */
  public void write(Path file) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      line(out, new JsonObject().put("lag", lagMicros));
      for (RecordedOperation operation : operations) {
        line(out, operation.toJson());
      }
      for (Window window : windows) {
        line(
            out,
            new JsonObject()
                .put("window", window.process())
                .put("from", window.fromMicros())
                .put("to", window.toMicros())
                .put("lag", window.lagMicros()));
      }
      for (Map.Entry<String, State> state : stored.clusters().entrySet()) {
        line(
            out,
            new JsonObject()
                .put("cluster", state.getKey())
                .put("version", state.getValue().version())
                .put("declared", state.getValue().declared()));
      }
      for (Map.Entry<String, Set<String>> set : stored.sets().entrySet()) {
        line(
            out,
            new JsonObject()
                .put("set", set.getKey())
                .put("members", new JsonArray(List.copyOf(new TreeSet<>(set.getValue())))));
      }
      for (Row row : stored.trail()) {
        line(
            out,
            new JsonObject()
                .put("row", row.kind().name())
                .put("subject", row.subject())
                .put("version", row.version())
                .put("what", row.what()));
      }
    }
  }

  private static void line(BufferedWriter out, JsonObject json) throws IOException {
    out.write(json.encode());
    out.newLine();
  }

  /** Reads what {@link #write} wrote. */
  public static History read(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return read(lines);
    }
  }

  static History read(Stream<String> lines) {
    long lag = 0;
    List<RecordedOperation> operations = new ArrayList<>();
    List<Window> windows = new ArrayList<>();
    Stored stored = new Stored(new HashMap<>(), new HashMap<>(), new ArrayList<>());
    for (Iterator<String> all = lines.iterator(); all.hasNext(); ) {
      JsonObject json = new JsonObject(all.next());
      if (json.containsKey("id")) {
        operations.add(RecordedOperation.of(json));
      } else if (json.containsKey("window")) {
        windows.add(
            new Window(
                json.getString("window"),
                json.getLong("from"),
                json.getLong("to"),
                json.getLong("lag")));
      } else if (json.containsKey("cluster")) {
        stored
            .clusters()
            .put(
                json.getString("cluster"),
                new State(json.getLong("version"), json.getString("declared")));
      } else if (json.containsKey("set")) {
        Set<String> members = new HashSet<>();
        json.getJsonArray("members").forEach(member -> members.add(member.toString()));
        stored.sets().put(json.getString("set"), members);
      } else if (json.containsKey("row")) {
        stored
            .trail()
            .add(
                new Row(
                    RecordedOperation.Kind.valueOf(json.getString("row")),
                    json.getString("subject"),
                    json.getLong("version"),
                    json.getString("what")));
      } else {
        lag = json.getLong("lag");
      }
    }
    return new History(lag, operations, windows, stored);
  }
}
