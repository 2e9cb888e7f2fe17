package dev.bourse.client.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Untrusted manifests. */
@Tag("fast")
class SetManifestTest {
  private static final String SHA256 = "ab".repeat(32);

  private static String document(String path, Object bytes, String sha256) {
    JsonObject file = new JsonObject().put("path", path).put("bytes", bytes).put("sha256", sha256);
    return new JsonObject().put("files", new JsonArray().add(file)).encode();
  }

  @Test
  void aManifestNamesFilesInFolders() throws RefusedException {
    assertEquals(
        List.of(new SetManifest.Entry("a/b c/..d.bin", 3, SHA256)),
        SetManifest.of(document("a/b c/..d.bin", 3, SHA256)).files());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/etc/passwd",
        "..",
        "../x",
        "a/../../x",
        "a//b",
        "a/",
        "./a",
        "a/.",
        "a\\b",
        "a\nb"
      })
  void aPathThatCouldLeadOutIsRefused(String path) {
    assertThrows(RefusedException.class, () -> SetManifest.of(document(path, 3, SHA256)));
  }

  @Test
  void whatIsNoManifestIsRefused() {
    for (String document :
        List.of(
            "",
            "[]",
            "{\"files\":[1]}",
            "{\"files\":{}}",
            document("a", -1, SHA256),
            document("a", "many", SHA256),
            document("a", 1, "../../x"),
            document("a", 1, SHA256.toUpperCase(java.util.Locale.ROOT)))) {
      assertThrows(RefusedException.class, () -> SetManifest.of(document), document);
    }
  }
}
