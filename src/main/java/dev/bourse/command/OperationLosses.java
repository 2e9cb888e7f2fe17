package dev.bourse.command;

import dev.bourse.command.RemoteOperation.Input;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import dev.bourse.remote.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The losses of one call of an operation.
 *
 * @param given the arguments and options that were given, by the names of the contract; null for a
 *     field that is sent as null
 */
record OperationLosses(RemoteOperation operation, Map<String, @Nullable Object> given) {
  /** A GET of the service. */
  @FunctionalInterface
  interface Read {
    JsonObject get(String path) throws RefusedException;
  }

  /** The pages of a list that are searched for one row: some thousand rows, in a few seconds. */
  private static final int MAX_PAGES = 100;

  private LossText text() {
    return operation.losses().orElseThrow();
  }

  /** True if a person has to be asked. */
  boolean areAtStake() {
    return text().isAsked(given);
  }

  /**
   * Returns the question to ask. If the service does not show the losses, the lines say why and
   * list those known without it.
   *
   * @throws RefusedException if the operation's subject does not exist
   */
  Question question(Read service) throws RefusedException {
    Optional<String> shows = text().shows();
    if (shows.isEmpty()) {
      return text().filled(given, new JsonObject());
    }
    JsonObject now;
    try {
      now = shown(service, shows.get());
    } catch (RefusedException refused) {
      return Question.unread(refused).and(text().filled(given, new JsonObject()));
    }
    return text().filled(given, now);
  }

  /** A path with the given values in place of its parameters. */
  private String path(String template) {
    String path = template;
    for (Input argument : operation.arguments()) {
      String value = Service.encoded(String.valueOf(given.get(argument.name())));
      path = path.replace('{' + argument.name() + '}', value);
    }
    return path;
  }

  /** The answer of a read on the operation's subject: all of it, or the subject's row of a list. */
  private JsonObject shown(Read service, String template) throws RefusedException {
    String path = path(template);
    JsonObject answer = service.get(path);
    Optional<String> list = AnswerFormat.listField(answer);
    List<Input> arguments = operation.arguments();
    if (list.isEmpty() || arguments.isEmpty()) {
      return answer;
    }
    String subject = arguments.get(arguments.size() - 1).name();
    if (template.contains('{' + subject + '}')) {
      return answer;
    }
    for (int pages = 1; ; pages++) {
      Optional<JsonObject> row = row(answer.getJsonArray(list.get()), subject);
      if (row.isPresent()) {
        return row.get();
      }
      if (!answer.getBoolean("more", false) || !(answer.getValue("next") instanceof String next)) {
        throw new RefusedException(
            ExitCode.REFUSED,
            "not-found: there is no %s %s"
                .formatted(
                    subject.replaceAll("_id$", "").replace('_', ' '),
                    Table.cell(given.get(subject))));
      }
      if (pages == MAX_PAGES) {
        throw new RefusedException(
            ExitCode.REFUSED,
            "nothing was done: %s is not on the first %d pages of %s; add %s to do it without asking"
                .formatted(Table.cell(given.get(subject)), MAX_PAGES, path, ConfirmPrompt.YES));
      }
      answer = service.get(path + "?after=" + Service.encoded(next));
    }
  }

  private Optional<JsonObject> row(JsonArray rows, String argument) {
    for (Object item : rows) {
      if (item instanceof JsonObject row
          && (row.containsKey(argument)
              ? row.getValue(argument).equals(given.get(argument))
              : row.stream().anyMatch(field -> isKey(field, given.get(argument))))) {
        return Optional.of(row);
      }
    }
    return Optional.empty();
  }

  /** True if a field of a row is an id, or the name that stands for one, and has this value. */
  private static boolean isKey(Map.Entry<String, Object> field, @Nullable Object subject) {
    return (field.getKey().equals("name") || field.getKey().endsWith("_id"))
        && subject != null
        && subject.equals(field.getValue());
  }
}
