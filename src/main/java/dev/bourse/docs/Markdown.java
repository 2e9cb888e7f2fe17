package dev.bourse.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/**
 * Converts Markdown to HTML. Headings get ids, links to {@code name.md} lead to the rendered page,
 * and HTML in the text is escaped.
 */
final class Markdown {
  private static final List<Extension> EXTENSIONS = List.of(TablesExtension.create());

  private final Parser parser = Parser.builder().extensions(EXTENSIONS).build();
  private final HtmlRenderer renderer =
      HtmlRenderer.builder()
          .extensions(EXTENSIONS)
          .escapeHtml(true)
          .sanitizeUrls(true)
          .attributeProviderFactory(
              context -> (node, tag, attributes) -> extend(node, tag, attributes))
          .build();

  /**
   * A heading with its text.
   *
   * @param id the heading's id on the page; empty for the text before the first heading
   */
  record Section(String id, String title, String text) {}

  String html(String markdown) {
    return renderer.render(parser.parse(markdown));
  }

  /** The text split at headings of level two, for a search. */
  List<Section> sections(String markdown) {
    List<Section> sections = new ArrayList<>();
    String id = "";
    String title = "";
    StringBuilder text = new StringBuilder();
    Node node = parser.parse(markdown).getFirstChild();
    for (; node != null; node = node.getNext()) {
      if (node instanceof Heading heading && heading.getLevel() == 2) {
        sections.add(new Section(id, title, text.toString()));
        title = text(heading);
        id = id(title);
        text.setLength(0);
      } else {
        text.append(text(node)).append(' ');
      }
    }
    sections.add(new Section(id, title, text.toString()));
    return sections;
  }

  private static void extend(Node node, String tag, Map<String, String> attributes) {
    if (tag.equals("pre")) {
      // A block that is wider than the page can be scrolled by keyboard.
      attributes.put("tabindex", "0");
    } else if (node instanceof Heading heading) {
      attributes.put("id", id(text(heading)));
    } else if (node instanceof Link link) {
      // The renderer's rel would keep search engines from following the link.
      attributes.remove("rel");
      if (link.getDestination().matches("[a-z-]+\\.md(#[a-z0-9-]+)?")) {
        attributes.put("href", link.getDestination().replace(".md", ""));
      }
    }
  }

  private static String id(String title) {
    return title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
  }

  private static String text(Node node) {
    StringBuilder text = new StringBuilder();
    node.accept(
        new AbstractVisitor() {
          @Override
          public void visit(Text part) {
            text.append(part.getLiteral()).append(part.getNext() == null ? " " : "");
          }

          @Override
          public void visit(Code part) {
            text.append(part.getLiteral());
          }

          @Override
          public void visit(SoftLineBreak part) {
            text.append(' ');
          }
        });
    return text.toString().strip();
  }
}
