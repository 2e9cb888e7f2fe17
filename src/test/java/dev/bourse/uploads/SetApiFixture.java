package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.sha256;
import static dev.bourse.testing.SetsFixture.folder;

import dev.bourse.testing.ApiClient;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** A service in which members of two organizations publish sets. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests.
abstract class SetApiFixture {
  static RunningBourse bourse;
  static ApiClient alice;
  static ApiClient carol;
  static ApiClient anybody;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = bourse.asMember("acme", "alice");
    carol = bourse.asMember("openlab", "carol");
    anybody = bourse.with(null);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  static byte[] bytesOf(Map<String, byte[]> files, String path) {
    return Objects.requireNonNull(files.get(path), path);
  }

  /** Returns a folder of two files that no other test has. */
  static Map<String, byte[]> fresh() {
    byte[] seed = freshName().getBytes(StandardCharsets.UTF_8);
    return folder("config.json", seed, "shards/1.bin", bytes(90_000, Arrays.hashCode(seed)));
  }

  static String file(String id, byte[] bytes) {
    return item(id) + "/files/" + sha256(bytes);
  }

  static String header(HttpResponse<?> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  static List<String> paths(JsonArray files) {
    return files.stream().map(file -> ((JsonObject) file).getString("path")).toList();
  }

  static byte[] read(String id, byte[] bytes) {
    return alice.fetch("GET", file(id, bytes)).body();
  }
}
