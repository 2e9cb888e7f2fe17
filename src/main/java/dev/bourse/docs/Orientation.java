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

/** The texts that lead programs, and models that write programs, to what they need. */
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

  /** {@code /llms.txt}: an index of guides, contracts and operations, without the operators'. */
  String index() {
    return """
    # Bourse

    > A GPU-capacity exchange. An organization declares how many GPUs a cluster wants and the most
    > it pays per GPU-hour; a market grants whole nodes, bills them at the clearing price and
    > reclaims them when the declaration no longer matches.

    Base URL: %1$s. Budget: %2$s for each token. The OpenAPI 3.1 contracts are the authority over
    every text.

    ## Begin here

    - [Recipes](%1$s/AGENTS.md): preview, declare, follow, give back, and what to do on 409, 422,
      429 and 503, one curl each
    - [MCP](%1$s/mcp): the same as tools for language models; the member signs in with OAuth
    - [Documentation for people](%1$s/docs): guides, reference and search
    - [Operators' routes](%1$s/llms-operators.txt): for those who run the platform

    ## Guides

    %3$s
    ## Contracts and operations
    %4$s\
    """
        .formatted(
            baseUrl,
            budget,
            guides.stream().map(this::line).collect(Collectors.joining()),
            contracts(name -> !name.equals(OPERATOR)));
  }

  /** {@code /llms-operators.txt}: the same for those who run the platform. */
  String operators() {
    return """
    # Bourse for operators

    > The routes by which operators run the platform. They take an operator's token, which no
    > organization or member has. The command `bourse admin` has a command for each.

    Base URL: %1$s. The guide: [operators](%1$s/docs/guides/operators.md).
    %2$s\
    """
        .formatted(baseUrl, contracts(OPERATOR::equals));
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
    return Guide.localized(Resource.text("docs/AGENTS.md"), baseUrl)
        .replace("${token_budget}", budget)
        .replace("${error_codes}\n", codes);
  }

  private String line(Guide guide) {
    return "- [%s](%s%s.md): %s\n".formatted(guide.title(), baseUrl, guide.path(), guide.summary());
  }

  private String contracts(Predicate<String> isListed) {
    StringBuilder text = new StringBuilder(8_192);
    documents.forEach(
        (contract, document) -> {
          if (isListed.test(contract.name())) {
            text.append(
                "\n### [%s](%s/api/%s/openapi.json)\n\n%s\n\n"
                    .formatted(contract.title(), baseUrl, contract.name(), contract.summary()));
            Operation.of(document)
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
