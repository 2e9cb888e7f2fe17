package dev.bourse.install;

import dev.bourse.core.ApiException;
import dev.bourse.core.Digests;
import dev.bourse.core.ErrorCode;
import dev.bourse.core.Lazy;
import dev.bourse.core.Text;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import dev.bourse.pages.PageHeaders;
import dev.bourse.pages.PageTemplates;
import dev.bourse.pages.ServedPage;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/** The page that says how to install the command line, and the files it names. */
public final class InstallRoutes {
  /** The templates of the pages. */
  public static final List<String> TEMPLATES = List.of("install");

  private static final String JAR = "bourse.jar";
  private static final String SCRIPT = "install.sh";
  private static final String SUMS = "SHA256SUMS";

  /**
   * Caches ask with the entity tag each time: a script must not meet the jar of another version.
   */
  private static final Map<String, String> CACHED = Map.of("cache-control", "no-cache");

  private static final Map<String, String> ATTACHED =
      Map.of(
          "cache-control",
          "no-cache",
          "content-disposition",
          "attachment; filename=\"" + JAR + "\"");

  private final Vertx vertx;
  private final Optional<ProgramJar> jar;
  private final String version;
  private final PageTemplates templates;
  private final Supplier<String> baseUrl;
  private final Lazy<Texts> texts = new Lazy<>(this::write);

  /**
   * @param jar empty if the command line is not served
   * @param version the version of the jar
   * @param templates with all of {@link #TEMPLATES}
   * @param baseUrl the service's address for clients; read after the service listens
   */
  public InstallRoutes(
      Vertx vertx,
      Optional<ProgramJar> jar,
      String version,
      PageTemplates templates,
      Supplier<String> baseUrl) {
    this.vertx = vertx;
    this.jar = jar;
    this.version = version;
    this.templates = templates;
    this.baseUrl = baseUrl;
  }

  /** The served pages, written once at the first request. */
  private record Texts(ServedPage page, ServedPage script, ServedPage sums) {}

  /** Binds the operations. */
  public void bind(Operations operations) {
    operations.bind("showInstall", this::page).bind("readInstallFile", this::file);
  }

  /** Answers the page. */
  public Future<Answer> page(Call call) {
    return texts().map(made -> new Answer.Served(made.page()));
  }

  /** Answers one of the files. */
  public Future<Answer> file(Call call) {
    String name = call.text("file");
    return switch (name) {
      case JAR -> texts().map(made -> download(call));
      case SCRIPT -> texts().map(made -> new Answer.Served(made.script()));
      case SUMS -> texts().map(made -> new Answer.Served(made.sums()));
      default ->
          Future.failedFuture(
              ApiException.of(
                  ErrorCode.NOT_FOUND,
                  "no file %s; there are %s, %s and %s"
                      .formatted(Text.shown(name), JAR, SCRIPT, SUMS)));
    };
  }

  private Answer download(Call call) {
    ProgramJar program = program();
    return new Answer.Download(
        program.read(call.clientKey()),
        "application/java-archive",
        '"' + program.sha256() + '"',
        ATTACHED);
  }

  private ProgramJar program() {
    return jar.orElseThrow(
        () ->
            ApiException.of(
                ErrorCode.NOT_FOUND,
                "this service does not offer its command line; ask its operators for it"));
  }

  private Future<Texts> texts() {
    program();
    return texts
        .find()
        .map(Future::succeededFuture)
        .orElseGet(() -> vertx.executeBlocking(texts::get));
  }

  private Texts write() {
    ProgramJar program = program();
    String script =
        template()
            .replace("@version@", version)
            .replace("@url@", baseUrl.get().replace("'", "'\\''"))
            .replace("@sha256@", program.sha256());
    ServedPage served = ServedPage.of("text/x-shellscript; charset=utf-8", script, CACHED);
    String scriptSha256 = hex(script);
    return new Texts(
        ServedPage.of(
            PageTemplates.HTML,
            templates.render(
                "install",
                Map.of(
                    "base_url", baseUrl.get(),
                    "version", version,
                    "sha256", program.sha256(),
                    "megabytes", Math.round(program.bytes() / 1e6))),
            pageHeaders()),
        served,
        ServedPage.of(
            "text/plain; charset=utf-8",
            "%s  %s\n%s  %s\n".formatted(program.sha256(), JAR, scriptSha256, SCRIPT),
            CACHED));
  }

  private static Map<String, String> pageHeaders() {
    Map<String, String> headers = new HashMap<>(CACHED);
    PageHeaders.strict().stream()
        .filter(header -> !header.getKey().equals("cache-control"))
        .forEach(header -> headers.put(header.getKey(), header.getValue()));
    return headers;
  }

  private static String hex(String text) {
    return HexFormat.of().formatHex(Digests.sha256(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String template() {
    try (InputStream resource =
        Objects.requireNonNull(
            InstallRoutes.class.getResourceAsStream("/install/" + SCRIPT), SCRIPT)) {
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
