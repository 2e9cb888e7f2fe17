package dev.bourse.contract;

import static java.util.stream.Collectors.toCollection;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.testing.ContractCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every member operation of the API has a page of the console. */
@Tag("fast")
class ConsoleReachTest {
  private static final Path CONSOLE = Path.of("src/main/resources/console");

  /**
   * Member operations without a page, and the reasons. Remove an entry when a page calls the
   * operation; do not add any.
   */
  private static final Map<String, String> WITHOUT_A_PAGE =
      new TreeMap<>(
          Map.of(
              "listMembers", "listConsoleMembers tells more of each",
              "listTokens", "listConsoleTokens tells more of each",
              "readBid", "readK8sCluster has the bid among the rest",
              "readConsoleCluster", "listConsoleClusters has all of each",
              "readSession", "app.js finds it by its address, for members and operators alike",
              "writeCheckpointContent", "a browser sends every file so that it can go on"));

  @Test
  void everyOperationThatAMemberMayCallIsReachableFromAPage() {
    String modules = modules();
    TreeSet<String> unreached =
        ContractCheck.operations().stream()
            .filter(operation -> operation.schemes().contains("memberSession"))
            .map(ContractCheck.Described::operationId)
            .filter(id -> !modules.contains("'" + id + "'"))
            .collect(toCollection(TreeSet::new));
    assertEquals(WITHOUT_A_PAGE.keySet(), unreached);
  }

  /** The text of all modules, which quote with '. */
  private static String modules() {
    try (Stream<Path> files = Files.walk(CONSOLE)) {
      return files
          .filter(file -> file.toString().endsWith(".js"))
          .map(ConsoleReachTest::text)
          .collect(Collectors.joining("\n"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
