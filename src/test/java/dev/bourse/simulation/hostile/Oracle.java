package dev.bourse.simulation.hostile;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.Validator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Judges outcomes. */
final class Oracle {
  /** Statuses that any malformed request may be answered with, whatever the contract lists. */
  private static final Set<Integer> OF_THE_WIRE =
      Set.of(400, 404, 405, 406, 408, 411, 413, 414, 415, 417, 431);

  private static final JsonSchemaOptions OPTIONS =
      new JsonSchemaOptions()
          .setDraft(io.vertx.json.schema.Draft.DRAFT202012)
          .setBaseUri("app://hostile")
          .setOutputFormat(OutputFormat.Flag);

  private static final String JSON = "application/json";

  private final Map<String, Validator> schemas = new HashMap<>();
  private final Target world;

  Oracle(Target world) {
    this.world = world;
  }

  /** Returns the faults; empty if there are none. */
  List<String> faults(Draft draft, Request request, Outcome outcome) {
    List<String> faults = new ArrayList<>();
    if (!outcome.fault().isEmpty()) {
      faults.add(outcome.fault());
    }
    for (WireAnswer answer : outcome.answers()) {
      ofAnswer(answer).ifPresent(faults::add);
    }
    if (request.isWhole() && !outcome.answers().isEmpty()) {
      ofContract(draft, request, outcome.first()).ifPresent(faults::add);
    }
    return faults;
  }

  /** Conditions of every answer. */
  private static Optional<String> ofAnswer(WireAnswer answer) {
    if (answer.status() >= 500) {
      return Optional.of("answered " + answer.status());
    }
    if (answer.header("x-request-id").isEmpty() && answer.status() != 400) {
      return Optional.of("an answer without X-Request-Id");
    }
    if (answer.isJson()) {
      try {
        JsonObject body = new JsonObject(answer.text());
        if (answer.status() == 429
            && body.containsKey("retry_after_s")
            && !answer
                .header("retry-after")
                .equals(String.valueOf(body.getValue("retry_after_s")))) {
          return Optional.of("429 whose Retry-After is not retry_after_s");
        }
      } catch (DecodeException | ClassCastException e) {
        return Optional.of("says that it is JSON and is none: " + e.getMessage());
      }
    }
    return Optional.empty();
  }

  private Optional<String> ofContract(Draft draft, Request request, WireAnswer answer) {
    AttackedOperation operation = draft.sample.operation();
    String path = request.target().replaceAll("[?#].*", "");
    boolean isOwn =
        draft.method.equals(operation.method())
            && path.matches(operation.path().replaceAll("\\{[^}]+}", "[^/]+"))
            && !path.endsWith("/openapi.json");
    // A request with an invalid path or framing is rejected before an operation is found.
    boolean isOdd = path.matches(".*[%#\\\\].*");
    boolean isBefore =
        answer.text().startsWith("{\"error\":\"malformed-request\"")
            || (answer.status() == 404 && isOdd && !answer.isJson())
            || (!operation.answers().containsKey(answer.status())
                && (answer.status() == 400 || (answer.status() == 404 && isOdd)));
    String type = answer.header("content-type").replaceAll(";.*", "");
    boolean isOfAnotherType =
        isOwn && !type.equals(JSON) && operation.types(answer.status()).contains(type);
    try {
      // There a contract is served, at the place of an item of its family.
      if (!isOfAnotherType && !path.endsWith("/openapi.json")) {
        world.judge(
            request.method(),
            isBefore ? "/unknown" : request.target(),
            answer.status(),
            answer.isJson() ? answer.text() : null);
      }
    } catch (AssertionError e) {
      return Optional.of("off the contract: " + e.getMessage());
    }
    if (isOwn && !isBefore && !isListed(operation, answer, type)) {
      return Optional.of(
          "a "
              + answer.status()
              + " of type "
              + type
              + ", not "
              + operation.types(answer.status()));
    }
    if (isOwn && answer.status() < 300 && draft.sample.root().isEmpty()) {
      return ofBody(draft);
    }
    return Optional.empty();
  }

  private static boolean isListed(AttackedOperation operation, WireAnswer answer, String type) {
    Set<String> types = operation.types(answer.status());
    return answer.body().length == 0
        || OF_THE_WIRE.contains(answer.status())
        || !operation.answers().containsKey(answer.status())
        || types.contains(type)
        // Stored bytes have a type of their own.
        || types.contains("*/*")
        || types.contains("application/octet-stream")
        || type.equals("text/html");
  }

  /** Returns the fault of a body that was accepted. */
  private Optional<String> ofBody(Draft draft) {
    AttackedOperation operation = draft.sample.operation();
    if (!operation.takesJson()) {
      return Optional.empty();
    }
    try {
      JsonObject body = new JsonObject(new String(draft.body(), StandardCharsets.UTF_8));
      OutputUnit outcome =
          schemas
              .computeIfAbsent(
                  operation.id(),
                  id -> Validator.create(JsonSchema.of(operation.body().copy()), OPTIONS))
              .validate(body);
      if (Boolean.TRUE.equals(outcome.getValid())) {
        return Optional.empty();
      }
    } catch (DecodeException | ClassCastException e) {
      // It is not a JSON object.
    }
    return Optional.of("accepted though its body is off the contract");
  }
}
