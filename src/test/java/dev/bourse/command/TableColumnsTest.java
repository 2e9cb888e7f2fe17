package dev.bourse.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.contract.Contract;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The columns that contracts name for tables. */
class TableColumnsTest {
  /** A terminal that is not full screen. */
  private static final int COLUMNS = 100;

  @Test
  void aTableWithNamedColumnsFitsATerminalAndEachColumnIsAFieldOfTheAnswer()
      throws RefusedException {
    List<String> seen = new ArrayList<>();
    for (String name : Contract.SERVED) {
      JsonObject contract = Contract.resolvedDocument(name);
      for (RemoteOperation operation : RemoteOperation.listOfCommands(contract)) {
        if (operation.headings().isEmpty()) {
          continue;
        }
        seen.add(operation.command());
        JsonObject answer = example(contract, operation);
        String list = AnswerFormat.listField(answer).orElseThrow();
        Set<String> fields = answer.getJsonArray(list).getJsonObject(0).fieldNames();
        assertTrue(fields.containsAll(operation.headings().keySet()), operation.command());
        String table =
            new AnswerFormat(AnswerFormat.Form.table, List.of())
                .print(answer, operation.headings());
        table.lines().forEach(line -> assertTrue(line.length() <= COLUMNS, line));
      }
    }
    assertEquals(List.of("market feed"), seen);
  }

  private static JsonObject example(JsonObject contract, RemoteOperation operation) {
    JsonObject examples =
        contract
            .getJsonObject("paths")
            .getJsonObject(operation.path())
            .getJsonObject("get")
            .getJsonObject("responses")
            .getJsonObject("200")
            .getJsonObject("content")
            .getJsonObject("application/json")
            .getJsonObject("examples");
    return examples.getJsonObject(examples.fieldNames().iterator().next()).getJsonObject("value");
  }
}
