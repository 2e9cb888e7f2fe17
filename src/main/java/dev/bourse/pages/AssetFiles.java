package dev.bourse.pages;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.encoder.Encoder;
import dev.bourse.core.Digests;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * The build step that turns the console's source files into the files that {@link Assets} serves:
 * the scripts, the style sheet and the icon, each with compressed forms, under an address that
 * contains a digest of all of them. The first script joins the modules that every page needs, with
 * Lit and a table of the contracts' operations, because each module would be a request of its own.
 * All other modules stay as they are, without their comments, and are loaded when a page imports
 * them.
 */
public final class AssetFiles {
  private static final String CONSOLE = "console/";
  private static final String ENTRY = "console/app.js";
  private static final String CLIENT = "console/lib/client.js";

  /** The placeholder for the contracts' operations in the client module. */
  private static final String TABLE = "const operations = {};";

  private static final String WEBJARS = "META-INF/resources/webjars/";
  private static final String SCRIPT = "text/javascript; charset=utf-8";

  /** Lit's modules, which are part of the first script: the webjar and file of each. */
  private static final Map<String, List<String>> LIT =
      Map.of(
          "lit/lit-element.js", List.of("lit-element", "lit-element.js"),
          "lit/reactive-element.js", List.of("lit__reactive-element", "reactive-element.js"),
          "lit/css-tag.js", List.of("lit__reactive-element", "css-tag.js"),
          "lit/lit-html.js", List.of("lit-html", "lit-html.js"));

  /** The names under which modules import Lit's modules. */
  private static final Map<String, String> IMPORTS =
      Map.of(
          "lit", "lit/lit-element.js",
          "lit-html", "lit/lit-html.js",
          "@lit/reactive-element", "lit/reactive-element.js");

  /** A static import, which a module needs to load; {@code import(…)} is loaded on call. */
  private static final Pattern STATIC_IMPORT =
      Pattern.compile(
          "(?:^|[;}\\s])(?:import|export)(?:[\\s\\w{},*$]*?from)?\\s*[\"']([^\"']+)[\"']");

  /** Comments of the type check, some of which import types. */
  private static final Pattern COMMENT = Pattern.compile("/\\*\\*.*?\\*/ ?", Pattern.DOTALL);

  /** Stands where a comment was. */
  private static final String MARK = "\0";

  /** A mark with the line that it fills, a mark in a line, or a comment on a line of its own. */
  private static final Pattern REMOVED =
      Pattern.compile("^\\s*(?:%s|//.*)[ \\t]*\\n|%s".formatted(MARK, MARK), Pattern.MULTILINE);

  /** A dynamic import. */
  private static final Pattern LATE_IMPORT = Pattern.compile("\\bimport\\(\\s*[\"']([^\"']+)[\"']");

  private final Map<String, byte[]> files = new TreeMap<>();

  /** The modules that each module needs to load, found once because most are needed by many. */
  private final Map<String, List<String>> imported = new HashMap<>();

  /** The modules of the first script, each after those that it imports. */
  private final Set<String> joined = new LinkedHashSet<>();

  private AssetFiles() {}

  /**
   * Writes the files.
   *
   * @param args the folder of the resources, the folder of the contracts in JSON, and the output
   *     folder, which is emptied first
   */
  public static void main(String[] args) throws IOException {
    Path resources = Path.of(args[0]);
    of(resources, Path.of(args[1]))
        .write(Path.of(args[2]), Files.readString(resources.resolve(CONSOLE + Assets.SHELL)));
  }

  /**
   * Gathers the files of a folder of resources and of a folder of contracts in JSON, and joins the
   * first script. Fails if a module cannot be joined, or imports a module that does not exist.
   */
  static AssetFiles of(Path resources, Path contracts) throws IOException {
    AssetFiles assets = new AssetFiles();
    assets.gather(resources);
    assets.fillClient(OperationTable.script(contracts));
    assets.requireWholeness();
    assets.join();
    return assets;
  }

  /** Returns the path under which all files are served. */
  String base() {
    return "/assets/" + digest();
  }

  /** Inserts the contracts' operations into the client module. */
  private void fillClient(String table) {
    String client = new String(Objects.requireNonNull(files.get(CLIENT)), UTF_8);
    if (!client.contains(TABLE)) {
      throw new IllegalStateException(CLIENT + " has no place for the operations: " + TABLE);
    }
    files.put(CLIENT, client.replace(TABLE, table).getBytes(UTF_8));
  }

  private void gather(Path resources) throws IOException {
    Path console = resources.resolve("console");
    try (Stream<Path> found = Files.walk(console)) {
      for (Path file : found.filter(Files::isRegularFile).toList()) {
        String name = console.relativize(file).toString().replace('\\', '/');
        if (name.endsWith(".js")) {
          files.put(CONSOLE + name, withoutComments(Files.readString(file)).getBytes(UTF_8));
        }
      }
    }
    for (String name : List.of("style.css", "icon.svg")) {
      files.put(name, Files.readAllBytes(resources.resolve("pages").resolve(name)));
    }
    for (Map.Entry<String, List<String>> part : LIT.entrySet()) {
      files.put(part.getKey(), lit(part.getValue().get(0), part.getValue().get(1)));
    }
  }

  private static String withoutComments(String script) {
    return REMOVED.matcher(COMMENT.matcher(script).replaceAll(MARK)).replaceAll("");
  }

  /** A module of a webjar, of which one version must be on the class path. */
  private static byte[] lit(String webjar, String name) throws IOException {
    ClassLoader loader = AssetFiles.class.getClassLoader();
    String path = WEBJARS + webjar + '/' + version(loader, webjar) + '/' + name;
    try (InputStream in = loader.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is not on the class path");
      }
      // The last line points to a source map, which is not served.
      return new String(in.readAllBytes(), UTF_8)
          .replaceAll("//# sourceMappingURL=.*\\s*$", "")
          .getBytes(UTF_8);
    }
  }

  private static String version(ClassLoader loader, String webjar) throws IOException {
    String path = "META-INF/maven/org.webjars.npm/" + webjar + "/pom.properties";
    Properties facts = new Properties();
    try (InputStream in = loader.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is not on the class path");
      }
      facts.load(in);
    }
    return facts.getProperty("version");
  }

  /** Replaces the modules that the first script needs by one script. */
  private void join() {
    joined.addAll(needed(ENTRY));
    String script =
        JoinedScript.of(
            List.copyOf(joined),
            name -> new String(Objects.requireNonNull(files.get(name)), UTF_8),
            AssetFiles::resolve,
            name -> "./" + name.substring(CONSOLE.length()));
    files.keySet().removeAll(joined);
    files.put(ENTRY, script.getBytes(UTF_8));
  }

  private void write(Path target, String shell) throws IOException {
    empty(target);
    Files.createDirectories(target);
    String base = base();
    JsonObject index = new JsonObject().put("base", base);
    JsonObject listed = new JsonObject();
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      listed.put(
          file.getKey(),
          write(target.resolve(file.getKey()), type(file.getKey()), file.getValue()));
    }
    String importMap = importMap(base);
    String page = shell.replace("${assets}", base).replace("${import_map}", importMap);
    String policy =
        "sha256-" + Base64.getEncoder().encodeToString(Digests.sha256(importMap.getBytes(UTF_8)));
    index.put("files", listed);
    index.put(
        "shell",
        write(target.resolve(Assets.SHELL), PageTemplates.HTML, page.getBytes(UTF_8))
            .put("import_map", policy));
    Files.writeString(target.resolve(Assets.INDEX), index.encode());
  }

  /**
   * Fails the build on an import of a missing module, which browsers would notice only on loading
   * it.
   */
  private void requireWholeness() {
    files.forEach(
        (name, script) -> {
          if (name.endsWith(".js")) {
            needed(name);
            Matcher imports = LATE_IMPORT.matcher(new String(script, UTF_8));
            while (imports.find()) {
              needed(resolve(name, imports.group(1)));
            }
          }
        });
  }

  private static void empty(Path target) throws IOException {
    if (Files.isDirectory(target)) {
      try (Stream<Path> old = Files.walk(target)) {
        for (Path file : old.filter(Files::isRegularFile).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /** A digest of all names and contents, so that each change gives all files a new address. */
  private String digest() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    files.forEach(
        (name, bytes) -> {
          all.writeBytes(name.getBytes(UTF_8));
          all.write(0);
          all.writeBytes(Digests.sha256(bytes));
        });
    return HexFormat.of().formatHex(Digests.sha256(all.toByteArray())).substring(0, 16);
  }

  private static String type(String name) {
    return name.endsWith(".js")
        ? SCRIPT
        : name.endsWith(".css") ? "text/css; charset=utf-8" : "image/svg+xml";
  }

  /**
   * Writes a file, and its compressed forms if they are smaller; returns its entry in the index.
   */
  private static JsonObject write(Path file, String type, byte[] bytes) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, bytes);
    JsonArray encodings = new JsonArray();
    if (hasBrotli()) {
      byte[] brotli = Encoder.compress(bytes, new Encoder.Parameters().setQuality(11));
      compressed(file, "br", brotli, bytes, encodings);
    }
    compressed(file, "gzip", gzip(bytes), bytes, encodings);
    return new JsonObject()
        .put("type", type)
        .put("etag", ServedPage.etag(bytes))
        .put("encodings", encodings);
  }

  /** Whether the build's machine has native code for Brotli; otherwise there is only gzip. */
  private static boolean hasBrotli() {
    return Brotli4jLoader.isAvailable();
  }

  private static void compressed(
      Path file, String coding, byte[] bytes, byte[] plain, JsonArray encodings)
      throws IOException {
    if (bytes.length < plain.length) {
      Files.write(file.resolveSibling(file.getFileName() + "." + coding), bytes);
      encodings.add(coding);
    }
  }

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (OutputStream gzip = new BestGzip(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  private static final class BestGzip extends GZIPOutputStream {
    BestGzip(OutputStream out) throws IOException {
      super(out);
      def.setLevel(Deflater.BEST_COMPRESSION);
    }
  }

  /** Leads the imports of the modules that were joined to the script that has them. */
  private String importMap(String base) {
    JsonObject imports = new JsonObject().put("lit", base + '/' + ENTRY);
    joined.stream()
        .filter(name -> name.startsWith(CONSOLE) && !name.equals(ENTRY))
        .forEach(name -> imports.put(base + '/' + name, base + '/' + ENTRY));
    return new JsonObject().put("imports", imports).encode();
  }

  /** Returns a module and those that it needs to load, each after those that it imports. */
  private Set<String> needed(String name) {
    Set<String> needed = new LinkedHashSet<>();
    need(name, new HashSet<>(), needed);
    return needed;
  }

  private void need(String name, Set<String> seen, Set<String> needed) {
    byte[] script = files.get(name);
    if (script == null) {
      throw new IllegalStateException(
          "module " + name + " is missing, but another module imports it");
    }
    if (seen.add(name)) {
      for (String other : imported.computeIfAbsent(name, unknown -> imports(name, script))) {
        need(other, seen, needed);
      }
      needed.add(name);
    }
  }

  private static List<String> imports(String name, byte[] script) {
    return STATIC_IMPORT
        .matcher(new String(script, UTF_8))
        .results()
        .map(found -> resolve(name, found.group(1)))
        .toList();
  }

  private static String resolve(String importing, String name) {
    if (name.startsWith(".")) {
      return Path.of(importing).resolveSibling(name).normalize().toString().replace('\\', '/');
    }
    String mapped = IMPORTS.get(name);
    if (mapped == null) {
      throw new IllegalStateException(importing + " imports " + name + ", which is unknown");
    }
    return mapped;
  }
}
