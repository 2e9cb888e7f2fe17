package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Sets of files that members publish, for the tests of checkpoints. */
public final class SetsFixture {
  private SetsFixture() {}

  /** The files of a folder, in the order of their paths. */
  public static Map<String, byte[]> folder(Object... pathsAndBytes) {
    Map<String, byte[]> files = new TreeMap<>();
    for (int i = 0; i < pathsAndBytes.length; i += 2) {
      files.put((String) pathsAndBytes[i], (byte[]) pathsAndBytes[i + 1]);
    }
    return files;
  }

  public static JsonObject file(String path, byte[] bytes) {
    return new JsonObject()
        .put("path", path)
        .put("bytes", bytes.length)
        .put("sha256", FilesFixture.sha256(bytes));
  }

  public static JsonObject publication(String name, Map<String, byte[]> files, String visibility) {
    JsonArray listed = new JsonArray();
    files.forEach((path, bytes) -> listed.add(file(path, bytes)));
    return new JsonObject()
        .put("title", "About " + name)
        .put("filename", name)
        .put("visibility", visibility)
        .put("files", listed);
  }

  /** An announced set. */
  public record Announced(String id, String session, List<Integer> missing, long bytes) {
    public String path(int number) {
      return session + '/' + number;
    }
  }

  /** The answer to an announcement that is accepted. */
  public static Announced announce(ApiClient member, JsonObject publication) {
    HttpAnswer answer = member.post(FilesFixture.FAMILY + "/sets", publication);
    assertEquals(201, answer.status(), String.valueOf(answer.body()));
    JsonObject announced = answer.json();
    return new Announced(
        announced.getString("id"),
        FilesFixture.path(announced.getString("session_url")),
        announced.getJsonArray("missing").stream().map(n -> ((Number) n).intValue()).toList(),
        publication.getJsonArray("files").stream()
            .mapToLong(file -> ((JsonObject) file).getLong("bytes"))
            .sum());
  }

  /** Sends what is missing. */
  public static void send(ApiClient anybody, Announced set, Map<String, byte[]> files) {
    List<byte[]> inOrder = List.copyOf(files.values());
    for (int number : set.missing()) {
      anybody.sendBytes("PUT", set.path(number), inOrder.get(number)).ok();
    }
  }

  public static HttpAnswer commit(ApiClient member, Announced set) {
    return member.post(
        FilesFixture.item(set.id()) + "/commit", new JsonObject().put("bytes", set.bytes()));
  }

  /** Announces a set, sends what is missing and commits; gives the item. */
  public static JsonObject publish(
      ApiClient member, String name, Map<String, byte[]> files, String visibility) {
    Announced set = announce(member, publication(name, files, visibility));
    send(member, set, files);
    return commit(member, set).ok();
  }
}
