package dev.bourse.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("fast")
class MarkdownTest {
  private final Markdown markdown = new Markdown();

  @Test
  void headingsHaveIdsAndGuidesLinkEachOther() {
    assertEquals("<h2 id=\"swap-a-node\">Swap a node</h2>\n", markdown.html("## Swap a node"));
    assertEquals("<p><a href=\"money\">money</a></p>\n", markdown.html("[money](money.md)"));
    assertEquals(
        "<p><a href=\"money#holds\">holds</a></p>\n", markdown.html("[holds](money.md#holds)"));
    assertTrue(markdown.html("[a](https://a.example/x.md)").contains("https://a.example/x.md"));
  }

  @Test
  void codeBlocksCanBeFocusedToScrollThemByKeyboard() {
    assertEquals(
        "<pre tabindex=\"0\"><code class=\"language-sh\">ls\n</code></pre>\n",
        markdown.html("```sh\nls\n```"));
  }

  @Test
  void htmlAndScriptsAreShownAndDoNothing() {
    assertFalse(markdown.html("a <script>alert(1)</script> b").contains("<script>"));
    assertFalse(markdown.html("[a](javascript:alert(1))").contains("javascript"));
  }

  @Test
  void aTextIsPartedByItsHeadingsOfLevelTwo() {
    List<Markdown.Section> sections =
        markdown.sections("# Title\n\nFirst.\n\n## One `two`\n\nA *b*\nc.\n\n### Deep\n\nd");
    assertEquals(List.of("", "one-two"), sections.stream().map(Markdown.Section::id).toList());
    assertEquals("One two", sections.get(1).title());
    assertTrue(sections.get(1).text().contains("Deep d"), sections.get(1).text());
  }
}
