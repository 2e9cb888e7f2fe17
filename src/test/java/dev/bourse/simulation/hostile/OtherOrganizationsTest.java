package dev.bourse.simulation.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.MemberToken;
import dev.bourse.access.Scope;
import dev.bourse.testing.ContractCheck;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Calls every operation with an id in its path, its query or its body's {@code cluster} for an
 * organization's objects, with credentials from outside of it. None succeeds, and none reveals what
 * exists: the answer is the same as for an unused id. {@link HostileInputTest} requires a sample of
 * each new operation, which includes it here.
 */
@OneEngine("ownership is checked before a query, or by statements that both engines share")
class OtherOrganizationsTest {
  /** Path parameters that do not name objects of an organization. */
  private static final Set<String> NO_IDS = Set.of("month", "number", "sha256", "pool");

  /** Query parameters that do. */
  private static final Set<String> IDS_OF_QUERIES = Set.of("cluster", "org");

  private static final Set<String> CREDENTIALS = Set.of("Authorization", "Cookie", "X-CSRF-Token");

  /** A request and the ids in it. */
  private record Call(AcceptedRequest request, Map<String, String> ids) {
    /** Returns the request for unused ids of the same length and form. */
    Call ofNothing() {
      AcceptedRequest other = request;
      Map<String, String> unknown = new LinkedHashMap<>();
      for (Map.Entry<String, String> id : ids.entrySet()) {
        String value = id.getValue();
        String nothing =
            value.matches("\\d+")
                ? "9".repeat(value.length())
                : value.matches("[0-9.]+")
                    ? "203.0.113.254"
                    : value.substring(0, value.length() - 1) + (value.endsWith("q") ? "z" : "q");
        unknown.put(id.getKey(), nothing);
        if (id.getKey().equals(BODY)) {
          other = other.json(other.json().copy().put("cluster", nothing));
        } else {
          other = other.value(id.getKey(), nothing);
        }
      }
      return new Call(other, unknown);
    }
  }

  /** Stands for the field {@code cluster} of a body. */
  private static final String BODY = "body";

  /** An answer, without the parts that depend on the ids. */
  private record Told(int status, String body) {}

  private static Optional<Call> call(AcceptedRequest request) {
    Map<String, String> ids = new LinkedHashMap<>();
    for (AttackedOperation.Parameter parameter : request.operation().parameters()) {
      String value = request.values().get(parameter.name());
      boolean isId =
          parameter.isInPath()
              ? !NO_IDS.contains(parameter.name())
              : IDS_OF_QUERIES.contains(parameter.name());
      if (isId && value != null) {
        ids.put(parameter.name(), value);
      }
    }
    if (request.json().getValue("cluster") instanceof String cluster) {
      ids.put(BODY, cluster);
    }
    return ids.isEmpty() ? Optional.empty() : Optional.of(new Call(request, ids));
  }

  private static Told send(RunningBourse bourse, @Nullable String token, Call call) {
    AcceptedRequest request = call.request();
    Draft draft = new Draft(request, "198.51.100.7");
    List<String> headers = new ArrayList<>(List.of("X-Forwarded-For", "198.51.100.7"));
    request
        .headers()
        .forEach(
            (name, value) -> {
              if (!CREDENTIALS.contains(name)) {
                headers.addAll(List.of(name, value));
              }
            });
    String type = request.operation().mediaType();
    if (!type.isEmpty() && !request.headers().containsKey("Content-Type")) {
      headers.addAll(List.of("Content-Type", type));
    }
    byte[] body =
        request.operation().takesJson()
            ? request.json().encode().getBytes(StandardCharsets.UTF_8)
            : request.bytes();
    HttpResponse<byte[]> answer =
        bourse
            .with(token)
            .fetch(
                request.operation().method(), draft.target(), body, headers.toArray(String[]::new));
    String text = new String(answer.body(), StandardCharsets.UTF_8);
    for (String id : call.ids().values()) {
      text = text.replace(id, "ID");
    }
    return new Told(answer.statusCode(), text);
  }

  /** Returns a token of a member of the organization, with the shortest lifetime. */
  private static String brief(RunningBourse bourse) {
    return bourse
        .service()
        .memberTokens()
        .issue(
            new MemberToken(
                "acme",
                "alice",
                bourse.service().baseUrl(),
                EnumSet.allOf(Scope.class),
                "client-1",
                "",
                1_000));
  }

  @Test
  void nobodyElseReachesOrLearnsOfWhatIsAnOrganizations() {
    try (HostileTarget world = new HostileTarget()) {
      RunningBourse bourse = world.bourse();
      Map<String, @Nullable String> callers = new LinkedHashMap<>();
      callers.put("nobody", null);
      callers.put("a token of another organization", bourse.secret("globex", "orgwide"));
      callers.put("a member of another organization", bourse.memberToken("globex", "dave"));
      Set<String> anybodys =
          ContractCheck.operations().stream()
              .filter(operation -> operation.schemes().isEmpty())
              .map(ContractCheck.Described::operationId)
              .collect(Collectors.toSet());
      String brief = brief(bourse);
      List<Call> calls = new ArrayList<>();
      List<String> faults = new ArrayList<>();
      Set<String> attacked = new TreeSet<>();
      for (Supplier<AcceptedRequest> sample : world.samples().values()) {
        AcceptedRequest request = ofAcme(bourse, sample.get());
        Optional<Call> call = call(request);
        if (call.isEmpty() || anybodys.contains(request.operation().id())) {
          continue;
        }
        attacked.add(request.operation().id());
        calls.add(call.get());
        callers.forEach((name, token) -> faults.addAll(faults(bourse, name, token, call.get())));
      }
      RunningBourse.until(
          "the token's second is over",
          () -> bourse.with(brief).get("/api/whoami").status() == 401);
      calls.forEach(call -> faults.addAll(faults(bourse, "an expired token", brief, call)));
      assertEquals(List.of(), faults, () -> "\n" + String.join("\n", faults) + "\n");
      Set<String> withIds =
          AttackedOperation.all().stream()
              .filter(operation -> !anybodys.contains(operation.id()))
              .filter(
                  operation ->
                      operation.parameters().stream()
                          .anyMatch(
                              one ->
                                  one.isInPath()
                                      ? !NO_IDS.contains(one.name())
                                      : IDS_OF_QUERIES.contains(one.name())))
              .map(AttackedOperation::id)
              .collect(Collectors.toCollection(TreeSet::new));
      withIds.removeAll(attacked);
      assertEquals(new TreeSet<>(), withIds, "operations with an id that were not tried");
      assertTrue(attacked.size() > 100, attacked.toString());
    }
  }

  private static List<String> faults(
      RunningBourse bourse, String name, @Nullable String token, Call call) {
    Told told = send(bourse, token, call);
    Told ofNothing = send(bourse, token, call.ofNothing());
    String where = call.request().name() + " " + call.ids() + " by " + name + ": ";
    return told.status() < 400
        ? List.of(where + "accepted, " + told)
        : told.equals(ofNothing)
            ? List.of()
            : List.of(where + told + "; for an unknown id " + ofNothing);
  }

  /** Returns the request for a token of the organization if it is for the caller's own. */
  private static AcceptedRequest ofAcme(RunningBourse bourse, AcceptedRequest request) {
    return "self".equals(request.values().get("token_id"))
        ? request.value(
            "token_id", bourse.as("acme", "orgwide").actor().substring("token:".length()))
        : request;
  }
}
