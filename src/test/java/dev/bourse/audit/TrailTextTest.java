package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Entries as lines of text. */
@Tag("fast")
class TrailTextTest {
  private static String csv(String detail) {
    StringBuilder text = new StringBuilder();
    TrailText.CSV.append(text, new TrailEntry(7, 1_000, "token:a", "act", "sub", detail));
    return text.toString();
  }

  @Test
  void csvIsOfRfc4180() {
    String before = "7,1970-01-01T00:00:01.000Z,token:a,act,sub,";
    assertEquals(before + "max_gpus=8 é\r\n", csv("max_gpus=8 é"));
    assertEquals(before + "\r\n", csv(""));
    assertEquals(before + "\"a,b\"\r\n", csv("a,b"));
    assertEquals(before + "\"say \"\"hi\"\"\"\r\n", csv("say \"hi\""));
    assertEquals(before + "\"two\r\nlines\"\r\n", csv("two\r\nlines"));
    assertEquals(before + "\"two\nlines\"\r\n", csv("two\nlines"));
  }

  @Test
  void whatASpreadsheetWouldCalculateGetsAnApostrophe() {
    for (String formula : List.of("=1+1", "+1", "-1", "@SUM(A1)", "\tx")) {
      assertEquals("'" + formula + "\r\n", csv(formula).substring(csv("").length() - 2));
    }
    assertEquals("\"'=HYPERLINK(\"\"x\"\",1)\"\r\n", csv("=HYPERLINK(\"x\",1)").substring(43));
    assertEquals("\"'\rx\"\r\n", csv("\rx").substring(43));
    assertEquals("a=1\r\n", csv("a=1").substring(43));
  }

  @Test
  void ndjsonIsAnObjectALineWhateverIsInIt() {
    StringBuilder text = new StringBuilder();
    TrailEntry entry = new TrailEntry(7, 1_000, "token:a", "act", "sub", "=two\r\n\"lines\"\u2028");
    TrailText.NDJSON.append(text, entry);
    TrailText.NDJSON.append(text, entry);
    String[] lines = text.toString().split("\n", -1);
    assertEquals(3, lines.length);
    assertEquals(entry.detail(), new JsonObject(lines[0]).getString("detail"));
    assertEquals(
        List.of("id", "ts", "actor", "action", "subject", "detail"),
        List.copyOf(new JsonObject(lines[1]).fieldNames()));
  }
}
