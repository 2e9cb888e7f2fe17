package dev.bourse.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.admin.AdminCommand;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.AutoComplete;
import picocli.CommandLine;

/** The operators' interface from a command line. */
@EachEngine
class AdminCommandTest {
  private static RunningBourse bourse;

  /** What a command line came to. */
  private record Outcome(int exitCode, String out, String err) {
    JsonObject json() {
      assertEquals(0, exitCode, err);
      return new JsonObject(out);
    }
  }

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static Outcome run(Map<String, String> environment, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = AdminCommand.create(environment);
    line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int exitCode = line.execute(arguments);
    return new Outcome(exitCode, out.toString(), err.toString());
  }

  private static Outcome admin(String... arguments) {
    return run(
        Map.of(
            "BOURSE_URL", bourse.service().baseUrl(),
            "BOURSE_OPERATOR_TOKEN", bourse.operatorToken()),
        arguments);
  }

  @Test
  void everyOperationIsOneCommandWithHelp() {
    CommandLine line = AdminCommand.create(Map.of());
    TreeSet<String> verbs = new TreeSet<>();
    line.getSubcommands()
        .forEach(
            (noun, nounLine) ->
                nounLine
                    .getSubcommands()
                    .forEach(
                        (verb, verbLine) -> {
                          verbs.add(noun + " " + verb);
                          assertTrue(verbLine.getUsageMessage().contains("--output"), verb);
                        }));
    long operations =
        ContractCheck.operations().stream()
            .filter(operation -> operation.path().startsWith("/api/operator/"))
            .count();
    assertEquals(operations, verbs.size(), verbs::toString);
  }

  @Test
  void aThingIsShownAsATableOrAsJson() {
    String table = admin("switches", "show").out();
    assertTrue(table.contains("capacity_writes_armed  true\n"), table);
    assertEquals(
        new JsonObject()
            .put("capacity_writes_armed", true)
            .put("spend_limit_enforced", false)
            .put("billing_hold_enforced", false),
        admin("switches", "show", "--output", "json").json());
  }

  @Test
  void fieldsLeftOutStayAsTheyAre() {
    JsonObject thrown =
        admin("switches", "set", "--spend-limit-enforced", "true", "-o", "json").json();
    assertEquals(true, thrown.getBoolean("spend_limit_enforced"));
    assertEquals(true, thrown.getBoolean("capacity_writes_armed"));
    admin("switches", "set", "--spend-limit-enforced=false", "-o", "json").json();
  }

  @Test
  void aValueOfTheWrongKindIsRefusedBeforeAnythingIsSent() {
    Outcome outcome = admin("switches", "set", "--spend-limit-enforced", "maybe");
    assertEquals(2, outcome.exitCode());
    assertTrue(
        outcome.err().contains("--spend-limit-enforced: 'maybe' is no boolean"), outcome.err());
  }

  @Test
  void aRefusalIsToldAsTheServiceWordsIt() {
    Outcome outcome = admin("switches", "set");
    assertEquals(1, outcome.exitCode());
    assertTrue(outcome.err().startsWith("bad-request: "), outcome.err());
  }

  @Test
  void whoHasNoOperatorsTokenIsToldWhereToFindOne(@TempDir Path empty) {
    String url = bourse.service().baseUrl();
    Outcome none = run(Map.of("BOURSE_URL", url), "switches", "show", "--data", empty.toString());
    assertEquals(2, none.exitCode());
    assertTrue(none.err().contains("no operator's token"), none.err());
    Outcome wrong =
        run(
            Map.of("BOURSE_URL", url, "BOURSE_OPERATOR_TOKEN", bourse.secret("acme", "orgwide")),
            "switches",
            "show");
    assertEquals(1, wrong.exitCode());
    assertTrue(wrong.err().contains("BOURSE_OPERATOR_TOKEN"), wrong.err());
  }

  @Test
  void theDataFolderTellsServiceAndToken(@TempDir Path elsewhere) throws IOException {
    Outcome local = run(Map.of(), "switches", "show", "--data", bourse.data().toString());
    assertEquals(0, local.exitCode(), local.err());
    Path file = Files.writeString(elsewhere.resolve("token"), bourse.operatorToken() + "\n");
    Outcome filed =
        run(
            Map.of(),
            "switches",
            "show",
            "--url",
            bourse.service().baseUrl(),
            "--token-file",
            file.toString());
    assertEquals(0, filed.exitCode(), filed.err());
  }

  @Test
  void aServiceThatIsAwayEndsWithItsOwnCode() {
    Outcome outcome =
        run(
            Map.of("BOURSE_OPERATOR_TOKEN", bourse.operatorToken()),
            "switches",
            "show",
            "--url",
            "http://127.0.0.1:1");
    assertEquals(3, outcome.exitCode());
    assertTrue(outcome.err().contains("cannot reach http://127.0.0.1:1"), outcome.err());
  }

  @Test
  void shellsCanCompleteTheCommands() {
    String script = AutoComplete.bash("bourse-admin", AdminCommand.create(Map.of()));
    for (String word : List.of("switches", "--capacity-writes-armed", "--token-file")) {
      assertTrue(script.contains(word), word);
    }
  }
}
