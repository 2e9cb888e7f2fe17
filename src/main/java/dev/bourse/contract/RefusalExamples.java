package dev.bourse.contract;

import dev.bourse.access.Operator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives each operation examples of its own refusals, made from the examples that operations share.
 *
 * <p>Words in braces in a shared example stand for the differences between operations:
 *
 * <ul>
 *   <li>{@code {parameters}}: the names of its query parameters, or {@code none};
 *   <li>{@code {answers}}: the media types of its success;
 *   <li>{@code {scope}}: the scope it demands;
 *   <li>{@code {csrf}}: the header required for writes with a session, if it accepts sessions;
 *   <li>{@code {cluster}}: a cluster that a bound token may not name;
 *   <li>{@code {budget}} and {@code {limit}}: the request budget it counts against, and the reason
 *       that names it;
 *   <li>{@code {platform}}: the operation's id, if an operator of one site may not call it;
 *   <li>{@code {elsewhere}}: the item at another site, if such an operator may call it, from the
 *       contract's table {@code x-elsewhere};
 *   <li>{@code {form}}: the fields of a form, if it takes one;
 *   <li>{@code {absent}}: the item that is not found, from the contract's table {@code x-absent},
 *       by the last of the operation's parameters that the table lists, or else {@code other}.
 * </ul>
 *
 * <p>An operation leaves out examples with a word it has no value for. An operation's own {@code
 * x-refusal-examples}, by status, replace the shared ones. A shared answer that no operation uses
 * any more is removed from the contract.
 */
final class RefusalExamples {
  private static final String ABSENT = "x-absent";
  private static final String ELSEWHERE = "x-elsewhere";
  private static final String OWN = "x-refusal-examples";
  private static final List<String> WORDS =
      List.of(
          "parameters",
          "answers",
          "scope",
          "csrf",
          "cluster",
          "absent",
          "budget",
          "limit",
          "platform",
          "elsewhere",
          "form");

  /** The values of most operations, for which the shared examples are worded. */
  private static final Map<String, String> USUAL =
      Map.of(
          "parameters",
          "none",
          "answers",
          OperationContract.JSON,
          "budget",
          "300 requests a minute for this token",
          "limit",
          "budget");

  /** Callers without a token are counted by address. */
  private static final Map<String, String> OF_ANYBODY =
      Map.of("budget", "1200 requests a minute for this client address", "limit", "address");

  private final Map<String, Object> document;
  private final Map<String, Object> absent;
  private final Map<String, Object> elsewhere;

  private RefusalExamples(Map<String, Object> document) {
    this.document = document;
    absent = References.object(document.getOrDefault(ABSENT, Map.of()));
    elsewhere = References.object(document.getOrDefault(ELSEWHERE, Map.of()));
  }

  /** Completes a contract that already has all parts of the common file it needs. */
  static void complete(Map<String, Object> document) {
    new RefusalExamples(document).complete();
  }

  private void complete() {
    References.object(document.getOrDefault("paths", Map.of()))
        .values()
        .forEach(item -> ofPath(References.object(item)));
    Map<String, Object> components =
        References.object(document.getOrDefault("components", Map.of()));
    if (components.get("responses") instanceof Map) {
      References.object(components.get("responses"))
          .replaceAll((name, response) -> filled(response, USUAL));
      Set<String> used = new HashSet<>();
      collectReferences(document.get("paths"), used);
      References.object(components.get("responses"))
          .keySet()
          .removeIf(name -> !used.contains("#/components/responses/" + name));
    }
    document.remove(ABSENT);
    document.remove(ELSEWHERE);
  }

  private static void collectReferences(@Nullable Object node, Set<String> used) {
    if (node instanceof List<?> list) {
      list.forEach(item -> collectReferences(item, used));
    } else if (node instanceof Map<?, ?> map) {
      if (map.get("$ref") instanceof String reference) {
        used.add(reference);
      }
      map.values().forEach(value -> collectReferences(value, used));
    }
  }

  private void ofPath(Map<String, Object> item) {
    for (Map.Entry<String, Object> entry : item.entrySet()) {
      Object value = entry.getValue();
      if (value instanceof Map && References.object(value).get("responses") instanceof Map) {
        Map<String, Object> operation = References.object(value);
        Map<String, String> words = words(item, operation);
        if (!entry.getKey().equals("get") && takesSession(operation)) {
          words.put("csrf", OperationContract.CSRF_HEADER);
        }
        Map<String, Object> own = References.object(operation.getOrDefault(OWN, Map.of()));
        References.object(operation.get("responses"))
            .replaceAll((status, response) -> completed(status, response, words, own.get(status)));
        operation.remove(OWN);
      }
    }
  }

  /** The shared answer if its examples fit the operation, else one of the operation's own. */
  private Object completed(
      String status, Object response, Map<String, String> words, @Nullable Object own) {
    if (status.compareTo("400") < 0) {
      return response;
    }
    Map<String, Object> shared = References.followed(response, document);
    Map<String, Object> completed = References.object(filled(shared, words));
    if (own != null) {
      References.object(References.object(completed.get("content")).get(OperationContract.JSON))
          .put("examples", Map.of("refused", Map.of("value", own)));
    }
    return completed.equals(filled(shared, USUAL)) ? response : completed;
  }

  private Map<String, String> words(Map<String, Object> item, Map<String, Object> operation) {
    Map<String, String> words = new LinkedHashMap<>();
    List<String> query = new ArrayList<>();
    String nothing = String.valueOf(absent.getOrDefault("other", "item of this name"));
    boolean isForOneSite = Boolean.TRUE.equals(operation.get(OperationContract.ONE_SITE));
    for (Map<String, Object> level : List.of(item, operation)) {
      for (Object listed : (List<?>) level.getOrDefault("parameters", List.of())) {
        Map<String, Object> parameter = References.followed(listed, document);
        String name = String.valueOf(parameter.get("name"));
        nothing = String.valueOf(absent.getOrDefault(name, nothing));
        if (isForOneSite && elsewhere.containsKey(name)) {
          words.put("elsewhere", String.valueOf(elsewhere.get(name)));
        }
        if ("query".equals(parameter.get("in"))) {
          query.add(name);
        }
      }
    }
    words.put("absent", nothing);
    if (!isForOneSite && demands(operation).stream().anyMatch(RefusalExamples::isOfOperators)) {
      words.put("platform", String.valueOf(operation.get("operationId")));
    }
    words.put("parameters", query.isEmpty() ? "none" : String.join(", ", query));
    words.put("answers", answers(operation));
    for (String word : OF_ANYBODY.keySet()) {
      words.put(word, (demands(operation).isEmpty() ? OF_ANYBODY : USUAL).get(word));
    }
    scope(operation).ifPresent(scope -> words.put("scope", scope));
    if (bodyTypes(operation).containsKey(Form.TYPE)) {
      words.put("form", "the fields of a form");
    }
    if (query.contains("cluster") || bodyFields(operation).containsKey("cluster")) {
      words.put("cluster", "acme-batch");
    }
    return words;
  }

  private String answers(Map<String, Object> operation) {
    List<Object> types = new ArrayList<>();
    Map<String, Object> responses = References.object(operation.get("responses"));
    for (String status : RoutingModel.SUCCESSES) {
      Map<String, Object> answer =
          References.followed(responses.getOrDefault(status, Map.of()), document);
      types.addAll(References.object(answer.getOrDefault("content", Map.of())).keySet());
    }
    types.addAll((List<?>) operation.getOrDefault(RoutingModel.ALSO_ANSWERS, List.of()));
    return types.isEmpty()
        ? OperationContract.JSON
        : String.join(", ", types.stream().distinct().map(String::valueOf).toList());
  }

  private Optional<String> scope(Map<String, Object> operation) {
    return demands(operation).stream()
        .flatMap(demand -> References.object(demand).values().stream())
        .flatMap(scopes -> ((List<?>) scopes).stream())
        .map(String::valueOf)
        .findFirst();
  }

  private boolean takesSession(Map<String, Object> operation) {
    return demands(operation).stream()
        .flatMap(demand -> References.object(demand).keySet().stream())
        .anyMatch(OperationContract.SESSIONS::contains);
  }

  private static boolean isOfOperators(Object demand) {
    return References.object(demand).containsKey(Operator.SCHEME);
  }

  private List<?> demands(Map<String, Object> operation) {
    Object demands =
        operation.getOrDefault("security", document.getOrDefault("security", List.of()));
    return (List<?>) demands;
  }

  private Map<String, Object> bodyFields(Map<String, Object> operation) {
    Map<String, Object> json =
        References.object(bodyTypes(operation).getOrDefault(OperationContract.JSON, Map.of()));
    Map<String, Object> schema =
        References.followed(json.getOrDefault("schema", Map.of()), document);
    return References.object(schema.getOrDefault("properties", Map.of()));
  }

  private Map<String, Object> bodyTypes(Map<String, Object> operation) {
    Map<String, Object> body =
        References.followed(operation.getOrDefault("requestBody", Map.of()), document);
    return References.object(body.getOrDefault("content", Map.of()));
  }

  /** A copy with the words replaced by their values, without the examples that lack one. */
  private static Object filled(Object node, Map<String, String> words) {
    if (node instanceof List<?> list) {
      return list.stream().map(item -> filled(item, words)).toList();
    }
    if (node instanceof String text) {
      return filled(text, words);
    }
    if (!(node instanceof Map)) {
      return node;
    }
    Map<String, Object> copy = new LinkedHashMap<>();
    References.object(node)
        .forEach(
            (key, value) -> {
              copy.put(key, value == null ? value : filled(value, words));
              if (key.equals("examples") && value instanceof Map) {
                References.object(copy.get(key)).values().removeIf(RefusalExamples::lacksWord);
              }
            });
    return copy;
  }

  private static String filled(String text, Map<String, String> words) {
    String filled = text;
    for (Map.Entry<String, String> word : words.entrySet()) {
      filled = filled.replace('{' + word.getKey() + '}', word.getValue());
    }
    return filled;
  }

  private static boolean lacksWord(Object example) {
    String text = example.toString();
    return WORDS.stream().anyMatch(word -> text.contains('{' + word + '}'));
  }
}
