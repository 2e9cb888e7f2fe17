package dev.bourse.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.store.Migrations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class GuideTest {
  private static final String BASE = "https://bourse.example";

  @Test
  void everyGuideHasATitleASummaryAndTheAddressInForce() {
    Set<String> titles = new HashSet<>();
    for (String name : Guide.NAMES) {
      Guide guide = Guide.load(name, BASE);
      titles.add(guide.title());
      assertFalse(guide.summary().isEmpty() || guide.summary().contains("\n"), name);
      assertFalse(guide.markdown().contains("localhost:8080"), name);
      assertFalse(guide.markdown().contains(" by-hand\n"), name);
    }
    assertEquals(Guide.NAMES.size(), titles.size());
  }

  @Test
  void linksLeadToGuidesAndHeadingsThatExist() {
    Pattern link = Pattern.compile("\\]\\((?:([a-z-]+)\\.md)?(#[a-z0-9-]+)?\\)");
    Markdown markdown = new Markdown();
    Map<String, String> pages = new HashMap<>();
    for (String name : Guide.NAMES) {
      pages.put(name, markdown.html(Guide.load(name, BASE).markdown()));
    }
    for (String name : Guide.NAMES) {
      Matcher links = link.matcher(Guide.load(name, BASE).markdown());
      while (links.find()) {
        String page = pages.get(links.group(1) == null ? name : links.group(1));
        assertNotNull(page, name + ": " + links.group());
        String heading = links.group(2);
        assertTrue(
            heading == null || page.contains(" id=\"" + heading.substring(1) + '"'),
            name + ": " + links.group());
      }
    }
  }

  @Test
  void theNewestChangesAreThoseOfThisProgramAndItsSchema() throws IOException {
    Matcher pom =
        Pattern.compile("<artifactId>bourse</artifactId>\\s*<version>([^<]+)</version>")
            .matcher(Files.readString(Path.of("pom.xml")));
    assertTrue(pom.find());
    Matcher newest =
        Pattern.compile(
                "(?s)^.*?\n## (\\S+)\n\n(Not released yet\\. )?The schema: (?:its|(\\d+)) steps")
            .matcher(Guide.load(Guide.CHANGES, BASE).markdown());
    assertTrue(newest.find());
    assertEquals(pom.group(1), newest.group(1));
    boolean isReleased = newest.group(2) == null;
    assertEquals(
        isReleased ? String.valueOf(Migrations.load("db/schema").version()) : null,
        newest.group(3),
        "the steps of the schema, as the newest release tells them once it is released");
  }
}
