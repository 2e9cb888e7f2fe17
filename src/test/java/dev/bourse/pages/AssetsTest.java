package dev.bourse.pages;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.decoder.Decoder;
import dev.bourse.core.Digests;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files that the build writes for browsers. */
@Tag("fast")
class AssetsTest {
  private static final Path RESOURCES = Path.of("src/main/resources");
  private static final Path CONTRACTS = Path.of("target/classes/openapi");
  private static final Pattern IMPORT_MAP =
      Pattern.compile("<script type=\"importmap\">(.*?)</script>");

  /** The most compressed bytes of a first visit without its page: 60 kB leave 20 for that. */
  private static final int MOST_BYTES = 40_000;

  private final Assets assets = Assets.load();

  @TempDir private Path folder = Path.of("");

  @Test
  void everyModuleIsServedOnceAndWithoutComments() throws IOException {
    Path console = RESOURCES.resolve("console");
    String first = text("console/app.js");
    JsonObject imports = imports();
    try (Stream<Path> files = Files.walk(console)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".js")).toList()) {
        String name = "console/" + console.relativize(file);
        boolean isJoined = first.contains("// " + name + '\n');
        assertNotEquals(isJoined, assets.names().contains(name) && !name.endsWith("/app.js"), name);
        assertEquals(
            isJoined && !name.endsWith("/app.js"),
            imports.containsKey(assets.base() + '/' + name),
            name);
      }
    }
    for (String name : assets.names()) {
      assertFalse(name.endsWith(".js") && text(name).contains("@param"), name);
    }
    assertTrue(assets.names().containsAll(List.of("style.css", "icon.svg")));
  }

  private String text(String name) {
    return assets.file(name).body().toString();
  }

  private JsonObject imports() {
    Matcher map = IMPORT_MAP.matcher(assets.shell().body().toString());
    assertTrue(map.find());
    return new JsonObject(map.group(1)).getJsonObject("imports");
  }

  @Test
  void compressedFormsHoldTheSame() throws IOException {
    Brotli4jLoader.ensureAvailability();
    for (String name : assets.names()) {
      ServedPage file = assets.file(name);
      byte[] plain = file.body().getBytes();
      for (String coding : file.encodings().keySet()) {
        byte[] bytes = Objects.requireNonNull(file.encodings().get(coding)).getBytes();
        byte[] unpacked =
            coding.equals("br")
                ? Decoder.decompress(bytes).getDecompressedData()
                : new GZIPInputStream(new ByteArrayInputStream(bytes)).readAllBytes();
        assertArrayEquals(plain, unpacked, name + " as " + coding);
        assertNotEquals(file.etag(), file.etag(coding));
      }
    }
    assertEquals(
        List.of("br", "gzip"),
        List.copyOf(assets.file("console/app.js").encodings().keySet()),
        "the best comes first");
  }

  @Test
  void theFirstLoadIsSmall() {
    int bytes = 0;
    for (ServedPage file :
        List.of(assets.shell(), assets.file("style.css"), assets.file("console/app.js"))) {
      bytes += smallest(file);
    }
    assertTrue(bytes < MOST_BYTES, bytes + " bytes");
  }

  private static int smallest(ServedPage file) {
    return file.encodings().values().stream()
        .mapToInt(encoded -> encoded.length())
        .min()
        .orElse(file.body().length());
  }

  @Test
  void theShellAllowsNoScriptButItsImportMap() {
    ServedPage shell = assets.shell();
    String page = shell.body().toString();
    Matcher map = IMPORT_MAP.matcher(page);
    assertTrue(map.find(), page);
    byte[] digest = Digests.sha256(map.group(1).getBytes(StandardCharsets.UTF_8));
    String policy = header(shell, "content-security-policy");
    assertTrue(
        policy.contains(
            "script-src 'self' 'sha256-" + Base64.getEncoder().encodeToString(digest) + "';"),
        policy);
    assertFalse(policy.contains("unsafe"), policy);
    for (String rule :
        List.of(
            "default-src 'none'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types lit-html")) {
      assertTrue(policy.contains(rule), rule);
    }
    assertEquals("same-origin", header(shell, "cross-origin-opener-policy"));
    assertEquals("same-origin", header(shell, "cross-origin-resource-policy"));
    assertEquals("no-cache", header(shell, "cache-control"));
    assertFalse(page.contains("http:") || page.contains("https:"), "nothing of another's");
    for (Object address : new JsonObject(map.group(1)).getJsonObject("imports").getMap().values()) {
      assertTrue(String.valueOf(address).startsWith(assets.base() + '/'), address.toString());
    }
  }

  private static String header(ServedPage page, String name) {
    return Optional.ofNullable(page.headers().get(name)).orElse("");
  }

  @Test
  void aChangeOfAnyFileChangesTheAddressOfAll() throws IOException {
    copyResources();
    String before = assembled().base();
    assertEquals(before, assembled().base(), "the same files have the same address");
    Files.writeString(folder.resolve("resources/console/pages/market.js"), "// changed\n");
    assertNotEquals(before, assembled().base());
  }

  @Test
  void theBuildRefusesAModuleThatImportsWhatIsNotThere() throws IOException {
    copyResources();
    Path module = folder.resolve("resources/console/pages/market.js");
    for (String text :
        List.of(
            "import { x } from './nothing.js';\n",
            "const late = () => import('./nothing.js');\n",
            "import 'nothing';\n")) {
      Files.writeString(module, text);
      String refusal = assertThrows(IllegalStateException.class, this::assembled).getMessage();
      assertTrue(String.valueOf(refusal).contains("nothing"), refusal);
    }
    Files.writeString(module, "/** @type {import('nothing').Type} a comment */\n");
    assembled();
  }

  @Test
  void theBuildRefusesAModuleThatCannotBeJoined() throws IOException {
    copyResources();
    Path module = folder.resolve("resources/console/components/copy.js");
    Map<String, String> refusals =
        Map.of(
            "import '../app.js';\n", "import each other",
            "export function toast() {}\n", "both export toast",
            "import * as all from 'lit';\n", "cannot be joined: import * as all",
            "export default 1;\n", "cannot be joined: export default",
            "import { nobody } from 'lit';\n", "imports nobody");
    for (Map.Entry<String, String> refused : refusals.entrySet()) {
      Files.writeString(module, refused.getKey());
      String refusal = assertThrows(IllegalStateException.class, this::assembled).getMessage();
      assertTrue(String.valueOf(refusal).contains(refused.getValue()), refusal);
    }
  }

  private void copyResources() throws IOException {
    for (String part : List.of("console", "pages")) {
      try (Stream<Path> files = Files.walk(RESOURCES.resolve(part))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          Path copy = folder.resolve("resources").resolve(RESOURCES.relativize(file));
          Files.createDirectories(copy.getParent());
          Files.copy(file, copy);
        }
      }
    }
  }

  private AssetFiles assembled() throws IOException {
    return AssetFiles.of(folder.resolve("resources"), CONTRACTS);
  }

  @Test
  void theClientKnowsEveryOperationOfTheInterface() {
    String table = text("console/app.js");
    assertTrue(
        table.contains("\nreadCapacity:[\"GET\",\"/api/vm/capacity\",[\"cluster\"],\"\",\"\"],"),
        table);
    assertTrue(
        table.contains("\ndeclareCapacity:[\"PUT\",\"/api/vm/capacity\",[],\"json\",\"\"],"),
        table);
    assertTrue(table.contains("\nsendDocument:[\"PUT\","), "those of operators, too");
    assertTrue(table.contains(",[],\"json\",\"rules\"],"), "with their nouns");
    assertFalse(table.contains("showSignIn:"), "pages are not called");
  }
}
