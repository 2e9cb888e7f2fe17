package dev.bourse.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.RemoteOperation;
import dev.bourse.contract.Contract;
import dev.bourse.testing.ContractCheck;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Every operation of an organization's contracts has a command. */
@Tag("fast")
class MemberCommandsTest {
  private static final List<String> CONTRACTS =
      List.of("vm", "market", "k8s", "billing", "org", "checkpoints", "console");
  private static final Set<String> TOKENS = Set.of("apiToken", "memberToken");

  /** Commands that call no service. */
  private static final Set<String> OFFLINE = Set.of("trail verify");

  private static CommandLine every() {
    return MemberCommands.addTo(
        new CommandLine(CommandSpec.create().name("bourse")),
        CommandEnvironment.ofProcess(),
        Optional.empty());
  }

  private static List<RemoteOperation> commands() {
    return CONTRACTS.stream()
        .flatMap(name -> RemoteOperation.listOfCommands(Contract.resolvedDocument(name)).stream())
        .toList();
  }

  @Test
  void everyOperationThatTakesATokenSaysItsCommand() {
    TreeSet<String> without =
        ContractCheck.operations().stream()
            .filter(operation -> operation.path().startsWith("/api/"))
            .filter(operation -> operation.schemes().stream().anyMatch(TOKENS::contains))
            .map(ContractCheck.Described::operationId)
            .collect(Collectors.toCollection(TreeSet::new));
    commands().forEach(operation -> without.remove(operation.operationId()));
    assertEquals(Set.of(), without);
  }

  @Test
  void everyCommandThatAContractNamesIsThere() {
    CommandLine line = every();
    TreeMap<String, String> missing = new TreeMap<>();
    for (RemoteOperation operation : commands()) {
      CommandLine found = line;
      for (String word : operation.command().split(" ", -1)) {
        found = found == null ? null : found.getSubcommands().get(word);
      }
      if (found == null || !found.getSubcommands().isEmpty()) {
        missing.put(operation.operationId(), operation.command());
      }
    }
    assertEquals(new TreeMap<>(), missing);
  }

  private static CommandLine typed(String word) {
    return MemberCommands.addTo(
        new CommandLine(CommandSpec.create().name("bourse")),
        CommandEnvironment.ofProcess(),
        Optional.of(word));
  }

  @Test
  void onlyTheCommandThatIsTypedIsMade() {
    CommandLine billing = typed("billing");
    assertEquals(Set.of("billing"), billing.getSubcommands().keySet());
    assertTrue(below(billing, "billing").containsKey("balance"));
    assertEquals(Set.of("status"), typed("status").getSubcommands().keySet());
  }

  @Test
  void whoTypesNoneOfThemIsShownAllByTheirNames() {
    CommandLine misspelt = typed("statsu");
    assertEquals(every().getSubcommands().keySet(), misspelt.getSubcommands().keySet());
    assertEquals(Set.of(), below(misspelt, "market").keySet());
  }

  private static Map<String, CommandLine> below(CommandLine line, String noun) {
    return Objects.requireNonNull(line.getSubcommands().get(noun), noun).getSubcommands();
  }

  @Test
  void everyCommandHasHelpThatTellsWhereTheServiceIsNamed() {
    every()
        .getSubcommands()
        .forEach(
            (name, command) -> {
              assertTrue(command.getUsageMessage().contains("--help"), name);
              command
                  .getSubcommands()
                  .forEach(
                      (verb, below) ->
                          assertEquals(
                              !OFFLINE.contains(name + ' ' + verb),
                              below.getUsageMessage().contains("--profile"),
                              name + ' ' + verb));
            });
  }
}
