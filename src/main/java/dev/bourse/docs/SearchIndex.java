package dev.bourse.docs;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Locale;

/**
 * The index of the documentation's search box: one entry for each section of a guide and for each
 * operation, with its name ({@code title}), its page ({@code place}), its address ({@code path})
 * and its words in lower case ({@code words}).
 */
final class SearchIndex {
  private final JsonArray entries = new JsonArray();

  void add(Guide guide, List<Markdown.Section> sections) {
    for (Markdown.Section section : sections) {
      boolean isWhole = section.id().isEmpty();
      add(
          isWhole ? guide.title() : section.title(),
          isWhole ? "Guide" : "Guide: " + guide.title(),
          isWhole ? guide.path() : guide.path() + "#" + section.id(),
          section.text());
    }
  }

  void add(String path, JsonObject document) {
    for (DocumentedOperation operation : DocumentedOperation.of(document)) {
      add(
          operation.summary(),
          operation.signature(),
          path + "#" + operation.id(),
          operation.id() + ' ' + operation.source().getString("description", ""));
    }
  }

  String encode() {
    return entries.encode();
  }

  private void add(String title, String place, String path, String text) {
    String words = (title + ' ' + place + ' ' + text).toLowerCase(Locale.ROOT);
    entries.add(
        new JsonObject()
            .put("title", title)
            .put("place", place)
            .put("path", path)
            .put("words", words.replaceAll("\\s+", " ")));
  }
}
