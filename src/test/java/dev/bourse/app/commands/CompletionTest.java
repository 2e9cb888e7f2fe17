package dev.bourse.app.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.client.transfer.CommandEnvironment;
import java.io.IOException;
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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What shells are offered where a word is completed. */
@Tag("fast")
class CompletionTest {
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

  /** What is offered for the last of these words. */
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
    assertFalse(listed.contains(Completion.TYPED), "it is not meant for people");
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
    Completion completion = Commands.completion(environment());
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

  /** The output of a shell that has bourse as a function; its home is the test's. */
  private String shell(List<String> command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("XDG_CONFIG_HOME", home.toString());
    builder.environment().put("HOME", home.toString());
    builder.environment().keySet().removeIf(name -> name.startsWith("BOURSE_"));
    Path out = home.resolve("out");
    builder.redirectErrorStream(true).redirectOutput(out.toFile());
    Process process = builder.start();
    assertTrue(process.waitFor(2, TimeUnit.MINUTES));
    String said = Files.readString(out, StandardCharsets.UTF_8);
    assertEquals(0, process.exitValue(), said);
    return said;
  }

  /** The program as this process has it. */
  private static String program() {
    return "'%s' -XX:TieredStopAtLevel=1 -cp '%s' %s"
        .formatted(
            Path.of(System.getProperty("java.home"), "bin", "java"),
            System.getProperty("java.class.path"),
            Main.class.getName());
  }

  private String inBash(String words) throws IOException, InterruptedException {
    return shell(
        List.of(
            "bash",
            "-c",
            """
            bourse() { %s "$@"; }
            source <(bourse completion bash)
            COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bourse; echo "${COMPREPLY[@]}"
            """
                .formatted(program(), words)));
  }

  @Test
  void bashCompletesCommandsNamesAndWhatIsBehindAnEqualsSign() throws Exception {
    assertEquals("status\n", inBash("bourse sta"));
    assertEquals("acme-eval acme-train\n", inBash("bourse up -c ''"));
    assertEquals("json\n", inBash("bourse status --output = j"));
    assertEquals("json name table yaml\n", inBash("bourse status --output ="));
    assertEquals("acme-train-0: acme-train-1:\n", inBash("bourse cp x.py acme-t"));
    assertEquals("\n", inBash("bourse cp acme-train-0 : x"));
  }
}
