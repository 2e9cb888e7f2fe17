package dev.bourse.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.command.RemoteOperation.Input;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A question shows the service's data and does not guess missing data. */
@Tag("fast")
class OperationLossesTest {
  private static OperationLosses of(
      String text, String shows, Map<String, String> when, Map<String, @Nullable Object> given) {
    List<Input> arguments =
        given.containsKey("token_id")
            ? List.of(new Input("token_id", "", true, new JsonObject()))
            : List.of();
    return new OperationLosses(
        new RemoteOperation(
            "op",
            "tokens revoke",
            "DELETE",
            "/x",
            Optional.of(new LossText(text, Optional.of(shows).filter(s -> !s.isEmpty()), when)),
            "",
            "",
            arguments,
            List.of(),
            List.of(),
            Map.of(),
            true,
            false,
            false),
        given);
  }

  private static String questionLine(String text, JsonObject now) throws RefusedException {
    return String.join("\n", of(text, "/x", Map.of(), Map.of()).question(path -> now).lines());
  }

  @Test
  void noneIsForEmptyListsAndNullsOnly() throws RefusedException {
    JsonObject now = new JsonObject().put("keys", new JsonArray()).putNull("until");
    assertEquals(
        "keys none, until none, hooks unknown",
        questionLine("keys {now.keys}, until {now.until}, hooks {now.hooks}", now));
    assertEquals("hold unknown", questionLine("hold {now.hold.stage}", now));
    assertEquals(
        "hold enforce",
        questionLine(
            "hold {now.hold.stage}",
            new JsonObject().put("hold", new JsonObject().put("stage", "enforce"))));
  }

  @Test
  void whatCannotBeReadIsUnknown() throws RefusedException {
    Question question =
        of("Revokes {now.keys}.", "/x", Map.of(), Map.of())
            .question(
                path -> {
                  throw new RefusedException(
                      ExitCode.UNAVAILABLE, "overloaded: busy", 503, new JsonObject());
                });
    assertEquals(
        List.of("What is lost cannot be shown: overloaded: busy", "Revokes unknown."),
        question.lines());
  }

  @Test
  void moneyHasASignACurrencyAndTwoDecimals() throws RefusedException {
    Map<String, @Nullable Object> given = new HashMap<>();
    given.put("amount_usd", -25.5);
    given.put("limit_usd", 1000);
    JsonObject now =
        new JsonObject().put("used_micros", 100_000).put("reserve_price_per_gpu_hour", 4);
    assertEquals(
        List.of("-$25.50 $1000.00 $0.10 $4.00"),
        of(
                "{amount_usd} {limit_usd} {now.used_micros} {now.reserve_price_per_gpu_hour}",
                "/x",
                Map.of(),
                given)
            .question(path -> now)
            .lines());
  }

  /** A list of 5 pages, one token on each. */
  private static JsonObject page(String path) {
    int number = path.contains("after=") ? path.charAt(path.length() - 1) - '0' : 1;
    JsonObject row = new JsonObject().put("token_id", "t" + number).put("name", "n" + number);
    return new JsonObject()
        .put("tokens", new JsonArray().add(row))
        .put("more", number < 5)
        .put("next", number < 5 ? String.valueOf(number + 1) : null);
  }

  @Test
  void aRowIsFoundOnALaterPage() throws RefusedException {
    assertEquals(
        List.of("Revokes n4."),
        of("Revokes {now.name}.", "/tokens", Map.of(), Map.of("token_id", "t4"))
            .question(OperationLossesTest::page)
            .lines());
  }

  @Test
  void aListInsideTheSubjectIsNotSearchedForIt() throws RefusedException {
    JsonObject token =
        new JsonObject().put("name", "ci").put("uses", new JsonArray().add("x")).put("cursor", "c");
    assertEquals(
        List.of("Revokes ci."),
        of("Revokes {now.name}.", "/tokens/{token_id}", Map.of(), Map.of("token_id", "t4"))
            .question(path -> token)
            .lines());
  }

  @Test
  void aSubjectThatIsInNoRowIsNotAskedAbout() {
    OperationLosses losses =
        of("Revokes {now.name}.", "/tokens", Map.of(), Map.of("token_id", "nosuch"));
    RefusedException refused =
        assertThrows(RefusedException.class, () -> losses.question(OperationLossesTest::page));
    assertEquals("not-found: there is no token nosuch", refused.getMessage());
    assertEquals(ExitCode.REFUSED, refused.exitCode());
  }

  @Test
  void aListWithoutEndIsNotReadForEver() {
    List<String> read = new ArrayList<>();
    OperationLosses losses = of("{now.name}", "/tokens", Map.of(), Map.of("token_id", "nosuch"));
    assertThrows(
        RefusedException.class,
        () ->
            losses.question(
                path -> {
                  read.add(path);
                  return page("").put("next", "1");
                }));
    assertEquals(100, read.size());
  }

  @Test
  void onlyTheCasesThatAreGivenAskAndAreTold() throws RefusedException {
    Map<String, String> when = Map.of("suspended=true", "Signs out.", "email", "To {email}.");
    assertFalse(of("Changes.", "", when, Map.of("suspended", false)).areAtStake());
    OperationLosses suspends = of("Changes.", "", when, Map.of("suspended", true));
    assertTrue(suspends.areAtStake());
    assertEquals(
        List.of("Changes. Signs out."), suspends.question(path -> new JsonObject()).lines());
    OperationLosses moves = of("Changes.", "", when, Map.of("email", "b@x.org"));
    assertTrue(moves.areAtStake());
    assertEquals(List.of("Changes. To b@x.org."), moves.question(path -> new JsonObject()).lines());
  }

  @Test
  void timesOfUseAreNoLosses() throws RefusedException {
    OperationLosses losses = of("{now.name}, used {now.last_used_at}", "/x", Map.of(), Map.of());
    Question before =
        losses.question(path -> new JsonObject().put("name", "ci").put("last_used_at", "08:00"));
    Question after =
        losses.question(path -> new JsonObject().put("name", "ci").put("last_used_at", "08:01"));
    assertTrue(before.covers(after));
    assertFalse(
        before.covers(
            losses.question(path -> new JsonObject().put("name", "x").putNull("last_used_at"))));
  }
}
