package dev.bourse.mcp;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which arguments go with which choice of a tool that does several things. Schemas could say it,
 * but many clients refuse a tool whose input is a union.
 *
 * @param choice the argument that chooses
 * @param always those that go with every choice
 * @param of those that go with each choice beside them
 */
record ArgumentRules(String choice, Set<String> always, Map<String, Set<String>> of) {

  /**
   * Nothing is given that would be passed over.
   *
   * @throws ApiError {@code bad-request} naming an argument that does not go with the choice
   */
  void check(JsonObject arguments) {
    String chosen = arguments.getString(choice);
    TreeSet<String> taken = new TreeSet<>(always);
    taken.addAll(of.getOrDefault(chosen, Set.of()));
    for (String field : arguments.fieldNames()) {
      if (!field.equals(choice) && !taken.contains(field)) {
        throw ApiError.of(
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
   * An argument that the choice needs is given.
   *
   * @throws ApiError {@code bad-request} when it is not
   */
  void require(JsonObject arguments, String field) {
    if (arguments.getValue(field) == null) {
      throw ApiError.of(
          ErrorCode.BAD_REQUEST,
          "%s is missing; %s %s needs it",
          field,
          choice,
          arguments.getString(choice));
    }
  }

  /** The text of an argument that the choice needs; refused as {@link #require}. */
  String text(JsonObject arguments, String field) {
    require(arguments, field);
    return arguments.getString(field);
  }
}
