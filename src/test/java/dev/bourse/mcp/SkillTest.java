package dev.bourse.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.client.MemberCommands;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.contract.Contract;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ContractCheck;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Everything the skill for agents names exists. {@code scripts/smoke mcp} and {@code scripts/smoke
 * guides} check that it works as described.
 */
@Tag("fast")
class SkillTest {
  /** Programs that load skills truncate a longer description. */
  private static final int LONGEST_DESCRIPTION = 1_024;

  private static final int LONGEST = 250;
  private static final JsonObject TOOLS =
      Contract.resolvedDocument("mcp").getJsonObject("x-mcp-tools");

  private static final String SKILL = skill();

  private static String skill() {
    try (InputStream file = SkillTest.class.getResourceAsStream("/docs/skills/bourse/SKILL.md")) {
      return new String(
          Objects.requireNonNull(file, "SKILL.md").readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Set<String> found(String pattern) {
    Matcher matcher = Pattern.compile(pattern, Pattern.MULTILINE).matcher(SKILL);
    Set<String> found = new TreeSet<>();
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    assertFalse(found.isEmpty(), pattern);
    return found;
  }

  @Test
  void itBeginsWithItsNameAndWhatItIsFor() {
    List<String> lines = SKILL.lines().toList();
    assertEquals(List.of("---", "name: bourse"), lines.subList(0, 2));
    assertTrue(lines.get(2).startsWith("description: "), lines.get(2));
    // A colon and a space, or a hash after a space, would end the text for a reader of YAML.
    String description = lines.get(2).substring("description: ".length());
    assertTrue(description.length() <= LONGEST_DESCRIPTION, description);
    assertFalse(description.contains(": ") || description.contains(" #"), description);
    assertEquals("---", lines.get(3));
    assertTrue(lines.size() <= LONGEST, lines.size() + " lines, which few models read whole");
  }

  @Test
  void everyToolItNamesIsThere() {
    Set<String> named = found("`(\\w+_(?:read|write|api))`");
    named.addAll(found("\"(?:tool|helps)\": \"(\\w+)\""));
    for (String tool : named) {
      assertNotNull(TOOLS.getJsonObject(tool), tool);
    }
  }

  @Test
  void everyToolTakesTheArgumentsItIsGiven() {
    Matcher calls =
        Pattern.compile("^\\{\"tool\": \"(\\w+)\", \"arguments\": (\\{.*?\\})", Pattern.DOTALL)
            .matcher("");
    int given = 0;
    for (String call : SKILL.split("\n(?=\\{\"tool\")", -1)) {
      if (calls.reset(call).find()) {
        JsonObject properties =
            TOOLS
                .getJsonObject(calls.group(1))
                .getJsonObject("input")
                .getJsonObject("properties", new JsonObject());
        for (String name : new JsonObject(calls.group(2)).fieldNames()) {
          assertTrue(properties.containsKey(name), calls.group(1) + " takes no " + name);
          given++;
        }
      }
    }
    assertTrue(given > 50, given + " arguments");
  }

  @Test
  void everyPathItNamesIsThere() {
    Set<String> paths =
        ContractCheck.operations().stream()
            .map(ContractCheck.Described::path)
            .collect(Collectors.toSet());
    for (String path : found("\\$url(/[a-z/-]*)")) {
      assertTrue(paths.contains(path), path);
    }
  }

  @Test
  void everyCommandAndOptionItNamesIsThere() {
    CommandLine bourse =
        MemberCommands.addTo(
            new CommandLine(CommandSpec.create().name("bourse")),
            CommandEnvironment.ofProcess(),
            Optional.empty());
    for (String typed : found("(?:^|`)bourse ((?:[a-z-]+)[^`\\n]*)")) {
      CommandLine line = bourse;
      for (String word : typed.split(" ", -1)) {
        CommandLine below = line.getSubcommands().get(word);
        if (below != null) {
          line = below;
        } else if (word.equals("--")) {
          break;
        } else if (word.startsWith("--")) {
          assertNotNull(line.getCommandSpec().findOption(word), typed);
        }
      }
      assertTrue(line.getParent() != null && line.getSubcommands().isEmpty(), typed);
    }
  }

  @Test
  void everyCodeItExplainsIsARefusalAndLeadsToTheToolThatTheServiceNames() {
    Set<String> codes =
        Arrays.stream(ErrorCode.values()).map(ErrorCode::code).collect(Collectors.toSet());
    Matcher rows =
        Pattern.compile("^\\| (`.*?) \\|.*\\| (?:`(\\w+)` )?\\|$", Pattern.MULTILINE)
            .matcher(SKILL);
    int explained = 0;
    while (rows.find()) {
      for (String code : rows.group(1).replace("`", "").split(", ", -1)) {
        assertTrue(codes.contains(code), code);
        String reason = code.equals("conflict") ? "confirm-expired" : "";
        Optional<String> remedy =
            Remedies.find("bid_write", new JsonObject().put("error", code).put("reason", reason));
        Optional<String> tool = Optional.ofNullable(rows.group(2));
        assertEquals(
            tool, remedy.map(text -> text.substring(0, text.indexOf(' '))), code + " by a tool");
        explained++;
      }
    }
    assertTrue(explained > 14, explained + " codes");
    found("\"refused\": \"([a-z-]+)\"").forEach(code -> assertTrue(codes.contains(code), code));
  }
}
