package dev.bourse.mcp;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;

/**
 * The first items of a list that fit into one answer.
 *
 * @param items at least one, unless the list is empty
 * @param isTruncated true if items are left out
 */
record AnswerPart(JsonArray items, boolean isTruncated) {
  /**
   * The tokens of an answer's items. Clients cut off answers of tools above 25,000 tokens, and the
   * fields around the items take some.
   */
  static final int MOST_TOKENS = 24_000;

  /** Takes items while they fit; later ones are not read. */
  static AnswerPart of(Iterator<JsonObject> all) {
    JsonArray items = new JsonArray();
    int tokens = 0;
    while (all.hasNext()) {
      JsonObject item = all.next();
      tokens += TokenEstimate.of(item.toBuffer()) + 1;
      if (tokens > MOST_TOKENS && !items.isEmpty()) {
        return new AnswerPart(items, true);
      }
      items.add(item);
    }
    return new AnswerPart(items, false);
  }

  /** Returns a field of the last item, from which the next answer continues; null at the end. */
  @Nullable String next(String field) {
    return isTruncated
        ? String.valueOf(items.getJsonObject(items.size() - 1).getValue(field))
        : null;
  }
}
