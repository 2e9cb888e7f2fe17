package dev.bourse.contract;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The {@code $ref}s of a contract: JSON pointers (RFC 6901) into the contract itself. */
final class References {
  /** The deepest nesting of a contract; deeper nesting means a cycle of references. */
  private static final int MAX_DEPTH = 64;

  private References() {}

  /**
   * A part of a contract with every {@code $ref} replaced by its target, in new maps and lists.
   *
   * @param root the whole contract
   * @throws IllegalStateException when a reference points nowhere, or to itself
   */
  static @Nullable Object resolved(@Nullable Object piece, Map<String, Object> root) {
    return resolved(piece, root, 0);
  }

  private static @Nullable Object resolved(
      @Nullable Object node, Map<String, Object> root, int depth) {
    if (depth > MAX_DEPTH) {
      throw new IllegalStateException("the contract's $refs form a cycle");
    }
    if (node instanceof Map) {
      Map<String, Object> map = object(node);
      if (map.get("$ref") instanceof String pointer) {
        return beside(resolved(target(pointer, root), root, depth + 1), map, root, depth);
      }
      Map<String, @Nullable Object> copy = new LinkedHashMap<>();
      map.forEach((key, value) -> copy.put(key, resolved(value, root, depth + 1)));
      return copy;
    }
    if (node instanceof List) {
      List<@Nullable Object> copy = new ArrayList<>();
      ((List<?>) node).forEach(value -> copy.add(resolved(value, root, depth + 1)));
      return copy;
    }
    return node;
  }

  /**
   * The target merged with the keys beside its {@code $ref}, such as a default or a description.
   */
  private static @Nullable Object beside(
      @Nullable Object target, Map<String, Object> reference, Map<String, Object> root, int depth) {
    if (reference.size() == 1) {
      return target;
    }
    Map<String, @Nullable Object> both = object(target);
    reference.forEach(
        (key, value) -> {
          if (!key.equals("$ref")) {
            both.put(key, resolved(value, root, depth + 1));
          }
        });
    return both;
  }

  /** The object at a place, or the target if it is a {@code $ref}. */
  static Map<String, Object> followed(@Nullable Object node, Map<String, Object> root) {
    Map<String, Object> map = object(node);
    return map.get("$ref") instanceof String pointer ? object(target(pointer, root)) : map;
  }

  private static Object target(String reference, Map<String, Object> root) {
    Object at = root;
    for (String step : reference.substring(2).split("/", -1)) {
      at = at instanceof Map ? ((Map<?, ?>) at).get(step) : null;
    }
    if (at == null || !reference.startsWith("#/")) {
      throw new IllegalStateException("a contract's $ref points nowhere: " + reference);
    }
    return at;
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(@Nullable Object node) {
    if (!(node instanceof Map)) {
      throw new IllegalStateException(
          "a contract has %s where an object belongs"
              .formatted((node == null ? "nothing" : node.getClass().getSimpleName())));
    }
    return (Map<String, Object>) node;
  }
}
