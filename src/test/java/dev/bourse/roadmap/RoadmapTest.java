package dev.bourse.roadmap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The file of the roadmap: what it says, and the faults that it is refused for. */
class RoadmapTest {
  private static final String ENTRY =
      """
      entries:
        - id: outlook
          title: What you lose next
          status: %s
          since: "2026-03-01"
          summary: Names the nodes.
          operations: %s
      """;

  private static Roadmap read(String text) throws IOException {
    return Roadmap.read("roadmap.yaml", new StringReader(text));
  }

  private static List<String> faults(String text) {
    return String.valueOf(assertThrows(IOException.class, () -> read(text)).getMessage())
        .lines()
        .toList();
  }

  @Test
  void entriesAreAnsweredInTheirOrderAndByStatus() throws IOException {
    Roadmap roadmap =
        read(
            ENTRY.formatted("shipped", "[readOutlook]")
                + """
                  - { id: join, title: Join, status: planned, since: "2026-04-01", summary: Later. }
                """);
    assertEquals(
        """
        {"entries":[{"id":"outlook","title":"What you lose next","status":"shipped",\
        "since":"2026-03-01","summary":"Names the nodes.","operations":["readOutlook"]},\
        {"id":"join","title":"Join","status":"planned","since":"2026-04-01","summary":"Later.",\
        "operations":[]}]}\
        """,
        roadmap.toJson(Optional.empty()).encode());
    assertEquals(
        "join",
        roadmap
            .toJson(Optional.of("planned"))
            .getJsonArray("entries")
            .getJsonObject(0)
            .getString("id"));
    assertEquals(0, roadmap.toJson(Optional.of("withdrawn")).getJsonArray("entries").size());
  }

  @Test
  void whatIsShippedNamesOperationsThatExist() throws IOException {
    assertEquals(
        List.of(
            "roadmap.yaml: entries[0]: operations is missing; a shipped feature names the operations"
                + " it consists of"),
        faults(ENTRY.formatted("shipped", "[]")));
    Roadmap named = read(ENTRY.formatted("shipped", "[readOutlook, dance]"));
    assertEquals(
        "roadmap entry 'outlook': no contract has an operation 'dance'",
        assertThrows(IOException.class, () -> named.requireOperations(Set.of("readOutlook")))
            .getMessage());
    named.requireOperations(Set.of("readOutlook", "dance"));
    read(ENTRY.formatted("planned", "[dance]")).requireOperations(Set.of());
  }

  @Test
  void everyFaultIsNamedWithItsPlace() {
    assertEquals(
        List.of(
            "roadmap.yaml: entries[0]: id: 'A b': expected 1 to 63 lower-case letters, digits and"
                + " hyphens, and no hyphen first",
            "roadmap.yaml: entries[0]: title is missing",
            "roadmap.yaml: entries[0]: status: 'done': expected planned, preview, shipped,"
                + " withdrawn",
            "roadmap.yaml: entries[0]: since: 'soon': expected a day such as \"2026-03-01\", in"
                + " quotes",
            "roadmap.yaml: entries[0]: summary: '"
                + "x".repeat(501)
                + "': expected 1 to 500"
                + " characters",
            "roadmap.yaml: entries[0]: no such key: owner"),
        faults(
            """
            entries:
              - { id: A b, status: done, since: soon, summary: %s, owner: me }
            """
                .formatted("x".repeat(501))));
    assertEquals(
        List.of("roadmap.yaml: the id 'outlook' is used twice"),
        faults(
            ENTRY.formatted("planned", "[]")
                + """
                  - { id: outlook, title: x, status: planned, since: "2026-04-01", summary: x }
                """));
    StringBuilder many = new StringBuilder("entries:\n");
    for (int i = 0; i <= Roadmap.MAX_ENTRIES; i++) {
      many.append(
          "  - {id: e%d, title: x, status: planned, since: \"2026-04-01\", summary: x}\n"
              .formatted(i));
    }
    assertEquals(
        List.of("roadmap.yaml: 101 entries; expected at most 100"), faults(many.toString()));
  }
}
