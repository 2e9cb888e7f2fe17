package dev.bourse.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.admin.AdminCommand;
import dev.bourse.client.MemberCommands;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.command.RemoteOperation.Input;
import dev.bourse.contract.Contract;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * No command destroys, spends or locks out without a question: every operation that is not a read
 * is listed with its command, and its question or the reason for none.
 */
@Tag("fast")
class AskedOperationsTest {
  private static final String LIST = "asked-operations.txt";
  private static final String NO_COMMAND = "-";
  private static final String ASKS = "asks";
  private static final List<String> WRITES = List.of("post", "put", "patch", "delete");

  /** A line of the list. */
  private record Entry(String operation, String command, String question) {}

  /** An operation as its contract has it; {@code remote} is null if it has no command. */
  private record Written(String contract, JsonObject operation, @Nullable RemoteOperation remote) {
    private String command() {
      return remote == null
          ? NO_COMMAND
          : contract.equals("operator") ? "admin " + remote.command() : remote.command();
    }

    private String question() {
      JsonObject asks = Objects.requireNonNull(operation.getJsonObject("x-asks"));
      return asks.containsKey("when")
          ? ASKS + " for " + String.join(", ", asks.getJsonObject("when").fieldNames())
          : ASKS;
    }
  }

  private static Map<String, Entry> listed() throws IOException {
    Map<String, Entry> listed = new TreeMap<>();
    try (InputStream list = AskedOperationsTest.class.getResourceAsStream(LIST)) {
      String text =
          new String(Objects.requireNonNull(list, LIST).readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.lines().filter(line -> !line.startsWith("#")).toList()) {
        String[] parts = line.split(" [|] ", -1);
        assertEquals(3, parts.length, line);
        listed.put(parts[0], new Entry(parts[0], parts[1], parts[2]));
      }
    }
    return listed;
  }

  private static Map<String, Written> written() {
    Map<String, Written> written = new TreeMap<>();
    for (String name : Contract.SERVED) {
      JsonObject contract = Contract.resolvedDocument(name);
      Map<String, RemoteOperation> commands = new TreeMap<>();
      (name.equals("operator")
              ? RemoteOperation.listOf(contract, Set.of("operatorToken"))
              : RemoteOperation.listOfCommands(contract))
          .forEach(operation -> commands.put(operation.operationId(), operation));
      JsonObject paths = contract.getJsonObject("paths");
      for (String path : paths.fieldNames()) {
        JsonObject item = paths.getJsonObject(path);
        for (String method : WRITES) {
          if (item.containsKey(method)) {
            JsonObject operation = item.getJsonObject(method);
            String id = operation.getString("operationId");
            written.put(id, new Written(name, operation, commands.get(id)));
          }
        }
      }
    }
    return written;
  }

  @Test
  void everyOperationThatIsNoReadIsListedWithItsCommand() throws IOException {
    Map<String, String> commands = new TreeMap<>();
    listed().forEach((id, entry) -> commands.put(id, entry.command()));
    Map<String, String> sent = new TreeMap<>();
    written().forEach((id, operation) -> sent.put(id, operation.command()));
    assertEquals(lines(sent), lines(commands), LIST);
  }

  private static String lines(Map<String, String> map) {
    StringBuilder lines = new StringBuilder();
    map.forEach((key, value) -> lines.append(key).append(" | ").append(value).append('\n'));
    return lines.toString();
  }

  @Test
  void eachAsksWhatTheListSaysOrTheListSaysWhyNot() throws IOException {
    Map<String, Written> written = written();
    for (Entry entry : listed().values()) {
      Written operation = written.get(entry.operation());
      if (operation == null) {
        continue;
      }
      boolean asks = operation.operation().containsKey("x-asks");
      assertEquals(
          asks ? operation.question() : entry.question(), entry.question(), entry.operation());
      assertEquals(asks, entry.question().startsWith(ASKS), entry.operation());
      assertTrue(entry.question().length() > 3, entry.operation());
    }
  }

  private static CommandLine every() {
    CommandLine line =
        MemberCommands.addTo(
            new CommandLine(CommandSpec.create().name("bourse")),
            CommandEnvironment.ofProcess(),
            Optional.empty());
    return line.addSubcommand("admin", AdminCommand.create(Map.of()));
  }

  private static CommandLine command(CommandLine line, String words) {
    CommandLine found = line;
    for (String word : words.split(" ", -1)) {
      found = Objects.requireNonNull(found.getSubcommands().get(word), words);
    }
    return found;
  }

  @Test
  void aCommandThatAsksTakesYesAndNoOtherDoes() throws IOException {
    CommandLine line = every();
    for (Entry entry : listed().values()) {
      if (!entry.command().equals(NO_COMMAND)) {
        assertEquals(
            entry.question().startsWith(ASKS),
            takesYes(command(line, entry.command())),
            entry.command());
      }
    }
    for (String declares : List.of("up", "down")) {
      assertTrue(takesYes(command(line, declares)), declares);
    }
  }

  private static boolean takesYes(CommandLine command) {
    return command.getCommandSpec().findOption(ConfirmPrompt.YES) != null;
  }

  @Test
  void everyPlaceInAQuestionHasAValue() {
    Map<String, JsonObject> reads = reads();
    TreeSet<String> unknown = new TreeSet<>();
    written()
        .forEach(
            (id, written) -> {
              RemoteOperation remote = written.remote();
              if (remote != null) {
                remote.losses().ifPresent(loss -> unknown.addAll(unfilled(remote, loss, reads)));
              }
            });
    assertEquals(Set.of(), unknown);
  }

  /** Places of an operation's question that are neither inputs nor in the examples of its read. */
  private static Set<String> unfilled(
      RemoteOperation operation, LossText loss, Map<String, JsonObject> reads) {
    String id = operation.operationId();
    Set<String> given = new HashSet<>();
    operation.arguments().forEach(input -> given.add(input.name()));
    operation.queries().forEach(input -> given.add(input.name()));
    Map<String, Input> fields = new TreeMap<>();
    operation.fields().forEach(input -> fields.put(input.name(), input));
    given.addAll(fields.keySet());
    Set<String> unfilled = new TreeSet<>();
    for (String key : loss.when().keySet()) {
      String[] parts = key.split("=", 2);
      Input field = fields.get(parts[0]);
      if (field == null || (parts.length > 1 && !field.choices().contains(parts[1]))) {
        unfilled.add(id + " when " + key);
      }
    }
    List<JsonObject> examples =
        loss.shows()
            .map(path -> examples(Objects.requireNonNull(reads.get(path), id + " shows " + path)))
            .orElse(List.of());
    assertEquals(loss.shows().isPresent(), !examples.isEmpty(), id + ": examples of its read");
    for (List<String> place : loss.places()) {
      List<String> now = place.stream().filter(name -> name.startsWith("now.")).toList();
      boolean isShown =
          now.isEmpty()
              || examples.stream()
                  .anyMatch(row -> now.stream().anyMatch(name -> has(row, name.substring(4))));
      if (!isShown || !given.containsAll(place.stream().filter(n -> !now.contains(n)).toList())) {
        unfilled.add(id + " {" + String.join("|", place) + "}");
      }
    }
    assertFalse(loss.text().isBlank(), id);
    return unfilled;
  }

  /** The examples of a read's answer; of a list, its rows. */
  private static List<JsonObject> examples(JsonObject read) {
    JsonObject content =
        read.getJsonObject("responses")
            .getJsonObject("200")
            .getJsonObject("content")
            .getJsonObject("application/json");
    List<JsonObject> examples = new ArrayList<>();
    content
        .getJsonObject("examples", new JsonObject())
        .forEach(
            named -> {
              JsonObject answer = ((JsonObject) named.getValue()).getJsonObject("value");
              examples.add(answer);
              AnswerFormat.listField(answer)
                  .ifPresent(
                      list ->
                          answer.getJsonArray(list).stream()
                              .filter(JsonObject.class::isInstance)
                              .forEach(row -> examples.add((JsonObject) row)));
            });
    return examples;
  }

  private static boolean has(JsonObject row, String name) {
    int dot = name.indexOf('.');
    return dot < 0
        ? row.containsKey(name)
        : row.getValue(name.substring(0, dot)) instanceof JsonObject below
            && has(below, name.substring(dot + 1));
  }

  /** The schemas of reads' answers, by path. */
  private static Map<String, JsonObject> reads() {
    Map<String, JsonObject> reads = new TreeMap<>();
    for (String name : Contract.SERVED) {
      JsonObject paths = Contract.resolvedDocument(name).getJsonObject("paths");
      for (String path : paths.fieldNames()) {
        JsonObject get = paths.getJsonObject(path).getJsonObject("get");
        if (get != null) {
          reads.put(path, get);
        }
      }
    }
    return reads;
  }
}
