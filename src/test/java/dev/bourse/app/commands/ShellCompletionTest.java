package dev.bourse.app.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.client.transfer.CommandEnvironment;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The completions offered to shells. */
@Tag("fast")
class ShellCompletionTest {
  private static final String NAMES =
      """
      {"profiles": {
        "http://localhost:8080": {
          "clusters": {"acme-train": "vm", "acme-eval": "vm", "acme-pods": "k8s"},
          "nodes": [
            {"cluster": "acme-train", "name": "acme-train-0", "address": "198.18.0.3"},
            {"cluster": "acme-train", "name": "acme-train-1", "address": "198.18.0.4"},
            {"cluster": "acme-eval", "name": "acme-eval-0", "address": "198.18.0.5"}]},
        "work": {"clusters": {"globex-train": "vm"}, "nodes": []}}}
      """;

  private Path home;
  private final Map<String, String> variables = new HashMap<>();

  @BeforeEach
  void known(@TempDir Path folder) throws IOException {
    home = folder;
    variables.put("XDG_CONFIG_HOME", home.toString());
    Files.createDirectories(home.resolve("bourse"));
    names(NAMES);
  }

  private void names(String content) throws IOException {
    Files.writeString(home.resolve("bourse/names.json"), content);
  }

  private CommandEnvironment environment() {
    return new CommandEnvironment(
        variables,
        false,
        Clock.systemUTC(),
        new Random(1),
        over -> {},
        Optional::empty,
        Optional.empty());
  }

  /** The completions of the last of these words. */
  private List<String> offered(String... words) {
    List<String> asked = new ArrayList<>(List.of(String.valueOf(words.length - 1)));
    asked.addAll(Arrays.asList(words));
    return Commands.completion(environment()).candidates(asked);
  }

  @Test
  void theFirstWordIsANounOrACommand() {
    assertEquals(List.of("status"), offered("sta"));
    assertEquals(List.of("checkpoint", "checkpoints"), offered("checkp"));
    assertEquals(List.of("--help", "--version"), offered("-"));
    assertEquals(List.of(), offered("zebra"));
  }

  @Test
  void everyCommandThatHelpListsIsOffered() {
    Set<String> listed =
        new TreeSet<>(Commands.commandsFor("", environment()).getSubcommands().keySet());
    assertEquals(listed, new TreeSet<>(offered("")));
    assertFalse(listed.contains(ShellCompletion.TYPED), "it is not meant for people");
  }

  @Test
  void theSecondWordIsAVerbOfTheNoun() {
    assertTrue(offered("billing", "").contains("balance"), offered("billing", "")::toString);
    assertEquals(List.of("swap"), offered("nodes", "sw"));
    assertTrue(offered("admin", "").contains("clusters"), offered("admin", "")::toString);
    assertEquals(List.of("bash", "fish", "zsh"), offered("completion", ""));
  }

  @Test
  void optionsAreOfferedToWhoeverBeginsOne() {
    assertEquals(List.of("--watch"), offered("status", "--w"));
    assertEquals(List.of("--max-price", "--max-spend"), offered("up", "--gpus", "8", "--max"));
    assertTrue(offered("billing", "balance", "--").contains("--output"));
    assertEquals(List.of(), offered("status", ""));
  }

  @Test
  void valuesOfAnEnumerationAreOffered() {
    assertEquals(List.of("json", "name", "table", "yaml"), offered("status", "-o", ""));
    assertEquals(List.of("json"), offered("billing", "balance", "--output", "js"));
    assertEquals(List.of("--output=json"), offered("status", "--output=j"));
  }

  @Test
  void namesOfClustersAreOfferedWhereOneIsMeant() {
    assertEquals(List.of("acme-eval", "acme-train"), offered("up", "-c", ""));
    assertEquals(List.of("acme-train"), offered("status", "--cluster", "acme-t"));
    assertEquals(List.of("acme-eval", "acme-train"), offered("capacity", "show", "--cluster", ""));
    assertEquals(List.of("acme-pods"), offered("k8s", "bid", "--cluster", ""));
    assertEquals(List.of("acme-pods"), offered("k8s", "show", ""));
    assertEquals(
        List.of("acme-eval", "acme-pods"), offered("clusters", "show", "acme-").subList(0, 2));
  }

  @Test
  void namesOfNodesAreOfferedWhereOneIsMeant() {
    assertEquals(List.of("acme-eval-0", "acme-train-0", "acme-train-1"), offered("ssh", ""));
    assertEquals(List.of("acme-train-0", "acme-train-1"), offered("ssh", "acme-t"));
    assertEquals(List.of("acme-eval-0"), offered("ssh", "-c", "acme-eval", ""));
    assertEquals(List.of("acme-train-0:", "acme-train-1:"), offered("cp", "x.py", "acme-t"));
    assertEquals(
        List.of("198.18.0.3", "198.18.0.4", "198.18.0.5"), offered("nodes", "swap", "--node", ""));
  }

  @Test
  void whatFollowsTheNodeIsNoNode() {
    assertEquals(List.of(), offered("ssh", "acme-train-0", ""));
    assertEquals(List.of(), offered("ssh", "acme-train-0", "--", "acme"));
    assertEquals(List.of(), offered("run", "--", "acme"));
  }

  @Test
  void namesOfAnotherSignInAreNotOffered() throws IOException {
    assertFalse(offered("up", "-c", "").contains("globex-train"));
    assertEquals(List.of(), offered("up", "--url", "http://elsewhere", "-c", ""));
    Files.writeString(
        home.resolve("bourse/credentials.json"),
        "{\"services\": {\"work\": {\"url\": \"http://localhost:8080\"}}}");
    assertEquals(List.of("globex-train"), offered("up", "--profile", "work", "-c", ""));
    variables.put("BOURSE_PROFILE", "work");
    assertEquals(List.of("globex-train"), offered("up", "-c", ""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "{\"profiles\": 3}",
        "{\"profiles\": {\"http://localhost:8080\": []}}",
        "{\"profiles\": {\"http://localhost:8080\": {\"clusters\": [\"a\"], \"nodes\": [1, {}]}}}",
        "{\"profiles\": {\"http://localhost:8080\": {\"clusters\": {\"a\": 1}, \"nodes\": 7}}}"
      })
  void aFileThatIsDamagedHoldsNoNames(String content) throws IOException {
    names(content);
    assertEquals(List.of(), offered("up", "-c", ""));
    assertEquals(List.of(), offered("ssh", ""));
    assertEquals(List.of("status"), offered("sta"));
  }

  @Test
  void aFileThatIsMissingOrFarTooLongHoldsNoNames() throws IOException {
    names(NAMES + " ".repeat(2_000_000));
    assertEquals(List.of(), offered("up", "-c", ""));
    Files.delete(home.resolve("bourse/names.json"));
    assertEquals(List.of(), offered("up", "-c", ""));
    assertEquals(List.of(), offered("ssh", ""));
  }

  @Test
  void whatAShellWouldActUponIsNoName() throws IOException {
    names(
        """
        {"profiles": {"http://localhost:8080": {
          "clusters": {"$(id)": "vm", "a b": "vm", "*": "vm", "\\u001b[2J": "vm", "plain": "vm"},
          "nodes": [{"cluster": "plain", "name": "`id`", "address": "198.18.0.3"}]}}}
        """);
    assertEquals(List.of("plain"), offered("up", "-c", ""));
    assertEquals(List.of(), offered("ssh", ""));
  }

  @Test
  void aQuestionThatMakesNoSenseIsAnsweredByNothing() {
    ShellCompletion completion = Commands.completion(environment());
    for (List<String> asked :
        List.of(
            List.<String>of(),
            List.of("x"),
            List.of("-1", "status"),
            List.of("7", "status"),
            List.of("1", "zebra", "x"),
            List.of("1", "login", "--no-such"),
            List.of("2", "up", "--gpus", "many"),
            List.of("99999999999"))) {
      assertEquals(List.of(), completion.candidates(asked), asked::toString);
    }
    assertTrue(completion.candidates(List.of("0")).contains("login"), "a word that is left out");
  }

  /**
   * Loads the script and presses Tab at the end of each line. Its {@code bourse} sends the
   * arguments to this process over standard error and reads the answer from standard input, so that
   * no JVM starts.
   */
  private List<String> inBash(String... lines) throws IOException, InterruptedException {
    StringWriter script = new StringWriter();
    CommandLine line = Commands.commandsFor("completion", environment());
    line.setOut(new PrintWriter(script)).execute("completion", "bash");
    StringBuilder commands =
        new StringBuilder(
            """
            exec 3>&2
            bourse() {
              for argument in "$#" "$@"; do echo "$argument" >&3; done
              while IFS= read -r candidate && [ -n "$candidate" ]; do echo "$candidate"; done
            }
            """);
    commands.append(script);
    for (String words : lines) {
      commands.append(
          """
          COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bourse; echo "${COMPREPLY[@]}"
          """
              .formatted(words));
    }
    Process bash = new ProcessBuilder("bash", "-c", commands.toString()).start();
    try (BufferedReader asked = bash.errorReader(StandardCharsets.UTF_8);
        BufferedWriter answers = bash.outputWriter(StandardCharsets.UTF_8)) {
      for (String count = asked.readLine(); count != null; count = asked.readLine()) {
        List<String> arguments = new ArrayList<>();
        for (int i = Integer.parseInt(count); i > 0; i--) {
          arguments.add(asked.readLine());
        }
        assertEquals(ShellCompletion.TYPED, arguments.remove(0));
        for (String candidate : Commands.completion(environment()).candidates(arguments)) {
          answers.write(candidate + "\n");
        }
        answers.write("\n");
        answers.flush();
      }
    }
    assertEquals(0, bash.waitFor());
    return bash.inputReader(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void bashCompletesCommandsNamesAndWhatIsBehindAnEqualsSign() throws Exception {
    assertEquals(
        List.of(
            "status",
            "acme-eval acme-train",
            "json",
            "json name table yaml",
            "acme-train-0: acme-train-1:",
            ""),
        inBash(
            "bourse sta",
            "bourse up -c ''",
            "bourse status --output = j",
            "bourse status --output =",
            "bourse cp x.py acme-t",
            "bourse cp acme-train-0 : x"));
  }

  @Test
  void theProgramPrintsOneCandidateALine() {
    PrintStream console = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      Main.main(new String[] {ShellCompletion.TYPED, "0", "checkp"});
    } finally {
      System.setOut(console);
    }
    assertEquals(
        List.of("checkpoint", "checkpoints"),
        printed.toString(StandardCharsets.UTF_8).lines().toList());
  }
}
