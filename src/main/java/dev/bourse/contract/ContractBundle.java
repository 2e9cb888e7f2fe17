package dev.bourse.contract;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Completes a contract with the parts it takes from the file that several contracts share.
 *
 * <ul>
 *   <li>A {@code $ref} to a component of the common file becomes a component of the contract,
 *       unless the contract has one of that name itself.
 *   <li>Any other {@code $ref} into the common file is replaced by its target, merged with the keys
 *       beside the {@code $ref}.
 *   <li>{@code x-refusals: [401, 404]} among an operation's responses becomes an answer for each of
 *       these statuses, from the contract's own table {@code x-refusals} or else the common one. An
 *       operation with {@code x-errors: page} uses {@code x-page-refusals} first.
 *   <li>Each operation gets examples of its own refusals ({@link RefusalExamples}).
 * </ul>
 */
final class ContractBundle {
  static final String COMMON = "common.yaml";

  private static final String COMPONENT = "#/components/";
  private static final String REFUSALS = "x-refusals";

  private final Map<String, Object> source;
  private final Map<String, Object> common;

  /** The components of the common file that the contract needs, as section/name. */
  private final Set<String> needed = new LinkedHashSet<>();

  /** The name of the table with the answers of the current operation. */
  private String refusals = REFUSALS;

  private ContractBundle(Map<String, Object> source, Map<String, Object> common) {
    this.source = source;
    this.common = common;
  }

  /**
   * A contract with all parts of the common file it needs. The same input gives the same order of
   * keys.
   *
   * @throws IllegalStateException when it refers to a part that the common file lacks
   */
  static Map<String, Object> of(Map<String, Object> source, Map<String, Object> common) {
    return new ContractBundle(source, common).bundled();
  }

  private Map<String, Object> bundled() {
    Map<String, Object> document = object(whole(source, false));
    document.keySet().removeIf(key -> key.endsWith("refusals"));
    Map<String, Map<String, Object>> copied = new LinkedHashMap<>();
    int before;
    do {
      before = needed.size();
      for (String name : Set.copyOf(needed)) {
        copied.computeIfAbsent(name, n -> object(whole(commonPiece(COMPONENT + n), true)));
      }
    } while (needed.size() > before);
    Map<String, Object> components = section(document, "components");
    object(common.getOrDefault("components", Map.of()))
        .forEach(
            (section, those) ->
                object(those)
                    .keySet()
                    .forEach(
                        name -> {
                          Map<String, Object> component = copied.get(section + '/' + name);
                          if (component != null) {
                            section(components, section).put(name, component);
                          }
                        }));
    RefusalExamples.complete(document);
    return document;
  }

  private @Nullable Object whole(@Nullable Object node, boolean isCommon) {
    if (node instanceof List<?> list) {
      return list.stream().map(item -> whole(item, isCommon)).toList();
    }
    if (!(node instanceof Map)) {
      return node;
    }
    Map<String, Object> copy = new LinkedHashMap<>();
    if (object(node).containsKey("responses")) {
      Object format = object(node).get(ErrorFormat.EXTENSION);
      refusals = format == null ? REFUSALS : "x-" + format + "-refusals";
    }
    object(node)
        .forEach(
            (key, value) -> {
              if (key.equals("$ref") && value instanceof String reference) {
                copy.putAll(referred(reference, isCommon));
              } else if (key.equals(REFUSALS) && value instanceof List<?> statuses) {
                statuses.forEach(status -> copy.put(status.toString(), refusal(status.toString())));
              } else {
                if (key.equals("security")) {
                  needSchemes((List<?>) value);
                }
                copy.put(key, whole(value, isCommon));
              }
            });
    return object(node).get(REFUSALS) instanceof List ? new TreeMap<>(copy) : copy;
  }

  /** The replacement of a {@code $ref}. */
  private Map<String, Object> referred(String reference, boolean isCommon) {
    String place = reference;
    if (reference.startsWith(COMMON)) {
      place = reference.substring(COMMON.length());
      if (!place.startsWith(COMPONENT)) {
        return object(whole(commonPiece(place), true));
      }
    } else if (!isCommon) {
      return Map.of("$ref", reference);
    }
    if (place.startsWith(COMPONENT) && find(source, place) == null) {
      commonPiece(place);
      needed.add(place.substring(COMPONENT.length()));
    }
    return Map.of("$ref", place);
  }

  /** A security requirement names its scheme without a {@code $ref}. */
  private void needSchemes(List<?> requirements) {
    for (Object requirement : requirements) {
      for (String scheme : object(requirement).keySet()) {
        referred(COMPONENT + "securitySchemes/" + scheme, true);
      }
    }
  }

  private Map<String, Object> refusal(String status) {
    String place = "#/" + refusals + '/' + status;
    if (find(source, place) == null && find(common, place) == null) {
      place = "#/" + REFUSALS + '/' + status;
    }
    Object own = find(source, place);
    return object(own == null ? whole(commonPiece(place), true) : whole(own, false));
  }

  private Object commonPiece(String pointer) {
    Object piece = find(common, pointer);
    if (piece == null) {
      throw new IllegalStateException(COMMON + " has nothing at " + pointer);
    }
    return piece;
  }

  private static @Nullable Object find(Map<String, Object> root, String pointer) {
    Object at = root;
    for (String step : pointer.substring(2).split("/", -1)) {
      at = at instanceof Map<?, ?> map ? map.get(step) : null;
    }
    return at;
  }

  private static Map<String, Object> section(Map<String, Object> parent, String name) {
    return object(parent.computeIfAbsent(name, n -> new LinkedHashMap<String, Object>()));
  }

  private static Map<String, Object> object(@Nullable Object node) {
    return References.object(node);
  }
}
