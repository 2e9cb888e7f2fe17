package dev.bourse.mcp;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The arguments permitted with each choice of a tool with several actions. Schemas could express
 * it, but many clients reject a tool whose input is a union.
 *
 * @param choice the argument that chooses
 * @param always the arguments permitted with every choice
 * @param of the further arguments permitted with each choice
 */
record ArgumentRules(String choice, Set<String> always, Map<String, Set<String>> of) {

  /**
   * Rejects arguments that would be ignored.
   *
   * @throws ApiException {@code bad-request} naming an argument that is not permitted with the
   *     choice
   */
  void check(JsonObject arguments) {
    String chosen = arguments.getString(choice);
    TreeSet<String> taken = new TreeSet<>(always);
    taken.addAll(of.getOrDefault(chosen, Set.of()));
    for (String field : arguments.fieldNames()) {
      if (!field.equals(choice) && !taken.contains(field)) {
        throw ApiException.of(
            ErrorCode.BAD_REQUEST,
            "%s does not go with %s %s, which takes %s",
            field,
            choice,
            chosen,
            taken.isEmpty() ? "nothing else" : String.join(", ", taken));
      }
    }
  }

  /**
   * Requires an argument that the choice needs.
   *
   * @throws ApiException {@code bad-request} when it is missing
   */
  void require(JsonObject arguments, String field) {
    if (arguments.getValue(field) == null) {
      throw ApiException.of(
          ErrorCode.BAD_REQUEST,
          "%s is missing; %s %s needs it",
          field,
          choice,
          arguments.getString(choice));
    }
  }

  /** The text of an argument that the choice needs; refused like {@link #require}. */
  String text(JsonObject arguments, String field) {
    require(arguments, field);
    return arguments.getString(field);
  }
}
