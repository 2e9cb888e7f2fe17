package dev.bourse.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** READMEs of members, who may be hostile. */
@Tag("fast")
class ReadmeTest {
  private static JsonObject parsed(String text) {
    return parsed(text.getBytes(StandardCharsets.UTF_8));
  }

  private static JsonObject parsed(byte[] bytes) {
    return checked(Readme.parse(bytes, "README.md", bytes.length, "ab12").toTree());
  }

  /** Every opened element is closed, and nothing is deeper than a page can show. */
  private static JsonObject checked(JsonObject readme) {
    Deque<String> open = new ArrayDeque<>();
    for (JsonObject part : parts(readme)) {
      if (part.containsKey("open")) {
        open.push(part.getString("open"));
      } else if (part.containsKey("close")) {
        assertEquals(open.pop(), part.getString("close"));
      } else {
        assertTrue(part.containsKey("text"), part.encode());
      }
      assertTrue(open.size() < 100, "the depth is bounded");
    }
    assertTrue(open.isEmpty(), "all are closed");
    return readme;
  }

  private static List<JsonObject> parts(JsonObject readme) {
    return readme.getJsonArray("parts").stream().map(JsonObject.class::cast).toList();
  }

  /** The parts in one line: {@code <name>} opens, {@code </name>} closes, else text. */
  private static String shown(String markdown) {
    StringBuilder shown = new StringBuilder();
    for (JsonObject part : parts(parsed(markdown))) {
      if (part.containsKey("open")) {
        shown.append('<').append(part.getString("open"));
        if (part.containsKey("href")) {
          shown.append(' ').append(part.getString("href"));
        }
        if (part.containsKey("level")) {
          shown.append(' ').append(part.getInteger("level"));
        }
        shown.append('>');
      } else if (part.containsKey("close")) {
        shown.append("</").append(part.getString("close")).append('>');
      } else {
        shown.append(part.getString("text"));
      }
    }
    return shown.toString();
  }

  @Test
  void markdownBecomesElements() {
    assertEquals(
        "<heading 1>Llama</heading><paragraph>a <strong>b</strong> <emphasis>c</emphasis>"
            + " <code>d</code></paragraph>",
        shown("# Llama\n\na **b** *c* `d`"));
    assertEquals(
        "<list><item><paragraph>a</paragraph></item><item><paragraph>b</paragraph></item></list>",
        shown("- a\n- b"));
    assertEquals("<pre>ls\n</pre>", shown("```sh\nls\n```"));
    assertEquals(
        "<table><row><header>a</header></row><row><cell>1</cell></row></table>",
        shown("| a |\n|---|\n| 1 |"));
    assertEquals(
        "<paragraph><link https://acme.example/>site</link></paragraph>",
        shown("[site](https://acme.example/)"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java&#10;script:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](\\u0001javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:msgbox)",
        "[x](file:///etc/passwd)",
        "[x](/console/account)",
        "[x](//evil.example)",
        "[x](blob:https://acme.example/1)",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
      })
  void onlyAddressesOfTheWebAndOfMailAreLinks(String markdown) {
    assertFalse(shown(markdown).contains("<link"), shown(markdown));
  }

  @Test
  void htmlIsText() {
    for (String html :
        List.of(
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<iframe src=\"https://evil.example\"></iframe>",
            "a <b onclick=\"alert(1)\">b</b>",
            "<!-- x -->")) {
      JsonObject readme = parsed(html);
      StringBuilder text = new StringBuilder();
      parts(readme).forEach(part -> text.append(part.getString("text", "")));
      assertEquals(html, text.toString().strip());
      assertTrue(
          parts(readme).stream()
              .allMatch(part -> part.getString("open", "paragraph").equals("paragraph")));
    }
  }

  @Test
  void imagesAreTheirDescriptions() {
    String shown = shown("![a cat](https://tracker.example/x.png)");
    assertEquals("<paragraph>a cat</paragraph>", shown);
  }

  @Test
  void controlCharactersAndHiddenOnesAreLeftOut() {
    assertEquals("<paragraph>ab</paragraph>", shown("a\u202e\u200b\u0000\u001bb"));
    assertEquals("<paragraph>ab</paragraph>", shown("a&#x202e;&#8203;&#27;&ZeroWidthSpace;b"));
    assertFalse(shown("[x](https://acme.example/&#x202e;a)").contains("<link"));
  }

  @Test
  void invalidUtf8IsReplaced() {
    byte[] bytes = {'a', (byte) 0xff, (byte) 0xc0, (byte) 0xaf, 'b', (byte) 0xe2, (byte) 0x82};
    String text = parts(parsed(bytes)).get(1).getString("text");
    assertTrue(text.startsWith("a\ufffd"), text);
    assertTrue(text.contains("b"), text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ">",
        "- ",
        "1. ",
        "* ",
        "[",
        "![",
        "*a",
        "**",
        "_",
        "`",
        "<",
        "</",
        "# ",
        "|",
        "a|\n-|\n",
        "[a](",
        "[a]: b\n",
        "\\",
        "&",
        "~~~\n",
        "> - ",
        "*a_",
        "(",
        "[[a]",
        "\t",
        "<a b='"
      })
  void repeatedMarksAreParsedInBoundedDepthAndSize(String mark) {
    JsonObject readme = parsed(mark.repeat(Readme.MAX_BYTES / mark.length()));
    assertTrue(parts(readme).size() <= Readme.MAX_PARTS + 200);
  }

  @Test
  void manyElementsAreCutOff() {
    JsonObject readme = parsed("*a*\n\n".repeat(Readme.MAX_BYTES / 5));
    assertTrue(readme.getBoolean("truncated"));
    assertFalse(parsed("a").getBoolean("truncated"));
    assertTrue(
        Readme.parse("a".getBytes(StandardCharsets.UTF_8), "README.md", 2, "ab12").truncated());
  }

  @Test
  void aLongAddressThatIsReferredToOftenIsCutOff() {
    String address = "https://" + "a".repeat(1_900);
    JsonObject readme = parsed("[x]: " + address + "\n\n" + "[x]a".repeat(30_000));
    assertTrue(readme.getBoolean("truncated"));
    assertTrue(readme.encode().length() < 2 * Readme.MAX_CHARACTERS, "" + readme.encode().length());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "> ", "  "})
  void tablesThatGrowToMoreCellsThanPartsAreText(String indent) {
    String start = indent + "|a".repeat(1_000) + "\n" + indent + "|-".repeat(1_000) + "\n";
    for (String row : List.of("a\n", indent + "a\n", indent + "|a\n", "    >\n", "\u3000\n")) {
      JsonObject readme = parsed((start + row.repeat(1_100) + "\n").repeat(2));
      assertFalse(readme.encode().contains("\"table\""), row);
      assertTrue(readme.encode().contains("|a|a"), row);
    }
  }

  @Test
  void aLongTableIsATable() {
    String row = "|a|b|c|\n";
    JsonObject readme = parsed(row + "|-|:-|-:|\n" + row.repeat(1_000));
    assertTrue(readme.encode().contains("\"table\""));
    assertFalse(readme.getBoolean("truncated"));
  }

  @Test
  void noiseIsParsed() {
    Random random = new Random(1);
    byte[] marks = "<>[]()*_`#-|!\\&\n\t 1.a:~'\"".getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 50; i++) {
      byte[] noise = new byte[4_000];
      for (int at = 0; at < noise.length; at++) {
        noise[at] = marks[random.nextInt(marks.length)];
      }
      parsed(Arrays.copyOf(noise, noise.length));
    }
  }
}
