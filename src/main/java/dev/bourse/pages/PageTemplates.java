package dev.bourse.pages;

import io.pebbletemplates.pebble.PebbleEngine;
import io.pebbletemplates.pebble.error.PebbleException;
import io.pebbletemplates.pebble.loader.ClasspathLoader;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;

/**
 * The templates of all pages: {@code resources/pages/<name>.peb}. Values are escaped for their
 * context; a missing variable is an error. Thread-safe.
 */
public final class PageTemplates {
  /** The media type of a page. */
  public static final String HTML = "text/html; charset=utf-8";

  private static final Map<String, Object> SAMPLE =
      Map.of("title", "<", "text", "<", "note", "<", "link", "<", "link_text", "<");

  private final PebbleEngine engine;

  /**
   * Compiles these templates, which takes some tenths of a second: call it off the event loops.
   *
   * @param templates names, such as {@code sign-in}; others are compiled when first rendered
   */
  public PageTemplates(List<String> templates) {
    ClasspathLoader loader = new ClasspathLoader(PageTemplates.class.getClassLoader());
    loader.setPrefix("pages");
    engine =
        new PebbleEngine.Builder()
            .loader(loader)
            .autoEscaping(true)
            .strictVariables(true)
            .newLineTrimming(false)
            .build();
    templates.forEach(name -> engine.getTemplate(file(name)));
  }

  /**
   * Renders one page on a worker thread. The first page of a process loads every class that renders
   * pages; neither an event loop nor the start of the service should wait for that.
   */
  public void warmUp(Vertx vertx) {
    vertx.executeBlocking(() -> render("message", SAMPLE), false);
  }

  /**
   * Renders a page.
   *
   * @param model values by name; text, numbers, booleans, lists and maps of them
   * @throws IllegalStateException when the template is missing or lacks a value
   */
  public Buffer render(String template, Map<String, Object> model) {
    StringWriter page = new StringWriter();
    try {
      engine.getTemplate(file(template)).evaluate(page, model);
    } catch (PebbleException | IOException e) {
      throw new IllegalStateException("page " + template + " failed", e);
    }
    return Buffer.buffer(page.toString());
  }

  private static String file(String template) {
    return template + ".peb";
  }
}
