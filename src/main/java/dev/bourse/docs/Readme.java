package dev.bourse.docs;

import dev.bourse.schemas.checkpoints.ReadmeJson;
import dev.bourse.schemas.checkpoints.ReadmePartJson;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TableRow;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.BlockQuote;
import org.commonmark.node.BulletList;
import org.commonmark.node.Code;
import org.commonmark.node.Emphasis;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HardLineBreak;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Link;
import org.commonmark.node.ListItem;
import org.commonmark.node.Node;
import org.commonmark.node.OrderedList;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.StrongEmphasis;
import org.commonmark.node.Text;
import org.commonmark.node.ThematicBreak;
import org.commonmark.parser.Parser;
import org.jspecify.annotations.Nullable;

/**
 * Converts a README that a member published to parts: a flat list of texts between opened and
 * closed elements. A page builds its elements from the parts, so no markup of the author's reaches
 * a browser: HTML is text, an image is its description, and only links to web and mail addresses
 * are links.
 */
public final class Readme {
  /**
   * More bytes are cut off: no reader scrolls through more, and a parser's time grows with them.
   */
  public static final int MAX_BYTES = 128 * 1024;

  /** A README of the longest size has a few thousand. */
  static final int MAX_PARTS = 20_000;

  /**
   * Characters of all texts and addresses. A long README has a quarter of them, but one that refers
   * to the same long address in every word has hundreds of times as many.
   */
  static final int MAX_CHARACTERS = 512 * 1024;

  /** Elements within each other. */
  private static final int MAX_DEPTH = 32;

  private static final Pattern LINK =
      Pattern.compile(
          "(https?://|mailto:)[^\\s\\x00-\\x1f\\x7f]{1,2000}", Pattern.CASE_INSENSITIVE);

  /** Control characters, and those that reorder or hide text. */
  private static final Pattern UNSEEN =
      Pattern.compile(
          "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]");

  private static final Map<Class<?>, String> ELEMENTS =
      Map.of(
          Heading.class, "heading",
          Paragraph.class, "paragraph",
          BlockQuote.class, "quote",
          BulletList.class, "list",
          OrderedList.class, "numbered",
          ListItem.class, "item",
          StrongEmphasis.class, "strong",
          Emphasis.class, "emphasis",
          TableBlock.class, "table",
          TableRow.class, "row");

  private static final Parser PARSER = parser(List.of(TablesExtension.create()));

  private static final Parser WITHOUT_TABLES = parser(List.of());

  /** Characters of the second line of a table, and of the quotes that it is in. */
  private static final String SEPARATOR = "|:- \t>";

  private final List<ReadmePartJson> parts = new ArrayList<>();
  private int characters;
  private boolean isCut;

  private Readme() {}

  private static Parser parser(List<Extension> extensions) {
    return Parser.builder()
        .extensions(extensions)
        .maxOpenBlockParsers(MAX_DEPTH)
        .maxInlineNesting(MAX_DEPTH)
        .build();
  }

  /**
   * Returns the answer with the parts of a README.
   *
   * @param bytes its first bytes, at most {@link #MAX_BYTES}; invalid UTF-8 is replaced
   * @param length the length of the whole README
   */
  public static ReadmeJson parse(byte[] bytes, String path, long length, String sha256) {
    Readme readme = new Readme();
    String text = visible(new String(bytes, StandardCharsets.UTF_8));
    // A table with more cells than parts would be cut off anyway.
    readme.walk((maxCells(text) > MAX_PARTS ? WITHOUT_TABLES : PARSER).parse(text));
    return new ReadmeJson(
        readme.parts, bytes.length < length || readme.isCut, path, length, sha256);
  }

  /**
   * Returns a bound of the cells of a text's tables, without those of one column. The parser adds
   * cells to each row until it has as many as the first one, so a thousand columns and a thousand
   * rows of one letter are a million cells, and a text of 120 KB has twenty such tables. Tables do
   * not overlap, and each ends at a blank line at the latest.
   */
  static long maxCells(String text) {
    long cells = 0;
    long rows = 0;
    long columns = 0;
    for (String line : text.lines().toList()) {
      if (isOf(" \t", line)) {
        cells += rows * columns;
        rows = 0;
        columns = 0;
      } else {
        rows++;
        if (isOf(SEPARATOR, line)) {
          // A table of one column adds no cells, with or without this character.
          long separators = line.chars().filter(one -> one == '|').count();
          columns = Math.max(columns, separators == 0 ? 0 : separators + 1);
        }
      }
    }
    return cells + rows * columns;
  }

  private static boolean isOf(String characters, String line) {
    return line.chars().allMatch(one -> characters.indexOf(one) >= 0);
  }

  /** Called before parsing and after it, because the parser decodes character references. */
  private static String visible(String text) {
    return UNSEEN.matcher(text).replaceAll("");
  }

  /** Visits without recursion, because the author decides how deep the document is. */
  private void walk(Node document) {
    Node node = document.getFirstChild();
    while (node != null && node != document) {
      if (parts.size() >= MAX_PARTS || characters >= MAX_CHARACTERS) {
        isCut = true;
        closeAll(node, document);
        return;
      }
      open(node);
      Node next = node.getFirstChild();
      while (next == null && node != null && node != document) {
        close(node);
        next = node.getNext();
        node = next == null ? node.getParent() : node;
      }
      node = next;
    }
  }

  private void closeAll(Node from, Node document) {
    for (Node open = from.getParent(); open != null && open != document; open = open.getParent()) {
      close(open);
    }
  }

  private void open(Node node) {
    String element = element(node);
    if (element != null) {
      String address = node instanceof Link link ? link.getDestination() : null;
      characters += address == null ? 0 : address.length();
      parts.add(
          new ReadmePartJson(
              element,
              null,
              null,
              node instanceof Heading heading ? (Integer) heading.getLevel() : null,
              address));
      return;
    }
    if (node instanceof Text text) {
      text(text.getLiteral());
    } else if (node instanceof HtmlInline html) {
      text(html.getLiteral());
    } else if (node instanceof HtmlBlock html) {
      parts.add(opened("paragraph"));
      text(html.getLiteral());
      parts.add(closed("paragraph"));
    } else if (node instanceof Code code) {
      leaf("code", code.getLiteral());
    } else if (node instanceof FencedCodeBlock block) {
      leaf("pre", block.getLiteral());
    } else if (node instanceof IndentedCodeBlock block) {
      leaf("pre", block.getLiteral());
    } else if (node instanceof SoftLineBreak) {
      text("\n");
    } else if (node instanceof HardLineBreak) {
      leaf("break", "");
    } else if (node instanceof ThematicBreak) {
      leaf("rule", "");
    }
  }

  private void close(Node node) {
    String element = element(node);
    if (element != null) {
      parts.add(closed(element));
    }
  }

  private static ReadmePartJson opened(String element) {
    return new ReadmePartJson(element, null, null, null, null);
  }

  private static ReadmePartJson closed(String element) {
    return new ReadmePartJson(null, element, null, null, null);
  }

  private void text(@Nullable String text) {
    String visible = text == null ? "" : visible(text);
    characters += visible.length();
    parts.add(new ReadmePartJson(null, null, visible, null, null));
  }

  private void leaf(String element, @Nullable String text) {
    parts.add(opened(element));
    text(text);
    parts.add(closed(element));
  }

  /** Returns the element of a node with children; null for a leaf and for a hidden node. */
  private static @Nullable String element(Node node) {
    if (node instanceof Link link) {
      String address = link.getDestination();
      return LINK.matcher(address).matches() && !UNSEEN.matcher(address).find() ? "link" : null;
    }
    if (node instanceof TableCell cell) {
      return cell.isHeader() ? "header" : "cell";
    }
    return ELEMENTS.get(node.getClass());
  }
}
