package dev.bourse.testing;

import dev.bourse.contract.Contract;
import dev.bourse.contract.OperationContract;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** The errors that contracts show as examples. */
public final class ErrorExample {
  private static final List<Answer> ANSWERS = load();

  /** One name or number, or a list of them. */
  private static final Pattern NAMES =
      Pattern.compile(
          "(('[^']*'|https?://[^ ;,]+|(?<=organization |org_id: |key:"
              + " )[a-z]+|operator:[a-z]+|alice|\\b(acme|demo)-[a-z0-9-]+|\\b(ckp|rev|key)_\\w+|\\b[0-9a-f]+-\\d+\\b|\\b\\d[\\d.]*\\b)(,"
              + " )?)+");

  private ErrorExample() {}

  /**
   * An operation's answer of one status of 400 or above that has a body in JSON.
   *
   * @param examples the bodies it shows
   */
  public record Answer(
      String operationId, String method, String path, int status, List<JsonObject> examples) {

    /** Whether a body is one that the contract describes for it. */
    public boolean accepts(JsonObject body) {
      try {
        ContractCheck.check(method, path.replaceAll("\\{[^}]+}", "x"), status, body);
        return true;
      } catch (AssertionError e) {
        return false;
      }
    }

    /** Whether an example has the code of an error that was answered, and says the same of it. */
    public boolean shows(JsonObject answered) {
      return examples.stream().anyMatch(example -> told(example).equals(told(answered)));
    }

    /** An error without what differs from case to case: names, numbers, addresses. */
    private static String told(JsonObject error) {
      String code = String.valueOf(error.getValue("error"));
      String detail = error.getString("detail", error.getString("error_description", ""));
      return "%s %s %s"
          .formatted(code, error.getString("reason", ""), NAMES.matcher(detail).replaceAll("…"));
    }
  }

  /** Every one of every contract. */
  public static List<Answer> answers() {
    return ANSWERS;
  }

  private static List<Answer> load() {
    List<Answer> all = new ArrayList<>();
    for (String name : Contract.SERVED) {
      JsonObject paths = Contract.resolvedDocument(name).getJsonObject("paths");
      for (String path : paths.fieldNames()) {
        JsonObject item = paths.getJsonObject(path);
        for (String method : item.fieldNames()) {
          if (item.getValue(method) instanceof JsonObject operation
              && operation.containsKey("operationId")) {
            all.addAll(of(method, path, operation));
          }
        }
      }
    }
    return List.copyOf(all);
  }

  private static List<Answer> of(String method, String path, JsonObject operation) {
    List<Answer> answers = new ArrayList<>();
    JsonObject responses = operation.getJsonObject("responses");
    for (String status : responses.fieldNames()) {
      JsonObject json =
          responses
              .getJsonObject(status)
              .getJsonObject("content", new JsonObject())
              .getJsonObject(OperationContract.JSON);
      if (Integer.parseInt(status) >= 400 && json != null) {
        List<JsonObject> examples = new ArrayList<>();
        JsonObject shown = json.getJsonObject("examples", new JsonObject());
        shown
            .fieldNames()
            .forEach(n -> examples.add(shown.getJsonObject(n).getJsonObject("value")));
        answers.add(
            new Answer(
                operation.getString("operationId"),
                method.toUpperCase(Locale.ROOT),
                path,
                Integer.parseInt(status),
                examples));
      }
    }
    return answers;
  }
}
