package dev.bourse.docs;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A text about one subject: {@code resources/guides/<name>.md}. It starts with a title and a
 * summary. Its commands use the demo's address, which is replaced with the service's own.
 */
record Guide(String name, String title, String summary, String markdown) {
  /** The changes of each release; its address stays when the guides' addresses change. */
  static final String CHANGES = "changes";

  /** The guides in the order of their list. */
  static final List<String> NAMES =
      List.of(
          "capacity",
          "market",
          "members",
          "applications",
          "command-line",
          "libraries",
          "agents",
          "webhooks",
          "trail",
          "checkpoints",
          "money",
          "operators",
          "cells",
          "glossary",
          CHANGES);

  private static final String DEMO = "http://localhost:8080";

  /** Words in a code block's info string that instruct test runners and are hidden from readers. */
  private static final Pattern RUNNING = Pattern.compile("(?m)^(```[a-z]+) (?:by-hand|serve)$");

  static Guide load(String name, String baseUrl) {
    String text = localized(Resource.text("guides/" + name + ".md"), baseUrl);
    String[] begin = text.split("\n\n", 3);
    if (begin.length < 3 || !begin[0].startsWith("# ")) {
      throw new IllegalStateException("guide " + name + " does not begin with a title and a text");
    }
    return new Guide(name, begin[0].substring(2), begin[1].replace('\n', ' '), text);
  }

  /** A text for the demo with the address of this service. */
  static String localized(String text, String baseUrl) {
    return RUNNING.matcher(text).replaceAll("$1").replace(DEMO, baseUrl);
  }

  String path() {
    return path(name);
  }

  static String path(String name) {
    return name.equals(CHANGES) ? "/docs/changes" : "/docs/guides/" + name;
  }
}
