package dev.bourse.docs;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A text about one subject: {@code resources/guides/<name>.md}. It begins with a title and a
 * paragraph that says what it is about. Its commands are written for the demo's address, which
 * gives way to the service's own.
 */
record Guide(String name, String title, String summary, String markdown) {
  /** What each release brings; it has an address that does not change with the guides'. */
  static final String CHANGES = "changes";

  /** The guides in the order in which they are listed. */
  static final List<String> NAMES =
      List.of(
          "capacity",
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
          CHANGES);

  private static final String DEMO = "http://localhost:8080";

  /** What a code block's info string says to whoever runs the block, and to no reader. */
  private static final Pattern RUNNING = Pattern.compile("(?m)^(```[a-z]+) (?:by-hand|serve)$");

  static Guide load(String name, String baseUrl) {
    String text = localized(Resource.text("guides/" + name + ".md"), baseUrl);
    String[] begin = text.split("\n\n", 3);
    if (begin.length < 3 || !begin[0].startsWith("# ")) {
      throw new IllegalStateException("guide " + name + " does not begin with a title and a text");
    }
    return new Guide(name, begin[0].substring(2), begin[1].replace('\n', ' '), text);
  }

  /** A text for the demo, for the service at this address. */
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
