package dev.bourse.backup;

import dev.bourse.core.Digests;
import dev.bourse.core.PrivateFile;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The contents of a backup, as JSON with one line per file; its first line has the digest of the
 * others. 100,000 files make 25 MB of it, and some 100 MB of memory to read it.
 *
 * @param program the version of the program that took it
 * @param schema the version of the store's schema
 * @param takenAt when its rows were read
 * @param taken the folder of the files that are not blobs
 * @param files its files
 * @param lacks blobs that its rows name but that the data folder did not have
 */
record Manifest(
    String program,
    int schema,
    Instant takenAt,
    String taken,
    List<FileEntry> files,
    List<MissingBlob> lacks) {
  static final String NAME = "backup.json";

  /** The name before the manifest is complete: a folder with only this file is not a backup. */
  static final String UNFINISHED = NAME + ".part";

  private static final int FORMAT = 1;

  /** The first line, and the rest. */
  private static final Pattern FORM =
      Pattern.compile("\\{\"digest\":\"([0-9a-f]{64})\",\n(.*)", Pattern.DOTALL);

  /**
   * A file.
   *
   * @param path its path in a data folder
   * @param mode its permissions in the form of {@code ls}
   */
  record FileEntry(String path, long bytes, String sha256, String mode) {
    private JsonObject json() {
      return new JsonObject()
          .put("path", path)
          .put("bytes", bytes)
          .put("sha256", sha256)
          .put("mode", mode);
    }

    private static FileEntry of(JsonObject json) {
      return new FileEntry(
          json.getString("path"),
          json.getLong("bytes"),
          json.getString("sha256"),
          json.getString("mode"));
    }
  }

  /**
   * A missing blob.
   *
   * @param isFault if false, it was deleted while the backup was taken
   */
  record MissingBlob(String key, String why, boolean isFault) {
    private JsonObject json() {
      return new JsonObject().put("blob", key).put("why", why).put("fault", isFault);
    }

    private static MissingBlob of(JsonObject json) {
      return new MissingBlob(
          json.getString("blob"), json.getString("why"), json.getBoolean("fault"));
    }
  }

  /** Returns the total length of all files. */
  long bytes() {
    return files.stream().mapToLong(FileEntry::bytes).sum();
  }

  private String body() {
    StringBuilder text = new StringBuilder();
    new JsonObject()
        .put("format", FORMAT)
        .put("program", program)
        .put("schema", schema)
        .put("taken_at", takenAt.toString())
        .put("folder", taken)
        .forEach(
            field ->
                text.append('"')
                    .append(field.getKey())
                    .append("\":")
                    .append(Json.encode(field.getValue()))
                    .append(",\n"));
    lines(text, "files", files.stream().map(FileEntry::json));
    text.append(",\n");
    lines(text, "lacks", lacks.stream().map(MissingBlob::json));
    return text.append("}\n").toString();
  }

  private static void lines(StringBuilder text, String name, Stream<JsonObject> all) {
    text.append('"').append(name).append("\":[");
    int start = text.length();
    all.forEach(one -> text.append(text.length() == start ? "\n" : ",\n").append(one.encode()));
    text.append("]");
  }

  private static String digest(String body) {
    return HexFormat.of().formatHex(Digests.sha256(body.getBytes(StandardCharsets.UTF_8)));
  }

  /** Writes the manifest to a folder, in place of the previous one; this completes the backup. */
  void write(Path folder) throws IOException {
    String body = body();
    String text = "{\"digest\":\"" + digest(body) + "\",\n" + body;
    PrivateFile.write(folder.resolve(NAME), text.getBytes(StandardCharsets.UTF_8));
    FileBytes.flushFolder(folder);
  }

  /**
   * Reads the manifest of a backup.
   *
   * @throws CorruptBackupException if it was changed since it was written
   * @throws IOException if there is none, or it is of a later program
   */
  static Manifest read(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    if (!Files.exists(file)) {
      throw new IOException(
          folder
              + (Files.exists(folder.resolve(UNFINISHED))
                  ? " is not a backup: one was started and not completed; take it again"
                  : " is not a backup: there is no " + NAME));
    }
    Matcher parts = FORM.matcher(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    if (!parts.matches() || !digest(parts.group(2)).equals(parts.group(1))) {
      throw new CorruptBackupException(file + " was changed since it was written");
    }
    try {
      JsonObject json = new JsonObject('{' + parts.group(2));
      if (json.getInteger("format") != FORMAT) {
        throw new IOException(
            "%s has format %d, written by version %s; this program reads format %d"
                .formatted(file, json.getInteger("format"), json.getString("program"), FORMAT));
      }
      return of(json);
    } catch (DecodeException | ClassCastException | NullPointerException | DateTimeException e) {
      throw new IOException(file + " is not a valid manifest", e);
    }
  }

  private static Manifest of(JsonObject json) {
    return new Manifest(
        json.getString("program"),
        json.getInteger("schema"),
        Instant.parse(json.getString("taken_at")),
        json.getString("folder"),
        objects(json.getJsonArray("files")).stream().map(FileEntry::of).toList(),
        objects(json.getJsonArray("lacks")).stream().map(MissingBlob::of).toList());
  }

  private static List<JsonObject> objects(JsonArray array) {
    List<JsonObject> all = new ArrayList<>();
    array.forEach(one -> all.add((JsonObject) one));
    return all;
  }
}
