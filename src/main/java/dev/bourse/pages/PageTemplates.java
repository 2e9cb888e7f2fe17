package dev.bourse.pages;

import io.pebbletemplates.pebble.PebbleEngine;
import io.pebbletemplates.pebble.loader.ClasspathLoader;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.templ.pebble.PebbleTemplateEngine;
import java.util.List;
import java.util.Map;

/**
 * The templates of all pages: {@code resources/pages/<name>.peb}. What they are given is escaped
 * for the place it stands in; a variable that is not given is a fault. May be used from any thread.
 */
public final class PageTemplates {
  /** The media type of a page. */
  public static final String HTML = "text/html; charset=utf-8";

  private static final Map<String, Object> NOBODYS =
      Map.of("title", "<", "text", "<", "note", "<", "link", "<", "link_text", "<");

  private final PebbleTemplateEngine engine;

  /**
   * Compiles these templates, which takes some tenths of a second: call it off the event loops.
   *
   * @param templates names, such as {@code sign-in}; others are compiled when first rendered
   */
  public PageTemplates(Vertx vertx, List<String> templates) {
    ClasspathLoader loader = new ClasspathLoader(PageTemplates.class.getClassLoader());
    loader.setPrefix("pages");
    PebbleEngine pebble =
        new PebbleEngine.Builder()
            .loader(loader)
            .autoEscaping(true)
            .strictVariables(true)
            .newLineTrimming(false)
            .build();
    engine = PebbleTemplateEngine.create(vertx, pebble);
    templates.forEach(name -> pebble.getTemplate(file(name)));
    // The first page of a process loads all that renders pages, for which no event loop stands
    // still and no start waits: it is this one, for nobody.
    vertx.executeBlocking(() -> render("message", NOBODYS), false);
  }

  /**
   * A page.
   *
   * @param model values by name; text, numbers, truths, lists and maps of them
   * @throws IllegalStateException when the template is missing or lacks a value
   */
  public Buffer render(String template, Map<String, Object> model) {
    // The engine renders from what it compiled, on the caller's thread.
    Future<Buffer> rendered = engine.render(model, file(template));
    if (!rendered.succeeded()) {
      throw new IllegalStateException("page " + template + " failed", rendered.cause());
    }
    return rendered.result();
  }

  private static String file(String template) {
    return template + ".peb";
  }
}
