package dev.bourse.docs;

import dev.bourse.contract.Contract;
import dev.bourse.core.ErrorCode;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The index and recipe texts that lead programs and language models to the documentation. */
final class Orientation {
  private static final String OPERATOR = "operator";

  private final Map<Contract, JsonObject> documents;
  private final Collection<Guide> guides;
  private final String baseUrl;
  private final String budget;

  Orientation(
      Map<Contract, JsonObject> documents,
      Collection<Guide> guides,
      String baseUrl,
      String budget) {
    this.documents = documents;
    this.guides = guides;
    this.baseUrl = baseUrl;
    this.budget = budget;
  }

  /** {@code /llms.txt}: an index of guides, contracts and operations, except the operators'. */
  String index() {
    return text("llms.txt")
        .replace(
            "${guides}\n",
            guides.stream()
                .map(guide -> link(guide.title(), guide.path() + ".md") + guide.summary() + "\n")
                .collect(Collectors.joining()))
        .replace("${contracts}\n", contracts(name -> !name.equals(OPERATOR)));
  }

  /** {@code /llms-operators.txt}: the same index for operators of the platform. */
  String operators() {
    return text("llms-operators.txt").replace("${contracts}\n", contracts(OPERATOR::equals));
  }

  /** {@code /AGENTS.md}: recipes. */
  String recipes() {
    Map<Integer, List<ErrorCode>> byStatus =
        Arrays.stream(ErrorCode.values())
            .collect(Collectors.groupingBy(ErrorCode::status, TreeMap::new, Collectors.toList()));
    String codes =
        byStatus.entrySet().stream()
            .map(
                entry ->
                    entry.getValue().stream()
                        .map(ErrorCode::code)
                        .sorted()
                        .collect(Collectors.joining(", ", "- " + entry.getKey() + ": ", "\n")))
            .collect(Collectors.joining());
    return text("AGENTS.md").replace("${error_codes}\n", codes);
  }

  private String text(String name) {
    return Guide.localized(Resource.text("docs/" + name), baseUrl)
        .replace("${token_budget}", budget);
  }

  private String link(String title, String path) {
    return "- [%s](%s%s): ".formatted(title, baseUrl, path);
  }

  private String contracts(Predicate<String> isListed) {
    StringBuilder text = new StringBuilder(8_192);
    documents.forEach(
        (contract, document) -> {
          if (isListed.test(contract.name())) {
            text.append(
                "\n### [%s](%s/api/%s/openapi.json)\n\n%s\n\n"
                    .formatted(contract.title(), baseUrl, contract.name(), contract.summary()));
            DocumentedOperation.of(document)
                .forEach(
                    operation ->
                        text.append(
                            "- `%s` (%s): %s\n"
                                .formatted(
                                    operation.signature(),
                                    operation.credentials(document).get(0),
                                    operation.summary())));
          }
        });
    return text.toString();
  }
}
