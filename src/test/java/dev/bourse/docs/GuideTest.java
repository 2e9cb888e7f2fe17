package dev.bourse.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.HashSet;
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
  void guidesLinkGuidesThatThereAre() {
    for (String name : Guide.NAMES) {
      Matcher links =
          Pattern.compile("\\]\\(([a-z-]+)\\.md\\)").matcher(Guide.load(name, BASE).markdown());
      while (links.find()) {
        assertEquals(true, Guide.NAMES.contains(links.group(1)), name + ": " + links.group(1));
      }
    }
  }
}
