package dev.bourse.docs;

import dev.bourse.contract.Contract;
import dev.bourse.core.Lazy;
import dev.bourse.pages.Assets;
import dev.bourse.pages.PageTemplates;
import dev.bourse.pages.ServedPage;
import dev.bourse.signals.Signal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All public documents, by path. Each page is rendered on first use. */
public final class DocsPages {
  private static final String TOKEN_BUDGET = "${token_budget}";
  private static final String PLAIN = "text/plain; charset=utf-8";
  private static final String MARKDOWN = "text/markdown; charset=utf-8";
  private static final String CACHE_CONTROL = "cache-control";

  /** Where agents look for a site's skills. */
  private static final String SKILL_INDEX = "/.well-known/agent-skills/index.json";

  /** These pages depend on the service's configuration; a minute avoids most repeated requests. */
  private static final Map<String, String> BRIEFLY = Map.of(CACHE_CONTROL, "public, max-age=60");

  /** Scripts, styles and the search index come only from this service; there are no inline ones. */
  private static final Map<String, String> PAGE_HEADERS =
      Map.of(
          CACHE_CONTROL,
          "public, max-age=60",
          "content-security-policy",
          """
          default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
          connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\
          """,
          "referrer-policy",
          "no-referrer",
          "x-content-type-options",
          "nosniff");

  private final String baseUrl;
  private final String budget;
  private final Map<Contract, Supplier<JsonObject>> documents = new LinkedHashMap<>();
  private final Supplier<List<Guide>> guides;
  private final Supplier<Markdown> markdown = new Lazy<>(Markdown::new);
  private final Supplier<PageTemplates> templates =
      new Lazy<>(() -> new PageTemplates(List.of("docs-index", "docs-guide", "docs-reference")));
  private final Supplier<List<Skill>> skills =
      new Lazy<>(() -> Skill.NAMES.stream().map(this::skill).toList());
  private final Map<String, Supplier<ServedPage>> byPath = new HashMap<>();
  private final Map<String, ServedPage> made = new ConcurrentHashMap<>();

  /**
   * Renders nothing yet.
   *
   * @param requestsPerMinute a token's budget; 0 for none
   * @param signals all metrics, read when a page first needs them
   */
  public DocsPages(
      List<Contract> contracts,
      String baseUrl,
      int requestsPerMinute,
      Supplier<List<Signal>> signals) {
    Assets assets = Assets.load();
    this.baseUrl = baseUrl;
    this.budget =
        requestsPerMinute == 0
            ? "any number of requests"
            : requestsPerMinute + " requests a minute";
    this.guides =
        new Lazy<>(
            () ->
                Stream.concat(
                        Guide.NAMES.stream().map(name -> Guide.load(name, baseUrl)),
                        Stream.of(SignalsGuide.of(signals.get())))
                    .toList());
    for (Contract contract : contracts) {
      Supplier<JsonObject> document = new Lazy<>(() -> served(contract, requestsPerMinute));
      documents.put(contract, document);
      add(address(contract), "application/json", () -> document.get().encode());
      addPage(path(contract), "docs-reference", () -> reference(contract, document.get()));
    }
    List<String> names = new ArrayList<>(Guide.NAMES);
    names.add(SignalsGuide.NAME);
    for (int i = 0; i < names.size(); i++) {
      int place = i;
      String path = Guide.path(names.get(i));
      add(path + ".md", MARKDOWN, () -> guides.get().get(place).markdown());
      addPage(path, "docs-guide", () -> guide(guides.get().get(place)));
    }
    addPage("/docs", "docs-index", Map::of);
    add("/llms.txt", PLAIN, () -> orientation().index());
    add("/llms-operators.txt", PLAIN, () -> orientation().operators());
    add("/AGENTS.md", MARKDOWN, () -> orientation().recipes());
    for (String name : Skill.NAMES) {
      add(Skill.path(name), MARKDOWN, () -> skill(name).text());
    }
    add(SKILL_INDEX, "application/json", this::skillIndex);
    add("/docs/search.json", "application/json", this::searchIndex);
    add("/docs/docs.js", "text/javascript; charset=utf-8", () -> Resource.text("docs/docs.js"));
    for (String name : assets.names()) {
      byPath.put(assets.base() + '/' + name, () -> assets.file(name));
    }
    add("/docs/icon.svg", "image/svg+xml", () -> Resource.text("pages/icon.svg"));
    // One style sheet: the style of all pages, and the additions of these.
    add(
        "/docs/style.css",
        "text/css; charset=utf-8",
        () -> Resource.text("pages/style.css") + Resource.text("docs/style.css"));
  }

  /** Whether there is a page at a path. */
  public boolean has(String path) {
    return byPath.containsKey(path);
  }

  /** The page at a path if it was rendered already; null otherwise. */
  public @Nullable ServedPage made(String path) {
    return made.get(path);
  }

  /** The page at an existing path. Rendered on the first call, so call it off the event loop. */
  public ServedPage get(String path) {
    Supplier<ServedPage> maker = byPath.get(path);
    if (maker == null) {
      throw new IllegalArgumentException("there is no page at " + path);
    }
    return made.computeIfAbsent(path, absent -> maker.get());
  }

  private void add(String path, String contentType, Supplier<String> text) {
    byPath.put(path, () -> ServedPage.of(contentType, text.get(), BRIEFLY));
  }

  private void addPage(String path, String template, Supplier<Map<String, Object>> model) {
    byPath.put(
        path,
        () -> {
          Map<String, Object> values = new HashMap<>(model.get());
          values.put("path", path);
          values.put("guides", listedGuides());
          values.put("contracts", listedContracts());
          return ServedPage.of(
              PageTemplates.HTML, templates.get().render(template, values), PAGE_HEADERS);
        });
  }

  private Map<String, Object> guide(Guide guide) {
    return Map.of("title", guide.title(), "html", markdown.get().html(guide.markdown()));
  }

  private Orientation orientation() {
    return new Orientation(documents(), guides.get(), baseUrl, budget);
  }

  /** All skills, as they are served. The first call reads files of the jar. */
  public List<Skill> skills() {
    return skills.get();
  }

  private Skill skill(String name) {
    return Skill.of(Guide.localized(Resource.text("docs" + Skill.path(name)), baseUrl));
  }

  /**
   * The index of the skills, by version 0.2.0 of <a
   * href="https://github.com/cloudflare/agent-skills-discovery-rfc">Agent Skills Discovery</a>.
   */
  private String skillIndex() {
    JsonArray listed = new JsonArray();
    for (Skill skill : skills()) {
      listed.add(
          new JsonObject()
              .put("name", skill.name())
              .put("type", "skill-md")
              .put("description", skill.description())
              .put("url", baseUrl + skill.path())
              .put("digest", skill.digest()));
    }
    return new JsonObject()
        .put("$schema", "https://schemas.agentskills.io/discovery/0.2.0/schema.json")
        .put("skills", listed)
        .encode();
  }

  /** All contracts in their served form. */
  private Map<Contract, JsonObject> documents() {
    Map<Contract, JsonObject> all = new LinkedHashMap<>();
    documents.forEach((contract, document) -> all.put(contract, document.get()));
    return all;
  }

  private List<Map<String, String>> listedGuides() {
    return guides.get().stream()
        .map(
            guide ->
                Map.of("path", guide.path(), "title", guide.title(), "summary", guide.summary()))
        .toList();
  }

  private List<Map<String, String>> listedContracts() {
    return documents.keySet().stream()
        .map(
            contract ->
                Map.of(
                    "path", path(contract),
                    "title", title(contract),
                    "summary", contract.summary()))
        .toList();
  }

  private Map<String, Object> reference(Contract contract, JsonObject document) {
    Reference reference = new Reference(document, baseUrl, markdown.get());
    return Map.of(
        "title", title(contract),
        "summary", contract.summary(),
        "source", address(contract),
        "introduction", reference.introduction(),
        "operations", reference.operations(),
        "schemas", reference.namedSchemas());
  }

  private String searchIndex() {
    SearchIndex index = new SearchIndex();
    guides.get().forEach(guide -> index.add(guide, markdown.get().sections(guide.markdown())));
    documents().forEach((contract, document) -> index.add(path(contract), document));
    return index.encode();
  }

  /** A contract with the address and the budget in force. */
  private JsonObject served(Contract contract, int requestsPerMinute) {
    JsonObject document =
        new JsonObject(contract.document().encode().replace(TOKEN_BUDGET, budget));
    document.getJsonObject("info").put("x-requests-per-minute", requestsPerMinute);
    return document.put("servers", new JsonArray().add(new JsonObject().put("url", baseUrl)));
  }

  /** A contract's title without the product's name. */
  private static String title(Contract contract) {
    String title = contract.title().replaceFirst("^Bourse ", "");
    return Character.toUpperCase(title.charAt(0)) + title.substring(1);
  }

  private static String address(Contract contract) {
    return "/api/" + contract.name() + "/openapi.json";
  }

  private static String path(Contract contract) {
    return "/docs/reference/" + contract.name();
  }
}
